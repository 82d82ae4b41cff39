#include "settings/document.h"

#include <gtest/gtest.h>

#include "settings/read_content.h"

namespace spty {
namespace {

const Origin kUser{Layer::kUser, ""};

LayerDocument Parse(std::string_view text, DocumentShape shape = DocumentShape::kAuto) {
  SettingsResult<LayerDocument> result = ParseSettings(text, kUser, shape);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : Describe(result.error()));
  return result.ok() ? std::move(result).value() : LayerDocument{};
}

std::vector<SettingsError> ErrorsOf(std::string_view text, DocumentShape shape = DocumentShape::kAuto) {
  const SettingsResult<LayerDocument> result = ParseSettings(text, kUser, shape);
  EXPECT_FALSE(result.ok()) << text;
  return result.errors();
}

TEST(DocumentTest, ReadsEveryField) {
  const LayerDocument d = Parse(R"({
    "enabled": true, "apply_to": "tool", "profile": "agent",
    "system_paths": {"executable": ["/a"], "read_only": [], "read_write": null},
    "additional_executable_paths": ["~/.cargo/bin"], "additional_read_only_paths": ["~"],
    "additional_read_write_paths": ["./x", "$HOME/y", "${Z}/z"],
    "read_access": "all", "denied_read_paths": ["~/.ssh"],
    "allow_network": false, "network_hosts": ["GitHub.com", "*.npmjs.org:443"], "allow_all_hosts": false,
    "denied_domains": ["evil.example"], "unix_sockets": ["/run/x.sock"], "git_access": "commit",
    "temp": "private", "nested_pty": "off", "allowed_env_vars": ["PATH", "LC_*"],
    "allow_fs_write_all": false, "allow_unsandboxed": false, "allow_wide_project": true,
    "strict": false, "fail_if_unavailable": true, "backend": "landlock-bwrap",
    "limits": {"processes": 100, "memory_bytes": 1073741824, "cpu_percent": 150.5}})");
  const SettingsContent& s = d.settings;
  EXPECT_TRUE(s.enabled->value);
  EXPECT_EQ(s.apply_to->value, ApplyTo::kTool);
  EXPECT_EQ(s.profile->value, Profile::kAgent);
  EXPECT_EQ(s.executable->items[0].origin, (Origin{Layer::kUser, "/system_paths/executable/0"}));
  EXPECT_TRUE(s.read_only->items.empty());
  EXPECT_FALSE(s.read_write.has_value());
  EXPECT_EQ(s.additional_read_write->items.size(), 3u);
  EXPECT_EQ(s.network_hosts->items[1].value.port(), 443);
  EXPECT_EQ(s.git_access->value, GitAccess::kCommit);
  EXPECT_EQ(s.backend->value, Backend::kLandlockBwrap);
  EXPECT_EQ(s.max_processes->value, 100u);
  EXPECT_EQ(s.max_cpu_percent->value, 150.5);
}

TEST(DocumentTest, NullMeansTheDefaultEverywhere) {
  std::string text = "{";
  for (std::string_view key : SettingsKeys()) {
    // Two names of one setting may not stand side by side.
    if (key == "allow_read" || key == "allow_write" || key == "write_paths" || key == "allow_git_access")
      continue;
    text += "\"" + std::string(key) + "\": null,";
  }
  const LayerDocument d = Parse(text + "\"linux\": null}");
  EXPECT_FALSE(d.settings.enabled.has_value());
  EXPECT_FALSE(d.settings.executable.has_value());
}

TEST(DocumentTest, AliasesAreTheSameSetting) {
  EXPECT_EQ(Parse(R"({"allow_read": ["/a"]})").settings.additional_read_only->items[0].value, "/a");
  EXPECT_EQ(Parse(R"({"allow_write": ["/a"]})").settings.additional_read_write->items[0].value, "/a");
  EXPECT_EQ(Parse(R"({"write_paths": ["/a"]})").settings.additional_read_write->items[0].value, "/a");
  EXPECT_EQ(Parse(R"({"allow_git_access": true})").settings.git_access->value, GitAccess::kFull);
  EXPECT_EQ(Parse(R"({"allow_git_access": false})").settings.git_access->value, GitAccess::kNone);
  EXPECT_EQ(ErrorsOf(R"({"allow_read": [], "additional_read_only_paths": []})")[0].at.pointer, "/allow_read");
  EXPECT_EQ(ErrorsOf(R"({"write_paths": [], "allow_write": []})")[0].at.pointer, "/write_paths");
  EXPECT_EQ(ErrorsOf(R"({"git_access": "full", "allow_git_access": true})").size(), 1u);
}

