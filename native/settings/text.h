// Small helpers on text: UTF-8, nearest word, display of untrusted strings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spty {

// The byte offset of the first ill-formed UTF-8 sequence (overlong forms and surrogates included), if any.
std::optional<size_t> FindInvalidUtf8(std::string_view text);

// Code points of well-formed UTF-8.
std::vector<uint32_t> DecodeUtf8(std::string_view text);
size_t CountCodePoints(std::string_view text);

// The candidate with the smallest edit distance to `word`, or empty if none is near enough to be a typo.
std::string_view NearestWord(std::string_view word, std::span<const std::string_view> candidates);

// `untrusted` in double quotes, control characters escaped, cut to a readable length.
std::string Quoted(std::string_view untrusted);

bool IsAsciiAlnum(char c);
bool IsAsciiDigit(char c);
char AsciiLower(char c);

}  // namespace spty
