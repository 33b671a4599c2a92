#include "tests/tidy/source_code.h"

#include <cctype>

namespace takt::tidy {
namespace {

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

size_t SkipSpaces(const std::string& code, size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at])))
    ++at;
  return at;
}

// The position behind the bracket that closes the one at `at`.
size_t SkipBrackets(const std::string& code, size_t at, char open, char close) {
  size_t depth = 0;
  for (; at < code.size(); ++at) {
    if (code[at] == open) ++depth;
    if (code[at] == close && --depth == 0) return at + 1;
  }
  return at;
}

// Where `word` stands next, as a whole word that brackets follow; npos if
// nowhere. `*parameters` receives the position of the bracket.
size_t FindCall(const std::string& code, const std::string& word, size_t from,
                size_t* parameters) {
  for (size_t at = code.find(word, from); at != std::string::npos;
       at = code.find(word, at + 1)) {
    if (at > 0 && IsWord(code[at - 1])) continue;
    size_t end = at + word.size();
    if (end < code.size() && IsWord(code[end])) continue;
    if (end < code.size() && code[end] == '<') {
      end = SkipBrackets(code, end, '<', '>');
    }
    end = SkipSpaces(code, end);
    if (end >= code.size() || code[end] != '(') continue;
    *parameters = end;
    return at;
  }
  return std::string::npos;
}

// The body behind the parameters of a definition, or nothing: words such as
// const and override, and the brackets of annotations, may stand before it.
std::string BodyBehind(const std::string& code, size_t parameters) {
  size_t at = SkipBrackets(code, parameters, '(', ')');
  while ((at = SkipSpaces(code, at)) < code.size()) {
    if (code[at] == '{') {
      return code.substr(at, SkipBrackets(code, at, '{', '}') - at);
    }
    if (code[at] == '(') {
      at = SkipBrackets(code, at, '(', ')');
    } else if (IsWord(code[at])) {
      ++at;
    } else {
      return "";
    }
  }
  return "";
}

std::vector<std::string> BodiesNamed(const std::string& code,
                                     const std::string& name, size_t from) {
  std::vector<std::string> bodies;
  size_t parameters = 0;
  while ((from = FindCall(code, name, from, &parameters)) !=
         std::string::npos) {
    std::string body = BodyBehind(code, parameters);
    if (!body.empty()) bodies.push_back(std::move(body));
    from = parameters;
  }
  return bodies;
}

std::string LastPartOf(const std::string& function) {
  const size_t colons = function.rfind("::");
  return colons == std::string::npos ? function : function.substr(colons + 2);
}

}  // namespace

std::string CodeOf(const SourceFile& file) {
  std::string code;
  for (const std::string& line : file.lines) {
    char quote = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quote == 0 && line.compare(i, 2, "//") == 0) break;
      const bool separates_digits =
          c == '\'' && i > 0 &&
          std::isalnum(static_cast<unsigned char>(line[i - 1]));
      if (quote == 0 && (c == '"' || (c == '\'' && !separates_digits))) {
        quote = c;
      } else if (quote == c) {
        quote = 0;
      } else if (quote != 0 && c == '\\') {
        ++i;
      } else if (quote == 0) {
        code += c;
      }
    }
    code += '\n';
  }
  return code;
}

std::vector<std::string> BodiesOf(const std::string& code,
                                  const std::string& function) {
  const std::string last = LastPartOf(function);
  if (last == function) return BodiesNamed(code, function, 0);
  std::vector<std::string> bodies = BodiesNamed(code, function, 0);
  if (!bodies.empty()) return bodies;
  // It may be defined in its class, which may be named with its own class.
  const std::string owner =
      function.substr(0, function.size() - last.size() - 2);
  for (const std::string& name : {owner, LastPartOf(owner)}) {
    for (const char* kind : {"class ", "struct "}) {
      const size_t begin = code.find(kind + name + " ");
      if (begin == std::string::npos) continue;
      const size_t brace = code.find('{', begin);
      if (brace == std::string::npos) continue;
      const size_t end = SkipBrackets(code, brace, '{', '}');
      return BodiesNamed(code.substr(brace, end - brace), last, 0);
    }
  }
  return bodies;
}

bool Calls(const std::string& body, const std::string& function) {
  size_t parameters = 0;
  return FindCall(body, LastPartOf(function), 0, &parameters) !=
         std::string::npos;
}

}  // namespace takt::tidy
