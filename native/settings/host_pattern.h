// A host that may be, or must not be, reached: "example.org", "*.example.org", either with ":port".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spty {

// Lower case, one trailing dot dropped, non-ASCII labels in their xn-- form. None if it is no host name:
// empty or overlong labels, other characters, an IP address in any notation (1.2.3.4, 127.1, 0x7f000001,
// ::1).
std::optional<std::string> NormalizeHost(std::string_view untrusted_host);

struct ParsedHost;

class HostPattern {
 public:
  static ParsedHost Parse(std::string_view text);

  // "*.x.y" matches "a.x.y" and "a.b.x.y", not "x.y". A pattern without a port matches every port.
  // `untrusted_host` may come straight from the network; what is no host name matches nothing.
  bool Matches(std::string_view untrusted_host, uint16_t port) const;
  // Whether everything that `other` matches is matched by this one too.
  bool Covers(const HostPattern& other) const;

  // The normal form; parses to an equal pattern.
  std::string ToString() const;
  const std::string& host() const { return host_; }
  bool wildcard() const { return wildcard_; }
  std::optional<uint16_t> port() const { return port_; }

  bool operator==(const HostPattern&) const = default;

 private:
  HostPattern() = default;
  bool MatchesHost(std::string_view normalized) const;

  std::string host_;  // without the "*."
  bool wildcard_ = false;
  std::optional<uint16_t> port_;
};

// A pattern, or a sentence about what is wrong and one about what to write instead.
struct ParsedHost {
  std::optional<HostPattern> pattern;
  std::string message;
  std::string suggestion;
};

}  // namespace spty