struct BadCase {
  const char* text;
  const char* pointer;
  const char* in_sentence;
};

TEST(DocumentTest, NamesThePlaceOfEveryMistake) {
  const BadCase cases[] = {
      {R"({"enabeld": true})", "/enabeld", "\"enabled\""},
      {R"({"Enabled": true})", "/Enabled", "\"enabled\""},
      {R"({"system_paths": {"exec": []}})", "/system_paths/exec", "There is no setting"},
      {R"({"system_paths": {"executable": ["/a", "/b", 3]}})", "/system_paths/executable/2",
       "a string, not a number"},
      {R"({"system_paths": []})", "/system_paths", "an object, not an array"},
      {R"({"enabled": "true"})", "/enabled", "true or false, not a string"},
      {R"({"apply_to": "terminals"})", "/apply_to", "\"terminal\""},
      {R"({"profile": 3})", "/profile", "not a number"},
      {R"({"profile": "Agent"})", "/profile", "Did you mean \"agent\"?"},
      {R"({"additional_read_only_paths": "~/.ssh"})", "/additional_read_only_paths", "an array"},
      {R"({"additional_read_only_paths": [""]})", "/additional_read_only_paths/0", "empty"},
      {R"({"additional_read_only_paths": ["a\u0000b"]})", "/additional_read_only_paths/0", "NUL"},
      {R"({"additional_read_only_paths": ["~bob/x"]})", "/additional_read_only_paths/0", "another user"},
      {R"({"additional_read_only_paths": [null]})", "/additional_read_only_paths/0", "not null"},
      {R"({"network_hosts": ["a.b", "*"]})", "/network_hosts/1", "allow_all_hosts"},
      {R"({"denied_domains": ["*.com"]})", "/denied_domains/0", "anybody"},
      {R"({"allowed_env_vars": ["A=B"]})", "/allowed_env_vars/0", "environment variable"},
      {R"({"allowed_env_vars": ["A*B"]})", "/allowed_env_vars/0", "environment variable"},
      {R"({"limits": {"processes": 0}})", "/limits/processes", "from 1 to 4194304"},
      {R"({"limits": {"processes": 1.5}})", "/limits/processes", "whole"},
      {R"({"limits": {"memory_bytes": 1000}})", "/limits/memory_bytes", "range"},
      {R"({"limits": {"cpu_percent": -1}})", "/limits/cpu_percent", "range"},
      {R"({"linux": {"enabled": 1}})", "/linux/enabled", "true or false"},
      {R"({"linux": {"linux": {}}})", "/linux/linux", "There is no setting"},
      {R"({"terminal": {"sandbox": {"stric": true}}})", "/terminal/sandbox/stric", "\"strict\""},
      {R"({"terminal": 1})", "/terminal", "an object"},
      {R"({"macos": {"terminal": {"sandbox": {"temp": "x"}}}})", "/macos/terminal/sandbox/temp", "none of"},
      {R"({"agent": {"sandbox_permissions": {"allow_git": true}}})", "/agent/sandbox_permissions/allow_git",
       "allow_git_access"},
      {R"({"agent": {"sandbox_permissions": {"write_paths": ["x"]}}})",
       "/agent/sandbox_permissions/write_paths/0", "relative"},
      {R"({"terminal.sandbox.enabled": 1})", "/terminal.sandbox.enabled", "true or false"},
      {R"({"terminal.sandbox.enabeld": true})", "/terminal.sandbox.enabeld", "\"enabled\""},
      {R"({"terminal.sandbox": {}, "terminal": {"sandbox": {}}})", "/terminal.sandbox", "two ways"},
      {R"({"terminal.sandbox.allow_read": [], "terminal.sandbox.additional_read_only_paths": []})",
       "/terminal.sandbox.allow_read", "two names"},
      {R"([])", "", "an object, not an array"},
  };
  for (const BadCase& c : cases) {
    const std::vector<SettingsError> errors = ErrorsOf(c.text);
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors[0].code, kErrSettings);
    EXPECT_EQ(errors[0].at.pointer, c.pointer) << c.text;
    EXPECT_NE(Describe(errors[0]).find(c.in_sentence), std::string::npos) << Describe(errors[0]);
  }
}

