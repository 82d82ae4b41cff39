#include "settings/json_parse.h"

#include <gtest/gtest.h>

namespace spty {
namespace {

const Origin kRoot{Layer::kUser, "/sandbox"};

SettingsError ErrorOf(std::string_view text) {
  const SettingsResult<JsonValue> result = ParseJson(text, kRoot);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? SettingsError{} : result.error();
}

TEST(JsonParseTest, ReadsEveryKind) {
  const auto result = ParseJson(R"({"a": [null, true, -1.5e2, "é\u00e9\n"], /* c */ "b": {},})", kRoot);
  ASSERT_TRUE(result.ok()) << Describe(result.error());
  const JsonValue* list = result.value().Find("a");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 4u);
  EXPECT_TRUE(list->items[0].is_null());
  EXPECT_TRUE(list->items[1].boolean);
  EXPECT_EQ(list->items[2].number, -150);
  EXPECT_EQ(list->items[3].string, "éé\n");
  EXPECT_TRUE(result.value().Find("b")->is_object());
}

TEST(JsonParseTest, NamesTheSecondOfTwoEqualKeys) {
  const SettingsError error = ErrorOf(R"({"system_paths": {"x": 1, "a/b": 2, "a\/b": 3}})");
  EXPECT_EQ(error.at.pointer, "/sandbox/system_paths/a~1b");
  EXPECT_NE(error.message.find("twice"), std::string::npos);
}

TEST(JsonParseTest, TellsLineAndColumn) {
  const SettingsError error = ErrorOf("{\n  \"ä\": [1, 2 3]\n}");
  EXPECT_NE(error.message.find("line 2, column 14"), std::string::npos) << error.message;
  EXPECT_EQ(error.at.pointer, "/sandbox/ä/1");
}

TEST(JsonParseTest, RefusesWhatIsNoDocument) {
  for (const char* text : {"", "  \n", "// nothing", "{", "{}}", "{\"a\"}", "[1,,2]", "{'a':1}", "nul", "NaN",
                           "01", "\"\\ud800\"", "\"\\x41\"", "{\"a\":1 \"b\":2}", "/* ", "\"tab\there\""}) {
    EXPECT_FALSE(ParseJson(text, kRoot).ok()) << text;
  }
}

TEST(JsonParseTest, RefusesBadUtf8EverywhereAlsoInComments) {
  for (const char* text :
       {"{\"a\":\"\xff\"}", "// \xc0\xaf\n{}", "{\"\xed\xa0\x80\":1}", "{\"a\":\"\xf5\x80\x80\x80\"}"}) {
    EXPECT_NE(ErrorOf(text).message.find("UTF-8"), std::string::npos) << text;
  }
}

TEST(JsonParseTest, RefusesTooDeepAndTooLarge) {
  const std::string deep = std::string(kMaxDocumentDepth, '[') + std::string(kMaxDocumentDepth, ']');
  EXPECT_TRUE(ParseJson(deep, kRoot).ok());
  EXPECT_NE(ErrorOf("[" + deep + "]").message.find("deep"), std::string::npos);
  EXPECT_FALSE(ParseJson(std::string(500000, '['), kRoot).ok());
  EXPECT_TRUE(ParseJson("{}" + std::string(kMaxDocumentBytes - 2, ' '), kRoot).ok());
  EXPECT_FALSE(ParseJson("{}" + std::string(kMaxDocumentBytes - 1, ' '), kRoot).ok());
}

TEST(JsonParseTest, RefusesNumbersThatNoDoubleHolds) {
  EXPECT_FALSE(ParseJson("{\"a\": 1e999}", kRoot).ok());
  EXPECT_TRUE(ParseJson("{\"a\": 123456789012345678901234567890}", kRoot).ok());
}

}  // namespace
}  // namespace spty
