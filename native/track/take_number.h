// Reads numbers off the front of a text.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace spty {

template <typename Number>
bool TakeNumber(std::string_view& text, Number* number) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace spty
