#include "track/session_mark.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace spty {
namespace {

TEST(SessionMarkTest, IsANameThatNobodyElseHas) {
  const std::regex form(
      "/place/\\.sandboxed-pty-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto mark = NewSessionMark("/place");
    ASSERT_TRUE(mark.ok());
    EXPECT_TRUE(std::regex_match(mark.value(), form)) << mark.value();
    EXPECT_TRUE(seen.insert(mark.value()).second);
  }
}

}  // namespace
}  // namespace spty
