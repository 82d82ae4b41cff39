#include "settings/idna.h"

#include <algorithm>
#include <limits>

#include "settings/idna_table.h"
#include "settings/text.h"

namespace spty {
namespace {

// The parameters of RFC 3492, section 5.
constexpr uint32_t kBase = 36;
constexpr uint32_t kTMin = 1;
constexpr uint32_t kTMax = 26;
constexpr uint32_t kSkew = 38;
constexpr uint32_t kDamp = 700;
constexpr uint32_t kInitialBias = 72;
constexpr uint32_t kInitialN = 128;
constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();

uint32_t Adapt(uint32_t delta, uint32_t points, bool first) {
  delta = first ? delta / kDamp : delta / 2;
  delta += delta / points;
  uint32_t k = 0;
  for (; delta > ((kBase - kTMin) * kTMax) / 2; k += kBase) delta /= kBase - kTMin;
  return k + (kBase - kTMin + 1) * delta / (delta + kSkew);
}

uint32_t Threshold(uint32_t k, uint32_t bias) {
  if (k <= bias) return kTMin;
  return std::min(k - bias, kTMax);
}

char EncodeDigit(uint32_t digit) { return static_cast<char>(digit < 26 ? 'a' + digit : '0' + (digit - 26)); }

std::optional<uint32_t> DecodeDigit(char c) {
  if (IsAsciiDigit(c)) return static_cast<uint32_t>(c - '0') + 26;
  if (IsAsciiAlnum(c)) return static_cast<uint32_t>(AsciiLower(c) - 'a');
  return std::nullopt;
}

void EncodeNumber(uint32_t number, uint32_t bias, std::string& out) {
  for (uint32_t k = kBase;; k += kBase) {
    const uint32_t t = Threshold(k, bias);
    if (number < t) break;
    out += EncodeDigit(t + (number - t) % (kBase - t));
    number = (number - t) / (kBase - t);
  }
  out += EncodeDigit(number);
}

struct Range {
  uint32_t first;
  uint32_t last;
};

// Letters that stay as they are, once lower-cased below. Combining marks that would first have to be composed
// are left out on purpose: two spellings of one name must not become two hosts.
constexpr Range kLetters[] = {{0x00DF, 0x00F6}, {0x00F8, 0x00FF}, {0x0100, 0x012F}, {0x0131, 0x0131},
                              {0x0134, 0x013E}, {0x0141, 0x0148}, {0x014A, 0x017E}, {0x0390, 0x0390},
                              {0x03AC, 0x03CE}, {0x0430, 0x045F}, {0x05D0, 0x05EA}, {0x0620, 0x063F},
                              {0x0641, 0x064A}, {0x0671, 0x0674}, {0x0679, 0x06D3}, {0x0904, 0x0939},
                              {0x093E, 0x094D}, {0x0E01, 0x0E32}, {0x0E34, 0x0E3A}, {0x0E40, 0x0E4E},
                              {0x3041, 0x3096}, {0x30A1, 0x30FA}, {0x30FC, 0x30FE}, {0x3400, 0x4DBF},
                              {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3}};

uint32_t ToLower(uint32_t c) {
  if (c < 0x80) return static_cast<uint32_t>(AsciiLower(static_cast<char>(c)));
  if ((c >= 0xC0 && c <= 0xDE && c != 0xD7) || (c >= 0x391 && c <= 0x3A9 && c != 0x3A2) ||
      (c >= 0x410 && c <= 0x42F)) {
    return c + 0x20;
  }
  if (c >= 0x400 && c <= 0x40F) return c + 0x50;
  // Latin Extended-A: pairs, upper case even, then odd after the irregular ones.
  if (c == 0x178) return 0xFF;
  if ((c >= 0x100 && c <= 0x12F) || (c >= 0x134 && c <= 0x137) || (c >= 0x14A && c <= 0x177)) return c | 1;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E)) return c % 2 == 1 ? c + 1 : c;
  return c;
}

