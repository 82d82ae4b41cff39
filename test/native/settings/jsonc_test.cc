#include "settings/jsonc.h"

#include <gtest/gtest.h>

namespace spty {
namespace {

TEST(JsoncTest, BlanksCommentsAndKeepsOffsets) {
  EXPECT_EQ(BlankOutJsonc("{/* a */\"x\":1// b\n}"), "{       \"x\":1    \n}");
  EXPECT_EQ(BlankOutJsonc("/* a\nb */{}"), "    \n    {}");
}

TEST(JsoncTest, BlanksTrailingCommasAlsoBeforeComments) {
  EXPECT_EQ(BlankOutJsonc("[1,]"), "[1 ]");
  EXPECT_EQ(BlankOutJsonc("{\"a\":[1, 2, /* c */ ] , }"), "{\"a\":[1, 2          ]   }");
}

TEST(JsoncTest, LeavesCommasThatFollowNoValue) {
  EXPECT_EQ(BlankOutJsonc("[,]"), "[,]");
  EXPECT_EQ(BlankOutJsonc("[1,,]"), "[1,,]");
  EXPECT_EQ(BlankOutJsonc("{,}"), "{,}");
  EXPECT_EQ(BlankOutJsonc("{\"a\":,}"), "{\"a\":,}");
}

TEST(JsoncTest, LeavesStringsAlone) {
  EXPECT_EQ(BlankOutJsonc(R"(["// no", "/* no */", "\"//", ",]"])"),
            R"(["// no", "/* no */", "\"//", ",]"])");
}

TEST(JsoncTest, RefusesAnEndlessComment) {
  EXPECT_FALSE(BlankOutJsonc("{} /* ").has_value());
  EXPECT_FALSE(BlankOutJsonc("/*/").has_value());
}

}  // namespace
}  // namespace spty
