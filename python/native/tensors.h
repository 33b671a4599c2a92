// Values of Takt as Python objects, and back: numpy arrays and scalars.
//
// Every function needs the GIL.
#ifndef TAKT_PYTHON_TENSORS_H_
#define TAKT_PYTHON_TENSORS_H_

#include <nanobind/nanobind.h>
#include <takt/takt.h>

#include <cstddef>
#include <string>
#include <vector>

namespace takt::python {

// Values that own what they hold.
class Values {
 public:
  Values() = default;
  explicit Values(size_t count) : values_(count) {}
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  Values(Values&&) = default;
  ~Values() { takt_values_release(values_.size(), values_.data()); }

  size_t size() const { return values_.size(); }
  takt_value_t* data() { return values_.data(); }
  const takt_value_t* data() const { return values_.data(); }
  takt_value_t& operator[](size_t index) { return values_[index]; }

 private:
  std::vector<takt_value_t> values_;
};

// Whether a call may use the memory of an array where it lies.
enum class Lending { kIfAligned, kNever };

// The value of an argument of `type`, which the caller owns.
//
//   object  for a tensor: anything with the buffer protocol or __dlpack__, or
//           what numpy.asarray() takes. A large array that starts at a multiple
//           of TAKT_BUFFER_ALIGNMENT is used where it lies and kept until the
//           runtime is done with it, if `lending` allows that; others are
//           copied.
//   function, index  the argument in messages: "policy.act: input 0".
takt_value_t ToValue(nanobind::handle object, const takt_value_type_t& type,
                     takt_device_t* device, const std::string& function,
                     size_t index, Lending lending);

// The elements of each result as its function declares them.
using ElementTypes = std::vector<takt_element_type_t>;

// A numpy array over the memory of a tensor, an int, a float or None. Integers
// that the module left without a sign are unsigned if `declared` says so.
nanobind::object FromValue(const takt_value_t& value,
                           takt_element_type_t declared);

// What a call returns in Python: None, the only result, or a tuple. `declared`
// has at least `count` elements.
nanobind::object FromResults(size_t count, const takt_value_t* results,
                             const ElementTypes& declared);

// A writable numpy array of the tensor type over `data`; `owner` lives as long.
nanobind::object ArrayOver(void* data, const takt_value_type_t& type,
                           nanobind::handle owner);

// "float32"; as numpy says, or ml_dtypes for what numpy has not.
const char* DtypeName(takt_element_type_t type);

void BindTensors(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_TENSORS_H_
