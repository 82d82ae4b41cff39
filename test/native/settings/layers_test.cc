#include "settings/layers.h"

#include <gtest/gtest.h>

#include "settings/defaults.h"

namespace spty {
namespace {

struct Given {
  std::string user{};
  std::string project{};
  std::string permissions{};
  Platform platform = Platform::kLinux;
  bool trusted = false;
};

SettingsResult<ResolvedSettings> TryResolve(const Given& given) {
  LayersInput input;
  if (!given.user.empty()) input.user = LayerText{given.user, "", DocumentShape::kAuto};
  if (!given.project.empty()) input.project = LayerText{given.project, "", DocumentShape::kAuto};
  if (!given.permissions.empty()) input.permissions = LayerText{given.permissions, "", DocumentShape::kAuto};
  input.platform = given.platform;
  input.project_trusted = given.trusted;
  return ResolveSettings(input);
}

ResolvedSettings Resolve(const Given& given) {
  SettingsResult<ResolvedSettings> result = TryResolve(given);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : Describe(result.error()));
  return result.ok() ? std::move(result).value() : ResolvedSettings{};
}

std::vector<std::string> Values(const PathList& list) {
  std::vector<std::string> values;
  for (const auto& item : list.items) values.push_back(item.value);
  return values;
}

using Strings = std::vector<std::string>;

TEST(LayersTest, DefaultsOfLinux) {
  const Settings s = Resolve({}).settings;
  EXPECT_FALSE(s.enabled.value);
  EXPECT_EQ(s.apply_to.value, ApplyTo::kBoth);
  EXPECT_TRUE(s.network_all.value);
  EXPECT_TRUE(s.strict.value);
  EXPECT_EQ(Values(s.executable), (Strings{"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/libexec",
                                           "/lib", "/lib64", "/bin", "/sbin"}));
  EXPECT_EQ(Values(s.read_only), (Strings{"/etc", "/usr/share", "/usr/include", "/usr/lib/locale"}));
  EXPECT_EQ(Values(s.read_write), (Strings{"/dev", "/tmp", "/var/tmp", "/dev/shm", "/run/user"}));
  EXPECT_EQ(s.allowed_env_vars.items.size(), 18u);
  EXPECT_EQ(s.unix_sockets.items.back().value, "$SSH_AUTH_SOCK");
}

TEST(LayersTest, DefaultsOfMacos) {
  const Settings s = Resolve({.platform = Platform::kMacos}).settings;
  EXPECT_EQ(
      Values(s.executable),
      (Strings{"/bin", "/usr/bin", "/usr/sbin", "/sbin", "/usr/lib", "/usr/libexec", "/System/Library/dyld",
               "/System/Cryptexes", "/Library/Developer/CommandLineTools/usr/bin",
               "/Library/Developer/CommandLineTools/usr/lib", "/Library/Apple/usr/bin", "/opt/homebrew/bin",
               "/opt/homebrew/sbin", "/opt/homebrew/Cellar", "/opt/homebrew/lib", "/usr/local/bin",
               "/usr/local/lib"}));
  EXPECT_EQ(Values(s.read_only),
            (Strings{"/private/etc", "/usr/share", "/System/Library/Keychains",
                     "/Library/Developer/CommandLineTools/SDKs", "/Library/Preferences/SystemConfiguration",
                     "/opt/homebrew/share", "/opt/homebrew/etc", "/usr/local/share", "/usr/local/etc"}));
  EXPECT_EQ(Values(s.read_write),
            (Strings{"/dev", "/private/tmp", "/var/folders", "/private/var/run/mDNSResponder"}));
}

TEST(LayersTest, TheEnvironmentAndTheDotfilesOfThePlan) {
  const std::vector<std::string_view> env(DefaultEnvVars().begin(), DefaultEnvVars().end());
  EXPECT_EQ(env, (std::vector<std::string_view>{"PATH", "HOME", "USER", "SHELL", "LANG", "TERM",
                                                "TERM_PROGRAM", "CARGO_HOME", "RUSTUP_HOME", "GOPATH",
                                                "EDITOR", "VISUAL", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
                                                "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "GPG_TTY", "COLORTERM"}));
  const std::vector<std::string_view> dotfiles(HomeDotfiles().begin(), HomeDotfiles().end());
  EXPECT_EQ(dotfiles, (std::vector<std::string_view>{".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
                                                     ".bashrc", ".bash_profile", ".bash_login", ".profile",
                                                     ".inputrc", ".terminfo", ".gitconfig", ".config"}));
}

TEST(LayersTest, Profiles) {
  const auto with = [](const char* profile) {
    return Resolve({.user = std::string(R"({"profile": ")") + profile + "\"}"}).settings;
  };
  const Settings agent = with("agent");
  EXPECT_EQ(agent.read_access.value, ReadAccess::kAll);
  EXPECT_FALSE(agent.network_all.value);
  EXPECT_EQ(agent.git_access.value, GitAccess::kNone);
  EXPECT_EQ(agent.temp.value, TempMode::kPrivate);
  EXPECT_EQ(agent.nested_pty.value, NestedPty::kPrivate);
  EXPECT_EQ(Values(agent.read_write), Strings{"/dev"});
  const Settings workspace = with("workspace");
  EXPECT_EQ(workspace.read_access.value, ReadAccess::kListed);
  EXPECT_FALSE(workspace.network_all.value);
  EXPECT_EQ(workspace.git_access.value, GitAccess::kFull);
  const Settings read_only = with("read-only");
  EXPECT_EQ(read_only.project_access.value, ProjectAccess::kReadOnly);
  EXPECT_EQ(read_only.git_access.value, GitAccess::kRead);
  EXPECT_EQ(read_only.nested_pty.value, NestedPty::kOff);
  const Settings network = with("network-allow-all");
  EXPECT_TRUE(network.network_all.value);
  EXPECT_EQ(network.temp.value, TempMode::kPrivate);
  const Settings off = with("off");
  EXPECT_EQ(off.read_access.value, ReadAccess::kAll);
  EXPECT_EQ(off.nested_pty.value, NestedPty::kShared);
}

TEST(LayersTest, OnlyAnOverriddenCategoryIsReplaced) {
  const Settings s = Resolve({.user = R"({"system_paths": {"executable": ["/x"]}})"}).settings;
  EXPECT_EQ(Values(s.executable), Strings{"/x"});
  EXPECT_EQ(s.read_only.items.size(), 4u);
  EXPECT_TRUE(Resolve({.user = R"({"system_paths": {"read_only": []}})"}).settings.read_only.items.empty());
}

TEST(LayersTest, LaterLayersOverride) {
  const std::string user = R"({"enabled": true, "strict": false, "temp": "shared",
                               "linux": {"strict": true}, "macos": {"temp": "private"}})";
  const Settings linux_settings = Resolve({.user = user}).settings;
  EXPECT_TRUE(linux_settings.strict.value);
  EXPECT_EQ(linux_settings.strict.origin, (Origin{Layer::kUserPlatform, "/linux/strict"}));
  EXPECT_EQ(linux_settings.temp.value, TempMode::kShared);
  const Settings macos = Resolve({.user = user, .platform = Platform::kMacos}).settings;
  EXPECT_FALSE(macos.strict.value);
  EXPECT_EQ(macos.temp.value, TempMode::kPrivate);
  const Settings trusted =
      Resolve({.user = user, .project = R"({"strict": false})", .trusted = true}).settings;
  EXPECT_FALSE(trusted.strict.value);
  EXPECT_EQ(trusted.strict.origin.layer, Layer::kProject);
}

TEST(LayersTest, PrivateTempDropsTheSharedOnesOfTheDefaultOnly) {
  EXPECT_EQ(Values(Resolve({.user = R"({"temp": "private"})"}).settings.read_write),
            (Strings{"/dev", "/dev/shm", "/run/user"}));
  EXPECT_EQ(Values(Resolve({.user = R"({"temp": "private", "system_paths": {"read_write": ["/tmp"]}})"})
                       .settings.read_write),
            Strings{"/tmp"});
}

TEST(LayersTest, NetworkFieldsOfDifferentLayers) {
  const auto network = [](const Given& given) {
    const Settings s = Resolve(given).settings;
    if (s.network_all.value) return std::string("all");
    std::string hosts;
    for (const auto& host : s.network_hosts.items)
      hosts += (hosts.empty() ? "" : " ") + host.value.ToString();
    return hosts.empty() ? "none" : hosts;
  };
  EXPECT_EQ(network({}), "all");
  EXPECT_EQ(network({.user = R"({"allow_network": false})"}), "none");
  EXPECT_EQ(network({.user = R"({"network_hosts": []})"}), "all");
  EXPECT_EQ(network({.user = R"({"network_hosts": ["a.b"]})"}), "a.b");
  EXPECT_EQ(network({.user = R"({"network_hosts": ["a.b"], "allow_network": false})"}), "a.b");
  EXPECT_EQ(network({.user = R"({"network_hosts": ["a.b"], "allow_network": true})"}), "all");
  EXPECT_EQ(network({.user = R"({"profile": "agent", "allow_all_hosts": true})"}), "all");
  EXPECT_EQ(network({.user = R"({"allow_network": false, "allow_all_hosts": true})"}), "none");
  EXPECT_EQ(network({.user = R"({"linux": {"allow_network": false, "allow_all_hosts": true}})"}), "none");
  EXPECT_EQ(network({.user = R"({"network_hosts": ["a.b"]})",
                     .project = R"({"allow_network": false})",
                     .trusted = true}),
            "none");
  EXPECT_EQ(network({.user = R"({"allow_all_hosts": true})",
                     .project = R"({"allow_network": false})",
                     .trusted = true}),
            "none");
  EXPECT_EQ(network({.user = R"({"allow_network": true})",
                     .project = R"({"network_hosts": ["a.b"]})",
                     .trusted = true}),
            "a.b");
  EXPECT_EQ(network({.user = R"({"allow_network": false})", .permissions = R"({"network_hosts": ["c.d"]})"}),
            "c.d");
  EXPECT_EQ(network({.user = R"({"allow_network": false})", .permissions = R"({"allow_all_hosts": true})"}),
            "all");
}

TEST(LayersTest, NameLookupsOnlyWhereTheNetworkIsOpen) {
  const auto has_resolver = [](const Given& given) {
    for (const auto& item : Resolve(given).settings.unix_sockets.items) {
      if (item.value == "/run/systemd/resolve/io.systemd.Resolve") return true;
    }
    return false;
  };
  EXPECT_TRUE(has_resolver({}));
  EXPECT_FALSE(has_resolver({.user = R"({"allow_network": false})"}));
  EXPECT_FALSE(has_resolver({.user = R"({"denied_domains": ["a.b"]})"}));
  EXPECT_FALSE(has_resolver({.project = R"({"allow_network": false})"}));
}

TEST(LayersTest, SharedTempMeansTheSharedDirectoriesInEveryProfile) {
  const auto writable = [](const char* user) { return Values(Resolve({.user = user}).settings.read_write); };
  EXPECT_EQ(writable(R"({"profile": "workspace"})"), Strings{"/dev"});
  EXPECT_EQ(writable(R"({"profile": "workspace", "temp": "shared"})"), (Strings{"/dev", "/tmp", "/var/tmp"}));
  EXPECT_EQ(writable(R"({"profile": "workspace", "temp": "shared", "system_paths": {"read_write": []}})"),
            Strings{});
}

TEST(LayersTest, PermissionsOnlyAdd) {
  const Settings s = Resolve({.user = R"({"git_access": "commit", "additional_read_write_paths": ["/a"]})",
                              .permissions = R"({"write_paths": ["/b"], "allow_git_access": false,
                                                 "allow_fs_write_all": false, "allow_unsandboxed": true})"})
                         .settings;
  EXPECT_EQ(Values(s.additional_read_write), (Strings{"/a", "/b"}));
  EXPECT_EQ(s.git_access.value, GitAccess::kCommit);
  EXPECT_TRUE(s.allow_unsandboxed.value);
  EXPECT_EQ(s.allow_unsandboxed.origin, (Origin{Layer::kPermissions, "/allow_unsandboxed"}));
}

TEST(LayersTest, TheAgentsApprovalsAreNotTheTerminals) {
  const ResolvedSettings resolved = Resolve(
      {.user = R"({"agent": {"sandbox_permissions": {"write_paths": ["/w"], "allow_git_access": true}},
                           "terminal": {"sandbox": {"profile": "agent"}}})"});
  EXPECT_TRUE(resolved.ForKind(SessionKind::kTerminal).additional_read_write.items.empty());
  const Settings tool = resolved.ForKind(SessionKind::kTool);
  EXPECT_EQ(Values(tool.additional_read_write), Strings{"/w"});
  EXPECT_EQ(tool.git_access.value, GitAccess::kFull);
}

TEST(LayersTest, ErrorsNameTheirLayer) {
  const auto result = TryResolve({.project = R"({"strict": 1})"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().at, (Origin{Layer::kProject, "/strict"}));
}

}  // namespace
}  // namespace spty
