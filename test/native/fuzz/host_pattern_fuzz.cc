// Any bytes as a host pattern and as a host.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "settings/host_pattern.h"

namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // One input, two names: a pattern, a newline, a host.
  const size_t newline = text.find('\n');
  const std::string left = text.substr(0, newline);
  const std::string right = newline == std::string::npos ? left : text.substr(newline + 1);

  const auto host = spty::NormalizeHost(right);
  if (host) {
    Require(host->size() <= 253, "a host has at most 253 characters");
    Require(spty::NormalizeHost(*host) == host, "the normal form is its own");
    Require(spty::NormalizeHost(*host + ".") == host, "a trailing dot is ignored");
    Require(host->find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos,
            "only host characters");
  }
  const spty::ParsedHost parsed = spty::HostPattern::Parse(left);
  if (!parsed.pattern) {
    Require(!parsed.message.empty(), "a refusal has words");
    return 0;
  }
  const spty::HostPattern& pattern = *parsed.pattern;
  const spty::ParsedHost again = spty::HostPattern::Parse(pattern.ToString());
  Require(again.pattern && *again.pattern == pattern, "the written form parses to the same");
  Require(pattern.Covers(pattern), "a pattern covers itself");
  Require(pattern.wildcard() != pattern.Matches(pattern.host(), pattern.port().value_or(443)),
          "*.x does not match x");
  Require(!pattern.wildcard() || pattern.Matches("sub." + pattern.host(), pattern.port().value_or(443)) ||
              pattern.host().size() > 249,
          "*.x matches sub.x");
  if (!host && pattern.Matches(right, 443)) Require(false, "what is no host matches nothing");
  const spty::ParsedHost other = spty::HostPattern::Parse(right);
  if (other.pattern && !other.pattern->wildcard() && pattern.Covers(*other.pattern)) {
    Require(
        pattern.Matches(other.pattern->host(), other.pattern->port().value_or(pattern.port().value_or(443))),
        "what is covered is matched");
  }
  return 0;
}