TEST(DocumentTest, ReportsAllMistakesAtOnce) {
  EXPECT_EQ(ErrorsOf(R"({"enabled": 1, "strict": 2, "what": 3, "network_hosts": ["*", "1.1.1.1"]})").size(),
            5u);
}

TEST(DocumentTest, FindsTheSettingsInAnEditorsDocument) {
  const LayerDocument d = Parse(R"({
    "theme": "dark", "editor.fontSize": 12, "[python]": {"x": 1},
    "terminal": {"shell": "zsh", "sandbox": {"enabled": true}},
    "agent": {"model": "m", "sandbox_permissions": {"network_hosts": ["github.com"], "allow_git_access": true}},
    "linux": {"theme": "light", "terminal": {"sandbox": {"system_paths": {"executable": ["/bin"]}}}}})");
  EXPECT_EQ(d.settings.enabled->origin.pointer, "/terminal/sandbox/enabled");
  EXPECT_TRUE(d.permissions.allow_git_access->value);
  const SettingsContent& linux_block = d.platform_settings[static_cast<size_t>(Platform::kLinux)];
  EXPECT_EQ(linux_block.executable->origin,
            (Origin{Layer::kUserPlatform, "/linux/terminal/sandbox/system_paths/executable"}));
}

TEST(DocumentTest, ReadsDottedKeys) {
  const LayerDocument d = Parse(R"({"window.zoom": 1, "terminal.sandbox.enabled": true,
    "terminal.sandbox.system_paths.executable": ["/x"], "terminal.sandbox.limits.processes": 7,
    "agent.sandbox_permissions.allow_all_hosts": true})");
  EXPECT_TRUE(d.settings.enabled->value);
  EXPECT_EQ(d.settings.executable->items[0].value, "/x");
  EXPECT_EQ(d.settings.max_processes->value, 7u);
  EXPECT_TRUE(d.permissions.allow_all_hosts->value);
  EXPECT_EQ(Parse(R"({"terminal.sandbox": {"strict": false}})").settings.strict->origin.pointer,
            "/terminal.sandbox/strict");
}

TEST(DocumentTest, AnEditorsDocumentWithoutOurSectionsIsEmptyOnlyIfSaidSo) {
  EXPECT_FALSE(Parse(R"({"theme": "dark"})", DocumentShape::kEditor).settings.enabled.has_value());
  EXPECT_EQ(ErrorsOf(R"({"theme": "dark"})")[0].at.pointer, "/theme");
  EXPECT_EQ(ErrorsOf(R"({"terminal": {}})", DocumentShape::kSettings)[0].at.pointer, "/terminal");
}

TEST(DocumentTest, SettingsBesideAnEditorsSectionAreAnErrorUnlessSaidWhatTheyAre) {
  const char* const mixed[][2] = {
      {R"({"enabled": true, "agent.sandbox_permissions": {"write_paths": ["/x"]}})", "/enabled"},
      {R"({"terminal": {}, "profile": "agent"})", "/profile"},
      {R"({"enabled": true, "linux": {"terminal": {}}})", "/enabled"},
      {R"({"linux": {"enabled": true, "terminal": {}}})", "/linux/enabled"}};
  for (const auto& [text, pointer] : mixed) {
    EXPECT_EQ(ErrorsOf(text)[0].at.pointer, pointer) << text;
    EXPECT_FALSE(Parse(text, DocumentShape::kEditor).settings.enabled.has_value()) << text;
  }
}

TEST(DocumentTest, PermissionsAlone) {
  const auto ok = ParsePermissions(R"({"network_hosts": ["a.b"], "allow_fs_write_all": true})",
                                   {Layer::kPermissions, "/p"});
  ASSERT_TRUE(ok.ok());
  EXPECT_EQ(ok.value().network_hosts->items[0].origin.pointer, "/p/network_hosts/0");
  const auto bad = ParsePermissions(R"({"git_access": "full"})", {Layer::kPermissions, "/p"});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().at.pointer, "/p/git_access");
}

}  // namespace
}  // namespace spty
