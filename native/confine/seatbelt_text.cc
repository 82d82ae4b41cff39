#include "confine/seatbelt_text.h"

#include <cerrno>

#include "policy/path_text.h"
#include "settings/text.h"

namespace spty {
namespace {

constexpr std::string_view kPrivate = "/private";
constexpr std::string_view kLinked[] = {"/etc", "/tmp", "/var"};

bool IsLetter(char c) { return IsAsciiAlnum(c) && !IsAsciiDigit(c); }

std::string AnyCaseStart(std::string_view path) {
  std::string regex = "#\"^";
  for (const char c : path) {
    if (IsLetter(c)) {
      const char lower = static_cast<char>(c | 0x20);
      regex += '[';
      regex += lower;
      regex += static_cast<char>(lower & ~0x20);
      regex += ']';
    } else if (IsAsciiDigit(c) || c == '/' || c == '_' || c == '-' || c == ' ' ||
               static_cast<unsigned char>(c) >= 0x80) {
      regex += c;
    } else if (c == '.') {
      regex += "\\.";
    } else {
      // Any one character: punctuation that means something in a regular expression, or ends the literal.
      regex += '.';
    }
  }
  return regex;
}

}  // namespace

Result<std::string> QuoteForProfile(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      return Error{Stage::kConfinement, EINVAL, "a path with a control character: " + std::string(text)};
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::vector<std::string> Spellings(const std::string& path) {
  std::vector<std::string> spellings = {path};
  if (path == kPrivate) {
    for (const std::string_view linked : kLinked) spellings.emplace_back(linked);
    return spellings;
  }
  for (const std::string_view linked : kLinked) {
    if (IsWithin(path, linked)) spellings.push_back(std::string(kPrivate) + path);
    if (IsWithin(path, std::string(kPrivate) + std::string(linked))) {
      spellings.push_back(path.substr(kPrivate.size()));
    }
  }
  return spellings;
}

std::string OnDataVolume(const std::string& path) {
  return "/System/Volumes/Data" + (path == "/" ? std::string() : path);
}

std::string AnyCaseRegex(std::string_view path) { return AnyCaseStart(path) + "($|/)\""; }
std::string AnyCaseRegexOfOne(std::string_view path) { return AnyCaseStart(path) + "$\""; }

}  // namespace spty
