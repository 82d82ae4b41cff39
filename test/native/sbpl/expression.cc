#include "sbpl/expression.h"

#include <cctype>

namespace spty::sbpl {
namespace {

class Reader {
 public:
  Reader(std::string_view text, std::string* problem) : text_(text), problem_(problem) {}

  std::optional<std::vector<Expression>> All() {
    std::vector<Expression> all;
    for (Skip(); at_ < text_.size(); Skip()) {
      std::optional<Expression> next = One();
      if (!next) return std::nullopt;
      all.push_back(std::move(*next));
    }
    return all;
  }

 private:
  std::optional<Expression> Fail(const std::string& why) {
    *problem_ = why + " at " + std::to_string(at_);
    return std::nullopt;
  }

  void Skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == ';') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::optional<Expression> One() {
    const char c = text_[at_];
    if (c == '(') return List();
    if (c == '"') return String();
    if (c == '#') return Regex();
    return Symbol();
  }

  std::optional<Expression> List() {
    Expression list;
    ++at_;
    for (Skip(); at_ < text_.size() && text_[at_] != ')'; Skip()) {
      std::optional<Expression> next = One();
      if (!next) return std::nullopt;
      list.items.push_back(std::move(*next));
    }
    if (at_ == text_.size()) return Fail("a list without an end");
    ++at_;
    return list;
  }

  // Only the two escapes that we write.
  std::optional<Expression> String() {
    Expression string;
    string.kind = Expression::Kind::kString;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
        if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\\')) return Fail("an escape");
      }
      string.text += text_[at_];
    }
    if (at_ == text_.size()) return Fail("a string without an end");
    ++at_;
    return string;
  }

  // Raw up to the next quote.
  std::optional<Expression> Regex() {
    Expression regex;
    regex.kind = Expression::Kind::kRegex;
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') return Fail("a lone #");
    const size_t end = text_.find('"', at_ + 2);
    if (end == std::string_view::npos) return Fail("a regular expression without an end");
    regex.text = text_.substr(at_ + 2, end - at_ - 2);
    at_ = end + 1;
    return regex;
  }

  std::optional<Expression> Symbol() {
    Expression symbol;
    symbol.kind = Expression::Kind::kSymbol;
    while (at_ < text_.size() && (isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-' ||
                                  text_[at_] == '*' || text_[at_] == '_')) {
      symbol.text += text_[at_++];
    }
    if (symbol.text.empty()) return Fail("an unexpected character");
    return symbol;
  }

  std::string_view text_;
  std::string* problem_;
  size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<Expression>> ParseExpressions(std::string_view text, std::string* problem) {
  return Reader(text, problem).All();
}

}  // namespace spty::sbpl
