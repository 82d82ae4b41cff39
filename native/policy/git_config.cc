#include "policy/git_config.h"

#include <algorithm>

#include "settings/text.h"

namespace spty {
namespace {

std::string Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// A line may begin with the header of its section.
std::string_view WithoutHeader(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos || line[begin] != '[') return line;
  bool quoted = false;
  for (size_t at = begin + 1; at < line.size(); ++at) {
    if (quoted && line[at] == '\\')
      ++at;
    else if (line[at] == '"')
      quoted = !quoted;
    else if (line[at] == ']' && !quoted)
      return line.substr(at + 1);
  }
  return {};
}

// The value that begins at `at`, which is moved to the next line: quotes, backslashes, comments, and lines
// that go on, as Git reads them.
std::string ReadConfigValue(std::string_view text, size_t& at) {
  std::string value;
  size_t keep = 0;  // what was quoted or escaped is not trimmed
  bool quoted = false;
  bool comment = false;
  for (; at < text.size() && text[at] != '\n'; ++at) {
    const char c = text[at];
    if (comment) continue;
    if (c == '\\' && at + 1 < text.size()) {
      const char next = text[++at];
      if (next == '\n') continue;
      value += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'b' ? '\b' : next;
      keep = value.size();
    } else if (c == '"') {
      quoted = !quoted;
      keep = value.size();
    } else if ((c == '#' || c == ';') && !quoted) {
      comment = true;
    } else if (!value.empty() || quoted || (c != ' ' && c != '\t')) {
      value += c;
      if (quoted) keep = value.size();
    }
  }
  ++at;
  const size_t last = value.find_last_not_of(" \t\r\n");
  value.resize(std::max(keep, last == std::string::npos ? 0 : last + 1));
  return value;
}

}  // namespace

std::vector<std::string> GitConfigValues(std::string_view text, std::string_view key) {
  std::vector<std::string> values;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = WithoutHeader(text.substr(at, end - at));
    const size_t start = end - line.size();
    at = end + 1;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    std::string name = Trim(line.substr(0, equals));
    std::transform(name.begin(), name.end(), name.begin(), AsciiLower);
    const bool comment = name.starts_with('#') || name.starts_with(';');
    if (comment) continue;
    // Also of other keys: their values may go on in the next line, which is no line of its own then.
    at = start + equals + 1;
    std::string value = ReadConfigValue(text, at);
    if (name == key) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace spty
