#include "policy/environment.h"

#include <gtest/gtest.h>

namespace spty {
namespace {

EnvList Allow(std::initializer_list<const char*> names) {
  EnvList list;
  for (const char* name : names) list.items.push_back({*EnvPattern::Parse(name), {}});
  return list;
}

struct Given {
  std::vector<EnvVar> env;
  std::vector<EnvVar> extra;
  EnvList allowed;
  std::string temp_dir;
  bool private_temp = false;
  bool filtered = true;
};

SettingsResult<std::vector<EnvVar>> Build(const Given& given) {
  EnvironmentInput input;
  input.env = &given.env;
  input.extra = &given.extra;
  input.allowed = given.filtered ? &given.allowed : nullptr;
  input.pwd = "/work";
  input.temp_dir = given.temp_dir;
  return BuildEnvironment(input, given.private_temp);
}

std::vector<EnvVar> Built(const Given& given) {
  auto result = Build(given);
  EXPECT_TRUE(result.ok());
  return result.ok() ? std::move(result).value() : std::vector<EnvVar>{};
}

using Vars = std::vector<EnvVar>;

TEST(EnvironmentTest, FiltersAndAddsInOrder) {
  const Given given{.env = {{"HOME", "/h"}, {"AWS_SECRET", "s"}, {"LC_ALL", "C"}, {"TMPDIR", "/x"}},
                    .extra = {{"EDITOR_TERM", "true"}, {"PWD", "/override"}},
                    .allowed = Allow({"HOME", "LC_*"}),
                    .temp_dir = "/tmp"};
  EXPECT_EQ(Built(given), (Vars{{"HOME", "/h"},
                                {"LC_ALL", "C"},
                                {"TERM", "xterm-256color"},
                                {"PWD", "/override"},
                                {"TMPDIR", "/tmp"},
                                {"EDITOR_TERM", "true"}}));
}

TEST(EnvironmentTest, ValuesSurviveAsBytes) {
  const Given given{.env = {{"A", "line\nbreak"}, {"B", "x=y="}, {"C", "\xff\xfe"}, {"D", ""}},
                    .extra = {},
                    .allowed = Allow({"*"}),
                    .temp_dir = {}};
  const Vars vars = Built(given);
  EXPECT_EQ(*FindEnv(vars, "A"), "line\nbreak");
  EXPECT_EQ(*FindEnv(vars, "B"), "x=y=");
  EXPECT_EQ(*FindEnv(vars, "C"), "\xff\xfe");
  EXPECT_EQ(*FindEnv(vars, "D"), "");
}

TEST(EnvironmentTest, InheritedTermAndPrivateTemp) {
  const Given given{.env = {{"TERM", "dumb"}, {"TMP", "/old"}, {"TEMP", "/old"}},
                    .extra = {},
                    .allowed = Allow({"*"}),
                    .temp_dir = "/private/t",
                    .private_temp = true};
  EXPECT_EQ(Built(given), (Vars{{"TERM", "dumb"},
                                {"PWD", "/work"},
                                {"TMPDIR", "/private/t"},
                                {"TMP", "/private/t"},
                                {"TEMP", "/private/t"}}));
}

TEST(EnvironmentTest, UnfilteredKeepsEverything) {
  const Given given{.env = {{"AWS_SECRET", "s"}, {"TMPDIR", "/x"}, {"TERM", "t"}},
                    .extra = {},
                    .allowed = {},
                    .temp_dir = {},
                    .private_temp = false,
                    .filtered = false};
  EXPECT_EQ(Built(given), (Vars{{"AWS_SECRET", "s"}, {"TMPDIR", "/x"}, {"TERM", "t"}, {"PWD", "/work"}}));
}

TEST(EnvironmentTest, LastOfTwoEqualNamesHolds) {
  const Given given{.env = {{"A", "1"}, {"A", "2"}}, .extra = {}, .allowed = Allow({"A"}), .temp_dir = {}};
  EXPECT_EQ(*FindEnv(Built(given), "A"), "2");
}

TEST(EnvironmentTest, RefusesImpossibleNames) {
  for (const std::string& name : {std::string("A=B"), std::string("A\0B", 3), std::string()}) {
    EXPECT_FALSE(Build({.env = {{name, "x"}}, .extra = {}, .allowed = {}, .temp_dir = {}}).ok());
    const auto result = Build({.env = {}, .extra = {{name, "x"}}, .allowed = {}, .temp_dir = {}});
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(result.error().at.pointer.starts_with("/extraEnv/"));
  }
  EXPECT_FALSE(
      Build({.env = {{"A", std::string("x\0y", 3)}}, .extra = {}, .allowed = {}, .temp_dir = {}}).ok());
}

}  // namespace
}  // namespace spty
