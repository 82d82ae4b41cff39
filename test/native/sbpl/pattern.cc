#include "sbpl/pattern.h"

namespace spty::sbpl {
namespace {

constexpr std::string_view kSpecial = "^$.[]()|*+?{}\\";

size_t Index(char c) { return static_cast<unsigned char>(c); }

// The characters of "[...]", with ranges; `text` begins behind the bracket and goes on behind its end.
std::optional<std::bitset<256>> ParseClass(std::string_view& text) {
  std::bitset<256> set;
  while (!text.empty() && text[0] != ']') {
    const char first = text[0];
    text.remove_prefix(1);
    char last = first;
    if (text.size() > 1 && text[0] == '-' && text[1] != ']') {
      last = text[1];
      text.remove_prefix(2);
    }
    if (kSpecial.find(first) != std::string_view::npos || last < first) return std::nullopt;
    for (size_t c = Index(first); c <= Index(last); ++c) set.set(c);
  }
  if (text.empty() || set.none()) return std::nullopt;
  text.remove_prefix(1);
  return set;
}

}  // namespace

std::optional<Pattern> Pattern::Parse(std::string_view text) {
  Pattern pattern;
  if (!text.starts_with('^')) return std::nullopt;
  text.remove_prefix(1);
  while (!text.empty()) {
    if (text == "$" || text == "($|/)") {
      pattern.end_ = text == "$" ? End::kText : End::kTextOrSlash;
      return pattern;
    }
    Item item;
    char c = text[0];
    text.remove_prefix(1);
    if (c == '[') {
      const auto set = ParseClass(text);
      if (!set) return std::nullopt;
      item.set = *set;
    } else if (c == '.') {
      item.set.set();
    } else {
      if (c == '\\') {
        if (text.empty() || kSpecial.find(text[0]) == std::string_view::npos) return std::nullopt;
        c = text[0];
        text.remove_prefix(1);
      } else if (kSpecial.find(c) != std::string_view::npos) {
        return std::nullopt;
      }
      item.set.set(Index(c));
    }
    if (text.starts_with('+')) {
      item.repeats = true;
      text.remove_prefix(1);
    }
    pattern.items_.push_back(item);
  }
  return pattern;
}

bool Pattern::MatchesFrom(size_t item, std::string_view text) const {
  for (; item < items_.size(); ++item) {
    if (text.empty() || !items_[item].set.test(Index(text[0]))) return false;
    text.remove_prefix(1);
    if (items_[item].repeats && MatchesFrom(item, text)) return true;
  }
  return end_ == End::kAnywhere || text.empty() || (end_ == End::kTextOrSlash && text[0] == '/');
}

}  // namespace spty::sbpl
