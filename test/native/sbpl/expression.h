// The s-expressions of a profile: lists, symbols, strings and regular expressions. Comments are skipped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spty::sbpl {

struct Expression {
  enum class Kind { kList, kSymbol, kString, kRegex };
  Kind kind = Kind::kList;
  std::string text;               // of what is no list
  std::vector<Expression> items;  // of a list

  bool is_list() const { return kind == Kind::kList; }
  // Whether this is a list that begins with this symbol.
  bool Is(std::string_view symbol) const {
    return is_list() && !items.empty() && items[0].kind == Kind::kSymbol && items[0].text == symbol;
  }
};

// The expressions of a whole profile. Nothing, and `problem` says why, for what is no such text.
std::optional<std::vector<Expression>> ParseExpressions(std::string_view text, std::string* problem);

}  // namespace spty::sbpl
