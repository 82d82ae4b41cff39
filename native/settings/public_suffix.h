// Names under which strangers register their own: a wildcard there would mean "everybody".
#pragma once

#include <span>
#include <string_view>

namespace spty {

// `suffix` is lower-case ASCII without a trailing dot. True for every single label ("com", "internal"), for
// the usual second level of country codes ("co.uk", "com.au") and for the large shared hosting domains
// ("github.io"). Not the whole public suffix list: that changes weekly, and a stale copy would only look
// complete.
bool IsPublicSuffix(std::string_view suffix);

// The tables behind it, for the JSON schema's test.
std::span<const std::string_view> CountrySecondLevels();
std::span<const std::string_view> SharedHostingSuffixes();

}  // namespace spty
