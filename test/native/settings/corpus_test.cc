// test/settings-corpus: documents that the library, the JSON schema and the typings must judge alike. The
// other two are in test/js/settings.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "settings/document.h"
#include "settings/json_parse.h"

namespace spty {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<SettingsError> Judge(const std::string& shape, const std::string& text) {
  const Origin root{Layer::kUser, ""};
  if (shape == "permissions") return ParsePermissions(text, root).errors();
  return ParseSettings(text, root, shape == "editor" ? DocumentShape::kEditor : DocumentShape::kSettings)
      .errors();
}

class CorpusTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CorpusTest, EveryDocumentIsJudgedAsWritten) {
  const auto directory = std::filesystem::path(__FILE__).parent_path() / "../../settings-corpus";
  const SettingsResult<JsonValue> corpus = ParseJson(ReadFile(directory / GetParam()), {});
  ASSERT_TRUE(corpus.ok()) << Describe(corpus.error());
  ASSERT_GT(corpus.value().items.size(), 20u);
  for (const JsonValue& entry : corpus.value().items) {
    const std::string& text = entry.Find("text")->string;
    SCOPED_TRACE(entry.Find("name")->string + "\n" + text.substr(0, 200));
    const std::vector<SettingsError> errors = Judge(entry.Find("shape")->string, text);
    EXPECT_EQ(errors.empty(), entry.Find("valid")->boolean) << (errors.empty() ? "" : Describe(errors[0]));
    if (errors.empty() || entry.Find("pointer") == nullptr) continue;
    EXPECT_EQ(errors[0].at.pointer, entry.Find("pointer")->string);
    EXPECT_FALSE(errors[0].message.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Files, CorpusTest, ::testing::Values("generated.json", "written.json"));

}  // namespace
}  // namespace spty
