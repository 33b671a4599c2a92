// A Borrower is work for which other work waits: a call. While more urgent work
// waits for it, it has the urgency of that work. If it waits itself, it lends
// its urgency to the work for which it waits, so a loan passes along chains of
// waits.
//
//   borrower that waits --Wait--> holder: the borrower that ends the wait
//
// Invariants:
//   (1) urgency() of a borrower is the greatest of its own urgency and of the
//       loans of all Waits whose holder it is.
//   (2) A Wait lends the present urgency of its borrower, so a change of
//       urgency passes along the waits of the borrower. Waits that form a
//       circle never end; a loan that came into the circle stays until a wait
//       of the circle is cancelled.
//
// Nothing here throws: waits end while memory runs out. Without memory for a
// loan, or for the list of what a change concerns, work keeps the urgency that
// it has.
//
// Thread-safety: every method may run on any thread. Lock order: the lock of
// all loans, then mutex_, then whatever Wait::find_holder locks. Loans are
// rare: only work that waits for something less urgent takes the first lock.
#ifndef TAKT_BASE_BORROWER_H_
#define TAKT_BASE_BORROWER_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/job_attributes.h"
#include "base/mutex.h"
#include "base/object.h"

namespace takt {

// Higher criticality first, then higher priority, then the earlier deadline.
struct JobUrgency {
  enum class Criticality : uint8_t { kBestEffort, kSoft, kHard };
  Criticality criticality = Criticality::kBestEffort;
  uint8_t priority = 0;
  int64_t deadline_ns = kInfiniteFuture;

  bool IsAbove(const JobUrgency& other) const {
    if (criticality != other.criticality) {
      return criticality > other.criticality;
    }
    return priority != other.priority ? priority > other.priority
                                      : deadline_ns < other.deadline_ns;
  }
  bool operator==(const JobUrgency&) const = default;
};

class Borrower final : public Object {
 public:
  static constexpr ObjectType kType{"takt.borrower"};

  // A wait of a borrower, embedded in the object that waits. The owner of the
  // wait retains the borrower from Begin() to End().
  struct Wait {
    Borrower* borrower = nullptr;  // Null: the wait lends nothing.
    // Returns the borrower that will end the wait; null if it is not known.
    Ref<Borrower> (*find_holder)(Wait* wait) = nullptr;

    // Used by borrowers.
    Wait* previous = nullptr;
    Wait* next = nullptr;
    Ref<Borrower> holder;  // To which it lends.
  };
  using Calls = std::vector<absl::AnyInvocable<void() &&>>;
  // Receives changes of the urgency.
  class Observer {
   public:
    // Called under a lock of the borrower. Calls that may run other code are
    // appended to *after, and made without the lock; they do not throw. An
    // observer that throws std::bad_alloc goes without the change.
    virtual void OnUrgency(const JobUrgency& urgency, Calls* after) = 0;

   protected:
    ~Observer() = default;

   private:
    friend class Borrower;
    Observer* previous_ = nullptr;
    Observer* next_ = nullptr;
  };

  static Ref<Borrower> Create(BlockPool& pool, const JobUrgency& own) {
    return Ref<Borrower>::Adopt(new (pool) Borrower(own));
  }

  JobUrgency own() const { return own_; }
  JobUrgency urgency() const;
  // Whether its urgency is greater than its own.
  bool has_loan() const { return urgency().IsAbove(own_); }
  // Whether any borrower of the process may have a loan.
  static bool AnyHasLoan() {
    return loan_count_.load(std::memory_order_seq_cst) != 0;
  }

  // Adds `wait`, which belongs to this borrower until End(). As soon as
  // find_holder can know the holder, the caller must call Review() if
  // ShouldLendTo() is true.
  void Begin(Wait* wait) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends a wait and takes its loan back. No effect on a wait that has not
  // begun.
  static void End(Wait* wait);
  // Also to one that has a greater loan, which may end first.
  bool ShouldLendTo(const Borrower* holder) const {
    return holder != nullptr && holder != this &&
           urgency().IsAbove(holder->own());
  }
  // Looks for the holders of its waits again, and lends to them.
  void Review() ABSL_LOCKS_EXCLUDED(mutex_);

  void Observe(Observer* observer) ABSL_LOCKS_EXCLUDED(mutex_);
  // Removes the observer. No call of it is running when this function returns,
  // and none follows.
  void Unobserve(Observer* observer) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Loan {
    const Wait* wait;
    JobUrgency urgency;
  };
  using Borrowers = std::vector<Ref<Borrower>>;

  explicit Borrower(const JobUrgency& own) : Object(&kType), own_(own) {
    Store(own);
  }
  ~Borrower() override { TAKT_DCHECK(loans_.empty()); }
  void Store(const JobUrgency& urgency);
  // These run under the lock of all loans. The borrowers whose urgency changes
  // are appended to *changed.
  void Replace(const Wait* wait, const JobUrgency* loan, Borrowers* changed);
  void Lend(Borrowers* changed) ABSL_LOCKS_EXCLUDED(mutex_);
  static void Spread(Borrowers* changed);
  // Runs without it.
  static void Tell(const Borrowers& changed);
  void TellObservers(Calls* after) ABSL_LOCKS_EXCLUDED(mutex_);

  static std::atomic<int64_t> loan_count_;

  const JobUrgency own_;
  // Written under the lock of all loans, the deadline first. A reader between
  // the two writes sees a mixture; as an observer it is then called for the
  // change.
  std::atomic<uint16_t> level_{0};  // Criticality above priority.
  std::atomic<int64_t> deadline_ns_{0};
  std::vector<Loan> loans_;  // Guarded by the lock of all loans.

  Mutex mutex_;
  Wait* waits_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Observer* observers_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace takt

#endif  // TAKT_BASE_BORROWER_H_