bool IsLetter(uint32_t c) {
  return std::any_of(std::begin(kLetters), std::end(kLetters),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

// What may stand in a label that was decoded.
bool IsAllowed(uint32_t c) {
  if (c >= 0x80) return !IsDisallowedInNames(c);
  const char ascii = static_cast<char>(c);
  return ascii == '-' || (IsAsciiAlnum(ascii) && AsciiLower(ascii) == ascii);
}

}  // namespace

std::optional<std::string> PunycodeEncode(const std::vector<uint32_t>& code_points) {
  std::string out;
  for (uint32_t c : code_points) {
    if (c < 0x80) out += static_cast<char>(c);
  }
  const auto basic = static_cast<uint32_t>(out.size());
  if (basic > 0) out += '-';
  uint32_t n = kInitialN;
  uint32_t delta = 0;
  uint32_t bias = kInitialBias;
  for (uint32_t handled = basic; handled < code_points.size();) {
    uint32_t next = kMax;
    for (uint32_t c : code_points) {
      if (c >= n) next = std::min(next, c);
    }
    if (next - n > (kMax - delta) / (handled + 1)) return std::nullopt;
    delta += (next - n) * (handled + 1);
    n = next;
    for (uint32_t c : code_points) {
      if (c < n && ++delta == 0) return std::nullopt;
      if (c != n) continue;
      EncodeNumber(delta, bias, out);
      bias = Adapt(delta, handled + 1, handled == basic);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++n;
  }
  return out;
}

std::optional<std::vector<uint32_t>> PunycodeDecode(std::string_view text) {
  std::vector<uint32_t> out;
  size_t at = 0;
  if (const size_t dash = text.rfind('-'); dash != std::string_view::npos) {
    for (; at < dash; ++at) out.push_back(static_cast<uint8_t>(text[at]));
    ++at;
  }
  uint32_t n = kInitialN;
  uint32_t i = 0;
  uint32_t bias = kInitialBias;
  while (at < text.size()) {
    const uint32_t old_i = i;
    uint32_t weight = 1;
    for (uint32_t k = kBase;; k += kBase) {
      if (at >= text.size()) return std::nullopt;
      const std::optional<uint32_t> digit = DecodeDigit(text[at++]);
      if (!digit || *digit > (kMax - i) / weight) return std::nullopt;
      i += *digit * weight;
      const uint32_t t = Threshold(k, bias);
      if (*digit < t) break;
      if (weight > kMax / (kBase - t)) return std::nullopt;
      weight *= kBase - t;
    }
    const auto length = static_cast<uint32_t>(out.size()) + 1;
    bias = Adapt(i - old_i, length, old_i == 0);
    if (i / length > kMax - n) return std::nullopt;
    n += i / length;
    i %= length;
    if (n > 0x10FFFF || (n >= 0xD800 && n <= 0xDFFF)) return std::nullopt;
    out.insert(out.begin() + i, n);
    ++i;
  }
  return out;
}

std::optional<std::string> LabelToAscii(std::string_view utf8_label) {
  if (FindInvalidUtf8(utf8_label)) return std::nullopt;
  // The rules for dashes hold for what people read, not only for its encoding.
  if (utf8_label.starts_with('-') || utf8_label.ends_with('-')) return std::nullopt;
  std::vector<uint32_t> code_points = DecodeUtf8(utf8_label);
  if (code_points.size() >= 4 && code_points[2] == '-' && code_points[3] == '-') return std::nullopt;
  for (uint32_t& c : code_points) {
    c = ToLower(c);
    const bool ascii = c < 0x80 && (IsAsciiAlnum(static_cast<char>(c)) || c == '-');
    if (!ascii && !IsLetter(c)) return std::nullopt;
  }
  const std::optional<std::string> encoded = PunycodeEncode(code_points);
  if (!encoded) return std::nullopt;
  return "xn--" + *encoded;
}

bool IsValidALabel(std::string_view label) {
  const std::string_view text = label.substr(4);
  const auto decoded = PunycodeDecode(text);
  if (!decoded || std::all_of(decoded->begin(), decoded->end(), [](uint32_t c) { return c < 0x80; }))
    return false;
  if (!std::all_of(decoded->begin(), decoded->end(), IsAllowed)) return false;
  const auto again = PunycodeEncode(*decoded);
  return again && *again == text;
}

}  // namespace spty
