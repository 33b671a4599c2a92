// Goal: the walks of docs/architecture.md cannot rot. Method: docs/walks.txt
// has them as lists of functions. Each function must be defined in the file
// that its step names, and must call the next one. The pictures on the page are
// made from the list; TAKT_WRITE_WALKS=1 in the environment writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/source_code.h"
#include "tests/tidy/source_tree.h"

namespace takt::tidy {
namespace {

constexpr const char* kList = "docs/walks.txt";
constexpr const char* kPage = "docs/architecture.md";
constexpr size_t kColumns = 118;  // Of a picture: pages have 120.

struct Step {
  size_t line;
  std::string room;
  std::string file;
  std::string function;
  std::string via;  // What the caller names, if not the function itself.
};

// What one thread does in one go. It visits a room once.
struct Leg {
  std::string title;
  std::vector<Step> steps;
};

struct Walk {
  std::string title;
  std::vector<Leg> legs;
};

// "runtime/call.cc: Call::Run" or "cpu/a.cc: A::Run via work->run".
Step ReadStep(const std::string& text, size_t line) {
  Step step{line, "", "", "", ""};
  const size_t slash = text.find('/');
  const size_t colon = text.find(": ");
  if (slash == std::string::npos || colon == std::string::npos) {
    ADD_FAILURE() << kList << ":" << line << ": no step: " << text;
    return step;
  }
  step.room = text.substr(0, slash);
  step.file = text.substr(slash + 1, colon - slash - 1);
  step.function = text.substr(colon + 2);
  const size_t via = step.function.find(" via ");
  if (via != std::string::npos) {
    step.via = step.function.substr(via + 5);
    step.function.resize(via);
  }
  return step;
}

// "# " begins a walk and "- " a leg; other lines are steps.
std::vector<Walk> ReadWalks() {
  std::vector<Walk> walks;
  size_t number = 0;
  for (const std::string& line : ReadSource(kList).lines) {
    ++number;
    if (line.empty() || line.starts_with("//")) continue;
    if (line.starts_with("# ")) {
      walks.push_back({line.substr(2), {}});
    } else if (line.starts_with("- ")) {
      walks.back().legs.push_back({line.substr(2), {}});
    } else {
      walks.back().legs.back().steps.push_back(ReadStep(line, number));
    }
  }
  return walks;
}

std::vector<std::string> BodiesOf(const Step& step) {
  const std::string path = "src/" + step.room + "/" + step.file;
  if (!Exists(path)) return {};
  return tidy::BodiesOf(CodeOf(ReadSource(path)), step.function);
}

bool LeadsTo(const Step& step, const Step& next) {
  for (const std::string& body : BodiesOf(step)) {
    if (next.via.empty() ? Calls(body, next.function)
                         : body.find(next.via) != std::string::npos) {
      return true;
    }
  }
  return false;
}

TEST(WalksTest, EachFunctionIsWhereItsStepSays) {
  for (const Walk& walk : ReadWalks()) {
    for (const Leg& leg : walk.legs) {
      for (const Step& step : leg.steps) {
        EXPECT_FALSE(BodiesOf(step).empty())
            << kList << ":" << step.line << ": src/" << step.room << "/"
            << step.file << " does not define " << step.function;
      }
    }
  }
}

TEST(WalksTest, EachFunctionCallsTheNext) {
  for (const Walk& walk : ReadWalks()) {
    for (const Leg& leg : walk.legs) {
      EXPECT_GT(leg.steps.size(), 1u) << leg.title;
      for (size_t i = 1; i < leg.steps.size(); ++i) {
        EXPECT_TRUE(LeadsTo(leg.steps[i - 1], leg.steps[i]))
            << kList << ":" << leg.steps[i].line << ": "
            << leg.steps[i - 1].function << " does not call "
            << leg.steps[i].function;
      }
    }
  }
}

TEST(WalksTest, ALegVisitsARoomOnce) {
  for (const Walk& walk : ReadWalks()) {
    for (const Leg& leg : walk.legs) {
      std::set<std::string> left;
      std::string room;
      for (const Step& step : leg.steps) {
        if (step.room == room) continue;
        left.insert(room);
        room = step.room;
        EXPECT_FALSE(left.count(room))
            << kList << ":" << step.line << ": " << walk.title
            << " comes back to " << room;
      }
    }
  }
}

// A row for each room, its functions in the order of their calls, and each file
// before its first function.
std::string DrawLeg(const Leg& leg) {
  std::string picture = leg.title + "\n";
  std::string line;
  std::string room;
  std::string file;
  size_t indent = 0;
  for (const Step& step : leg.steps) {
    const bool enters = step.room != room;
    std::string text = step.function;
    if (enters || step.file != file) text = step.file + ": " + text;
    if (!enters && line.size() + 4 + text.size() <= kColumns) {
      line += " -> " + text;
    } else {
      if (!line.empty()) picture += line + "\n";
      if (enters) indent += room.empty() ? 2 : 1;
      const std::string name = enters ? step.room : "";
      line =
          "  " + name + std::string(10 - std::min<size_t>(9, name.size()), ' ');
      line += std::string(indent, ' ') + (enters ? "" : "-> ") + text;
    }
    room = step.room;
    file = step.file;
  }
  return picture + line + "\n";
}

std::string Draw(const Walk& walk) {
  std::string picture = "```\n";
  for (const Leg& leg : walk.legs) picture += DrawLeg(leg);
  return picture + "```\n";
}

// The page with the picture of each walk behind the line that marks its place.
std::string PageWithPictures(const std::vector<Walk>& walks) {
  std::string page;
  bool is_in_picture = false;
  for (const std::string& line : ReadSource(kPage).lines) {
    if (line == "<!-- end of walk -->") is_in_picture = false;
    if (!is_in_picture) page += line + "\n";
    for (const Walk& walk : walks) {
      if (line != "<!-- walk: " + walk.title + " -->") continue;
      page += Draw(walk);
      is_in_picture = true;
    }
  }
  return page;
}

TEST(WalksTest, ThePageShowsThem) {
  const std::vector<Walk> walks = ReadWalks();
  const std::string expected = PageWithPictures(walks);
  for (const Walk& walk : walks) {
    EXPECT_NE(expected.find(Draw(walk)), std::string::npos)
        << kPage << " has no place for " << walk.title;
  }
  if (std::getenv("TAKT_WRITE_WALKS") != nullptr) {
    std::ofstream(std::string(TAKT_SOURCE_DIR) + "/" + kPage) << expected;
  }
  std::string page;
  for (const std::string& line : ReadSource(kPage).lines) page += line + "\n";
  EXPECT_TRUE(page == expected) << "TAKT_WRITE_WALKS=1 tidy_walks_test writes it";
}

}  // namespace
}  // namespace takt::tidy
