// Our evaluator knows what we think the language is. This is a list of words that others use: each was seen
// in profiles that ship with macOS or with programs that run on it (browsers, package managers, build tools,
// agents), and so is a word of the language. A slip in a word would make the kernel refuse the whole profile.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "confine/seatbelt_profile.h"
#include "sbpl/examples.h"
#include "sbpl/expression.h"
#include "sbpl/mac_policy.h"

namespace spty::sbpl {
namespace {

using Words = std::set<std::string_view>;

const Words kOperations = {
    "default",
    "file-ioctl",
    "file-link",
    "file-map-executable",
    "file-read*",
    "file-read-data",
    "file-read-metadata",
    "file-write*",
    "file-write-create",
    "file-write-data",
    "file-write-unlink",
    "ipc-posix-sem",
    "ipc-posix-shm-read*",
    "ipc-posix-shm-write-create",
    "ipc-posix-shm-write-data",
    "ipc-posix-shm-write-unlink",
    "mach-lookup",
    "network-bind",
    "network-inbound",
    "network-outbound",
    "process-exec*",
    "process-fork",
    "process-info*",
    "pseudo-tty",
    "signal",
    "sysctl-read",
    "system-socket",
};

struct FilterWords {
  std::string name;
  // What may stand in it, besides strings and other filters.
  Words words;
};

const FilterWords kFilters[] = {
    {"extension", {}},
    {"global-name", {}},
    {"ipc-posix-name-regex", {}},
    {"literal", {}},
    {"local", {"ip", "unix-socket"}},
    {"regex", {}},
    {"remote", {"ip", "tcp", "unix-socket"}},
    {"require-all", {}},
    {"socket-domain", {"AF_ROUTE", "AF_SYSTEM", "AF_UNIX"}},
    {"subpath", {}},
    {"target", {"children", "same-sandbox", "self"}},
    {"with", {"no-sandbox"}},
};

void ExpectKnownFilter(const Expression& filter) {
  ASSERT_TRUE(filter.is_list());
  ASSERT_FALSE(filter.items.empty());
  const auto* known = std::find_if(std::begin(kFilters), std::end(kFilters), [&](const FilterWords& entry) {
    return entry.name == filter.items[0].text;
  });
  ASSERT_NE(known, std::end(kFilters)) << filter.items[0].text;
  for (size_t i = 1; i < filter.items.size(); ++i) {
    const Expression& item = filter.items[i];
    if (item.is_list()) ExpectKnownFilter(item);
    if (item.kind == Expression::Kind::kSymbol) {
      EXPECT_TRUE(known->words.contains(item.text)) << known->name << " " << item.text;
    }
  }
}

void ExpectKnownWords(const std::string& profile) {
  std::string problem;
  const auto expressions = ParseExpressions(profile, &problem);
  ASSERT_TRUE(expressions) << problem;
  for (const Expression& rule : *expressions) {
    if (rule.Is("version")) continue;
    ASSERT_TRUE(rule.Is("allow") || rule.Is("deny"));
    for (size_t i = 1; i < rule.items.size(); ++i) {
      const Expression& item = rule.items[i];
      if (item.is_list()) {
        ExpectKnownFilter(item);
      } else {
        EXPECT_TRUE(kOperations.contains(item.text)) << item.text;
      }
    }
  }
}

TEST(SeatbeltVocabularyTest, EveryWordIsOneThatOthersUse) {
  for (const Example& example : kExamples) {
    for (const uint16_t port : {uint16_t{0}, uint16_t{4128}}) {
      const auto text = SeatbeltProfile(*MacPolicy(example.settings), {"/tmp/mark", "/dev/ttys009", port});
      ASSERT_TRUE(text.ok()) << example.name;
      ExpectKnownWords(text.value());
    }
  }
  const std::string unmarked[] = {"/bin/ps"};
  ExpectKnownWords(TrackingProfile("/tmp/mark", unmarked).value());
}

}  // namespace
}  // namespace spty::sbpl
