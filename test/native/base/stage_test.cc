#include "base/stage.h"

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <string>

namespace spty {
namespace {

// The numbers travel over the control socket and reach JavaScript: a change of one is a change of the
// protocol.
const std::map<int, std::string> kStages = {
    {0, "none"},        {1, "request"},   {2, "pty"},         {3, "keeper"},    {4, "plan"},
    {5, "pump"},        {6, "identity"},  {7, "settings"},    {8, "policy"},    {20, "subreaper"},
    {21, "fork"},       {30, "session"},  {31, "terminal"},   {32, "stdio"},    {33, "signals"},
    {34, "cwd"},        {35, "groups"},   {36, "gid"},        {37, "uid"},      {38, "descriptors"},
    {39, "exec"},       {40, "cgroup"},   {9, "confinement"}, {22, "domain"},   {23, "gate"},
    {50, "privileges"}, {51, "landlock"}, {52, "seccomp"},    {60, "resize"},   {61, "write"},
    {62, "read"},       {63, "signal"},   {41, "mark"},       {53, "seatbelt"}, {10, "temp"},
};

TEST(StageName, IsFixedForEveryNumber) {
  for (const auto& [number, name] : kStages) EXPECT_EQ(StageName(static_cast<Stage>(number)), name);
}

TEST(StageName, IsUnknownForEveryOtherNumber) {
  for (int number = 0; number <= 0xffff; ++number) {
    if (kStages.contains(number)) continue;
    ASSERT_STREQ(StageName(static_cast<Stage>(number)), "unknown") << number;
  }
}

TEST(StageName, IsUniqueAndOneWord) {
  std::map<std::string, int> seen;
  for (const auto& [number, unused] : kStages) {
    std::string name = StageName(static_cast<Stage>(number));
    auto [entry, fresh] = seen.emplace(name, number);
    EXPECT_TRUE(fresh) << name << " is both " << entry->second << " and " << number;
    for (char letter : name) EXPECT_TRUE(islower(letter)) << name;
  }
}

}  // namespace
}  // namespace spty
