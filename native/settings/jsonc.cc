#include "settings/jsonc.h"

namespace spty {
namespace {

// The offset behind the string literal that starts at `at`; the end of the text if it is not closed (the JSON
// parser will say so).
size_t SkipString(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// The offset behind the comment that starts at `at`, or npos if it never ends.
size_t SkipComment(std::string_view text, size_t at) {
  if (text[at + 1] == '/') {
    const size_t end = text.find_first_of("\r\n", at);
    return end == std::string_view::npos ? text.size() : end;
  }
  const size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? end : end + 2;
}

bool StartsComment(std::string_view text, size_t at) {
  return text[at] == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*');
}

void Blank(std::string& text, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

}  // namespace

std::optional<std::string> BlankOutJsonc(std::string_view text) {
  std::string result(text);
  // The last two significant characters and where the last one was: a comma is trailing if a value came
  // before it and a closing bracket comes after it. "[,]" and "{\"a\":,}" stay errors.
  char before_last = 0;
  char last = 0;
  size_t last_at = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (StartsComment(text, at)) {
      const size_t end = SkipComment(text, at);
      if (end == std::string_view::npos) return std::nullopt;
      Blank(result, at, end);
      at = end;
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
      continue;
    }
    const bool closes = c == ']' || c == '}';
    const bool follows_value = before_last != 0 && before_last != '[' && before_last != '{' &&
                               before_last != ',' && before_last != ':';
    if (closes && last == ',' && follows_value) result[last_at] = ' ';
    before_last = last;
    last = c;
    last_at = at;
    at = c == '"' ? SkipString(text, at) : at + 1;
  }
  return result;
}

}  // namespace spty
