#include "settings/public_suffix.h"

#include <algorithm>

namespace spty {
namespace {

constexpr std::string_view kCountrySecondLevels[] = {"ac",  "co",  "com", "edu", "go", "gob",
                                                     "gov", "ltd", "me",  "mil", "ne", "net",
                                                     "nom", "or",  "org", "plc", "sch"};

constexpr std::string_view kSharedHosting[] = {"appspot.com",    "azurewebsites.net", "blogspot.com",
                                               "cloudfront.net", "deno.dev",          "firebaseapp.com",
                                               "fly.dev",        "github.io",         "githubusercontent.com",
                                               "gitlab.io",      "glitch.me",         "herokuapp.com",
                                               "netlify.app",    "ngrok-free.app",    "ngrok.app",
                                               "ngrok.io",       "onrender.com",      "pages.dev",
                                               "r2.dev",         "repl.co",           "s3.amazonaws.com",
                                               "surge.sh",       "trycloudflare.com", "vercel.app",
                                               "web.app",        "workers.dev"};

template <size_t N>
bool Contains(const std::string_view (&table)[N], std::string_view word) {
  return std::find(std::begin(table), std::end(table), word) != std::end(table);
}

}  // namespace

bool IsPublicSuffix(std::string_view suffix) {
  const size_t dot = suffix.find('.');
  if (dot == std::string_view::npos) return true;
  const std::string_view rest = suffix.substr(dot + 1);
  if (rest.size() == 2 && Contains(kCountrySecondLevels, suffix.substr(0, dot))) return true;
  return Contains(kSharedHosting, suffix);
}

std::span<const std::string_view> CountrySecondLevels() { return kCountrySecondLevels; }
std::span<const std::string_view> SharedHostingSuffixes() { return kSharedHosting; }

}  // namespace spty
