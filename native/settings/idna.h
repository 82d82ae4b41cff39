// Internationalised host labels. Inside, a host is always its ASCII form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spty {

// RFC 3492. None on overflow.
std::optional<std::string> PunycodeEncode(const std::vector<uint32_t>& code_points);
// None if `text` is not Punycode of well-formed code points.
std::optional<std::vector<uint32_t>> PunycodeDecode(std::string_view text);

// The "xn--" form of a label with non-ASCII letters. Upper case becomes lower case. Only letters whose
// lower-case, composed form is certain without Unicode tables are taken (Latin, Greek, Cyrillic, Hebrew,
// Arabic, Indic, Thai, kana, CJK, Hangul); anything else is none, and the person is asked for the xn-- form.
std::optional<std::string> LabelToAscii(std::string_view utf8_label);

// Whether a label that starts with "xn--" (lower case) is the encoding of something that had to be encoded,
// and that a host name may consist of: no capital letters, no symbols.
bool IsValidALabel(std::string_view label);

}  // namespace spty
