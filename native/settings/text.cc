#include "settings/text.h"

#include <algorithm>
#include <numeric>

namespace spty {
namespace {

constexpr size_t kQuotedMax = 80;

struct Utf8Step {
  size_t length = 0;  // 0: ill-formed
  uint32_t code_point = 0;
};

Utf8Step NextCodePoint(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(at);
  if (lead < 0x80) return {1, lead};
  size_t length = 0;
  uint32_t minimum = 0;
  uint32_t value = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2, minimum = 0x80, value = lead & 0x1Fu;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3, minimum = 0x800, value = lead & 0x0Fu;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4, minimum = 0x10000, value = lead & 0x07u;
  } else {
    return {};
  }
  if (at + length > text.size()) return {};
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(at + i) & 0x3Fu);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < minimum || value > 0x10FFFF || surrogate) return {};
  return {length, value};
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (AsciiLower(a[i - 1]) == AsciiLower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<size_t> FindInvalidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = NextCodePoint(text, at);
    if (step.length == 0) return at;
    at += step.length;
  }
  return std::nullopt;
}

std::vector<uint32_t> DecodeUtf8(std::string_view text) {
  std::vector<uint32_t> result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = NextCodePoint(text, at);
    if (step.length == 0) break;
    result.push_back(step.code_point);
    at += step.length;
  }
  return result;
}

size_t CountCodePoints(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(),
                                           [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates) {
  // A key of a kilobyte is no typo, and the table would be large.
  if (word.empty() || word.size() > 64) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    // Half a name is no typo, but no riddle either.
    const bool begins = word.size() >= 4 && candidate.starts_with(word);
    const size_t distance = begins ? 1 : EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string Quoted(std::string_view untrusted) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  bool cut = false;
  for (char c : untrusted) {
    // Not in the middle of a character.
    if (result.size() >= kQuotedMax && (static_cast<uint8_t>(c) & 0xC0) != 0x80) {
      cut = true;
      break;
    }
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7F) {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += c;
    }
  }
  return result + (cut ? "...\"" : "\"");
}

bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool IsAsciiAlnum(char c) { return IsAsciiDigit(c) || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z'); }

}  // namespace spty
