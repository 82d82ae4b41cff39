#include "settings/host_pattern.h"

#include <algorithm>
#include <charconv>

#include "settings/idna.h"
#include "settings/public_suffix.h"
#include "settings/text.h"

namespace spty {
namespace {

constexpr size_t kMaxHost = 253;
constexpr size_t kMaxLabel = 63;

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

std::optional<std::string> NormalizeLabel(std::string_view label) {
  if (label.empty()) return std::nullopt;
  std::string result;
  if (IsAscii(label)) {
    std::transform(label.begin(), label.end(), std::back_inserter(result), AsciiLower);
  } else {
    std::optional<std::string> ascii = LabelToAscii(label);
    if (!ascii) return std::nullopt;
    result = std::move(*ascii);
  }
  // Underscores are no host names by the book, but buckets and services have them.
  const bool characters = std::all_of(result.begin(), result.end(),
                                      [](char c) { return IsAsciiAlnum(c) || c == '-' || c == '_'; });
  if (!characters || result.size() > kMaxLabel || result.front() == '-' || result.back() == '-')
    return std::nullopt;
  // A dash in the third and fourth place is reserved: only xn-- is in use, and it has to decode.
  if (result.size() >= 4 && result.substr(2, 2) == "--" &&
      (!result.starts_with("xn--") || !IsValidALabel(result))) {
    return std::nullopt;
  }
  return result;
}

// A last label that is a number makes every resolver read the whole as an IPv4 address: 1.2.3.4, 127.1,
// 0x7f.1.
bool EndsInNumber(std::string_view host) {
  const size_t dot = host.rfind('.');
  std::string_view last = dot == std::string_view::npos ? host : host.substr(dot + 1);
  if (std::all_of(last.begin(), last.end(), IsAsciiDigit)) return true;
  if (!last.starts_with("0x")) return false;
  last.remove_prefix(2);
  return std::all_of(last.begin(), last.end(),
                     [](char c) { return IsAsciiDigit(c) || (c >= 'a' && c <= 'f'); });
}

// The rules for names, without a look at whether the name is an address.
std::optional<std::string> NormalizeName(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string result;
  for (;;) {
    const size_t dot = host.find('.');
    const std::optional<std::string> label = NormalizeLabel(host.substr(0, dot));
    if (!label) return std::nullopt;
    result += *label;
    if (dot == std::string_view::npos) break;
    result += '.';
    host.remove_prefix(dot + 1);
  }
  if (result.size() > kMaxHost) return std::nullopt;
  return result;
}

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || port == 0 || text.front() == '0') return std::nullopt;
  return port;
}

ParsedHost Refuse(std::string message, std::string suggestion) {
  return {std::nullopt, std::move(message), std::move(suggestion)};
}

// Mistakes that deserve a better answer than "not a host name".
std::optional<ParsedHost> CommonMistake(std::string_view text) {
  const std::string shown = Quoted(text);
  if (text.empty()) return Refuse("A host must not be empty.", "Remove the entry.");
  if (text == "*") {
    return Refuse("\"*\" would mean every host.", "Set allow_all_hosts to true if that is meant.");
  }
  if (text.find("://") != std::string_view::npos || text.find('/') != std::string_view::npos ||
      text.find('@') != std::string_view::npos) {
    return Refuse(shown + " is a URL or a path, not a host.", "Write the host name only.");
  }
  if (text.find('[') != std::string_view::npos || std::count(text.begin(), text.end(), ':') > 1) {
    return Refuse(shown + " is an IP address; only names can be checked against what a program asked for.",
                  "Write the host name.");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> NormalizeHost(std::string_view untrusted_host) {
  std::optional<std::string> name = NormalizeName(untrusted_host);
  if (!name || EndsInNumber(*name)) return std::nullopt;
  return name;
}

ParsedHost HostPattern::Parse(std::string_view text) {
  if (std::optional<ParsedHost> mistake = CommonMistake(text)) return *mistake;
  const std::string shown = Quoted(text);
  HostPattern pattern;
  std::string_view host = text;
  if (const size_t colon = host.find(':'); colon != std::string_view::npos) {
    if (colon + 1 < host.size()) pattern.port_ = ParsePort(host.substr(colon + 1));
    if (!pattern.port_) {
      return Refuse("The port of " + shown + " is not a number from 1 to 65535.",
                    "Leave the port out to mean all of them.");
    }
    host = host.substr(0, colon);
  }
  if (host.starts_with("*.")) {
    pattern.wildcard_ = true;
    host.remove_prefix(2);
  }
  if (host.find('*') != std::string_view::npos) {
    return Refuse(shown + " has a * in a place where none may be.",
                  "Write *.example.org: one, in front, before a dot.");
  }
  std::optional<std::string> name = NormalizeName(host);
  if (!name) {
    return Refuse(shown + " is not a host name.",
                  "Use letters, digits, dashes and dots; write an international name as it is spelled or in "
                  "its xn-- form.");
  }
  if (EndsInNumber(*name)) {
    return Refuse(shown + " is an IP address; only names can be checked against what a program asked for.",
                  "Write the host name.");
  }
  if (pattern.wildcard_ && IsPublicSuffix(*name)) {
    return Refuse(shown + " covers names that anybody can register.",
                  "Name the domain in front of it: *.example." + *name);
  }
  pattern.host_ = std::move(*name);
  return {std::move(pattern), {}, {}};
}

bool HostPattern::MatchesHost(std::string_view normalized) const {
  if (!wildcard_) return normalized == host_;
  return normalized.size() > host_.size() + 1 && normalized.ends_with(host_) &&
         normalized[normalized.size() - host_.size() - 1] == '.';
}

bool HostPattern::Matches(std::string_view untrusted_host, uint16_t port) const {
  if (port_ && *port_ != port) return false;
  const std::optional<std::string> host = NormalizeHost(untrusted_host);
  return host && MatchesHost(*host);
}

bool HostPattern::Covers(const HostPattern& other) const {
  if (port_ && port_ != other.port_) return false;
  if (!wildcard_) return !other.wildcard_ && host_ == other.host_;
  if (other.wildcard_ && other.host_ == host_) return true;
  return MatchesHost(other.host_);
}

std::string HostPattern::ToString() const {
  std::string text = (wildcard_ ? "*." : "") + host_;
  if (port_) text += ":" + std::to_string(*port_);
  return text;
}

}  // namespace spty
