#include "settings/tighten.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "settings/layers.h"
#include "settings/random_settings.h"
#include "settings/tighten_lists.h"
#include "support/effort.h"

namespace spty {
namespace {

ResolvedSettings Resolve(const std::string& user, const std::string& project,
                         Platform platform = Platform::kLinux) {
  LayersInput input;
  input.platform = platform;
  if (!user.empty()) input.user = LayerText{user, "", DocumentShape::kAuto};
  if (!project.empty()) input.project = LayerText{project, "", DocumentShape::kAuto};
  SettingsResult<ResolvedSettings> result = ResolveSettings(input);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : Describe(result.error())) << "\n"
                           << user << "\n"
                           << project;
  return result.ok() ? std::move(result).value() : ResolvedSettings{};
}

std::vector<std::string> RefusedPointers(const ResolvedSettings& resolved) {
  std::vector<std::string> pointers;
  for (const Refusal& refusal : resolved.refused) pointers.push_back(refusal.at.pointer);
  return pointers;
}

using Strings = std::vector<std::string>;

struct Case {
  const char* user;
  const char* project;
  Strings refused;
};

TEST(TightenTest, RefusesWideningByItsPointer) {
  const Case cases[] = {
      {R"({"enabled": true})", R"({"enabled": false})", {"/enabled"}},
      {R"({})", R"({"enabled": true})", {}},
      {R"({"apply_to": "tool"})", R"({"apply_to": "terminal"})", {"/apply_to"}},
      {R"({})", R"({"profile": "off"})", {"/profile"}},
      {R"({})", R"({"profile": "agent"})", {"/profile"}},
      {R"({})", R"({"profile": "read-only"})", {}},
      {R"({})", R"({"read_access": "all"})", {"/read_access"}},
      {R"({"git_access": "read"})", R"({"git_access": "commit"})", {"/git_access"}},
      {R"({"git_access": "read"})", R"({"allow_git_access": true})", {"/allow_git_access"}},
      {R"({})", R"({"allow_git_access": false})", {}},
      {R"({"temp": "private"})", R"({"temp": "shared"})", {"/temp"}},
      {R"({"nested_pty": "off"})", R"({"nested_pty": "private"})", {"/nested_pty"}},
      {R"({"allow_network": false})", R"({"allow_network": true})", {"/allow_network"}},
      {R"({"allow_network": false})", R"({"network_hosts": ["a.b"]})", {"/network_hosts/0"}},
      {R"({"network_hosts": ["*.a.b"]})", R"({"network_hosts": ["x.a.b", "c.d"]})", {"/network_hosts/1"}},
      {R"({})", R"({"allow_all_hosts": true})", {}},
      {R"({"network_hosts": ["a.b"]})", R"({"allow_all_hosts": true})", {"/allow_all_hosts"}},
      {R"({"additional_read_only_paths": ["~/a"]})",
       R"({"additional_read_only_paths": ["~/a", "~/b"]})",
       {"/additional_read_only_paths/1"}},
      {R"({"additional_read_only_paths": ["~/a"]})",
       R"({"additional_read_only_paths": ["~/a/link"]})",
       {"/additional_read_only_paths/0"}},
      {R"({"additional_read_only_paths": ["~/a"]})",
       R"({"additional_read_only_paths": ["$HOME/a//./"]})",
       {}},
      {R"({})", R"({"system_paths": {"read_write": ["/"]}})", {"/system_paths/read_write/0"}},
      {R"({})", R"({"unix_sockets": ["/run/docker.sock"]})", {"/unix_sockets/0"}},
      {R"({})", R"({"allowed_env_vars": ["PATH", "AWS_*"]})", {"/allowed_env_vars/1"}},
      {R"({})", R"({"denied_read_paths": []})", {"/denied_read_paths"}},
      {R"({})",
       R"({"allow_fs_write_all": true, "allow_unsandboxed": true, "allow_wide_project": true})",
       {"/allow_fs_write_all", "/allow_unsandboxed", "/allow_wide_project"}},
      {R"({})", R"({"strict": false})", {"/strict"}},
      {R"({"fail_if_unavailable": true})", R"({"fail_if_unavailable": false})", {"/fail_if_unavailable"}},
      {R"({})", R"({"backend": "noop"})", {"/backend"}},
      {R"({"backend": "noop"})", R"({"backend": "auto", "fail_if_unavailable": true})", {}},
      {R"({"backend": "noop", "fail_if_unavailable": true})", R"({"backend": "auto"})", {"/backend"}},
      {R"({"limits": {"processes": 10}})",
       R"({"limits": {"processes": 20, "memory_bytes": 2000000}})",
       {"/limits/processes"}},
      {R"({})",
       R"({"agent": {"sandbox_permissions": {"allow_git_access": true, "write_paths": ["/x"], "allow_all_hosts": false}}})",
       {"/agent/sandbox_permissions/write_paths/0", "/agent/sandbox_permissions/allow_git_access"}},
  };
  for (const Case& c : cases) {
    const ResolvedSettings resolved = Resolve(c.user, c.project);
    EXPECT_EQ(RefusedPointers(resolved), c.refused) << c.user << " " << c.project;
    for (const Refusal& refusal : resolved.refused) {
      EXPECT_EQ(refusal.at.layer, Layer::kProject);
      EXPECT_FALSE(refusal.message.empty());
    }
  }
}

TEST(TightenTest, AppliesWhatIsTighter) {
  const Settings s = Resolve("{}", R"({"enabled": true, "profile": "read-only", "allowed_env_vars": ["PATH"],
                                      "denied_read_paths": ["./secrets"], "denied_domains": ["evil.example"],
                                      "network_hosts": ["a.b"]})")
                         .settings;
  EXPECT_TRUE(s.enabled.value);
  EXPECT_EQ(s.profile.value, Profile::kReadOnly);
  EXPECT_EQ(s.project_access.value, ProjectAccess::kReadOnly);
  EXPECT_EQ(s.temp.value, TempMode::kPrivate);
  EXPECT_EQ(s.read_write.items.size(), 1u);
  EXPECT_EQ(s.allowed_env_vars.items.size(), 1u);
  EXPECT_EQ(s.denied_read.items.back().value, "./secrets");
  EXPECT_EQ(s.denied_read.items.front().value, "~/.ssh");
  EXPECT_FALSE(s.network_all.value);
}

TEST(TightenTest, AMixedProfileGivesItsTighterParts) {
  const Settings s = Resolve("{}", R"({"profile": "agent"})").settings;
  EXPECT_EQ(s.profile.value, Profile::kTerminal);
  EXPECT_EQ(s.read_access.value, ReadAccess::kListed);
  EXPECT_EQ(s.git_access.value, GitAccess::kNone);
  EXPECT_FALSE(s.network_all.value);
}

TEST(TightenTest, PathSpelling) {
  EXPECT_EQ(PathSpelling("//a/./b//"), "/a/b");
  EXPECT_EQ(PathSpelling("${HOME}/x/"), "~/x");
  EXPECT_EQ(PathSpelling("$HOME"), "~");
  EXPECT_EQ(PathSpelling("$HOMER/x"), "$HOMER/x");
  EXPECT_EQ(PathSpelling("./a/../b"), "a/../b");
  EXPECT_EQ(PathSpelling("/"), "/");
  EXPECT_EQ(PathSpelling("./"), ".");
}

// ---- never wider
// -----------------------------------------------------------------------------------------------

bool PathsWithin(const PathList& inner, const PathList& outer) {
  return std::all_of(inner.items.begin(), inner.items.end(), [&](const auto& item) {
    return std::any_of(outer.items.begin(), outer.items.end(),
                       [&](const auto& o) { return o.value == item.value; });
  });
}

bool Reaches(const Settings& s, std::string_view host, uint16_t port) {
  const auto matches = [&](const auto& item) { return item.value.Matches(host, port); };
  if (std::any_of(s.denied_domains.items.begin(), s.denied_domains.items.end(), matches)) return false;
  return s.network_all.value ||
         std::any_of(s.network_hosts.items.begin(), s.network_hosts.items.end(), matches);
}

bool Passes(const Settings& s, std::string_view name) {
  return std::any_of(s.allowed_env_vars.items.begin(), s.allowed_env_vars.items.end(),
                     [&](const auto& item) { return item.value.Matches(name); });
}

// Not the code under test turned around: a comparison of what the settings mean.
void ExpectNotWider(const Settings& after, const Settings& before) {
  EXPECT_TRUE(after.enabled.value || !before.enabled.value);
  const auto applies = [](ApplyTo a, ApplyTo kind) { return a == ApplyTo::kBoth || a == kind; };
  for (ApplyTo kind : {ApplyTo::kTerminal, ApplyTo::kTool}) {
    EXPECT_TRUE(applies(after.apply_to.value, kind) || !applies(before.apply_to.value, kind));
  }
  EXPECT_TRUE(after.profile.value != Profile::kOff || before.profile.value == Profile::kOff);
  EXPECT_TRUE(after.backend.value != Backend::kNoop || before.backend.value == Backend::kNoop);
  EXPECT_LE(after.read_access.value, before.read_access.value);
  EXPECT_LE(after.project_access.value, before.project_access.value);
  EXPECT_LE(after.git_access.value, before.git_access.value);
  EXPECT_LE(after.temp.value, before.temp.value);
  EXPECT_LE(after.nested_pty.value, before.nested_pty.value);
  EXPECT_TRUE(PathsWithin(after.executable, before.executable));
  EXPECT_TRUE(PathsWithin(after.read_only, before.read_only));
  EXPECT_TRUE(PathsWithin(after.read_write, before.read_write));
  EXPECT_TRUE(PathsWithin(after.additional_executable, before.additional_executable));
  EXPECT_TRUE(PathsWithin(after.additional_read_only, before.additional_read_only));
  EXPECT_TRUE(PathsWithin(after.additional_read_write, before.additional_read_write));
  EXPECT_TRUE(PathsWithin(after.unix_sockets, before.unix_sockets));
  EXPECT_TRUE(PathsWithin(before.denied_read, after.denied_read));
  for (const char* host :
       {"a.example", "x.a.example", "y.x.a.example", "z.b.example", "b.example", "other.example"}) {
    for (uint16_t port : {uint16_t{22}, uint16_t{80}, uint16_t{443}}) {
      EXPECT_TRUE(!Reaches(after, host, port) || Reaches(before, host, port)) << host << ":" << port;
    }
  }
  for (const char* name : {"PATH", "PYTHONPATH", "HOME", "LC_ALL", "LC_X", "SECRET", "OTHER"}) {
    EXPECT_TRUE(!Passes(after, name) || Passes(before, name)) << name;
  }
  EXPECT_TRUE(!after.allow_fs_write_all.value || before.allow_fs_write_all.value);
  EXPECT_TRUE(!after.allow_unsandboxed.value || before.allow_unsandboxed.value);
  EXPECT_TRUE(!after.allow_wide_project.value || before.allow_wide_project.value);
  EXPECT_TRUE(after.strict.value || !before.strict.value);
  EXPECT_TRUE(after.fail_if_unavailable.value || !before.fail_if_unavailable.value);
  const auto within = [](const auto& limit, const auto& bound) {
    return !bound || (limit && limit->value <= bound->value);
  };
  EXPECT_TRUE(within(after.max_processes, before.max_processes));
  EXPECT_TRUE(within(after.max_memory_bytes, before.max_memory_bytes));
  EXPECT_TRUE(within(after.max_cpu_percent, before.max_cpu_percent));
}

TEST(TightenTest, AnUntrustedProjectNeverWidensInTenThousandPairs) {
  const uint64_t seed = TestSeed();
  std::printf("seed: SPTY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  RandomSettings random(seed);
  const std::vector<std::string> paths = {"/usr/bin", "/dev", "/tmp", "/etc",      "~/.ssh",
                                          "~",        "/",    "./x",  "$HOME/.ssh"};
  int approvals = 0;
  for (int i = 0; i < Repeats(10'000) && !::testing::Test::HasFailure(); ++i) {
    const std::string user = random.AnyDocument(paths);
    const std::string project = random.AnyDocument(paths);
    const Platform platform = random.Chance(2) ? Platform::kLinux : Platform::kMacos;
    SCOPED_TRACE("pair " + std::to_string(i) + " of seed " + std::to_string(seed) + "\nuser    " + user +
                 "\nproject " + project);
    const ResolvedSettings after = Resolve(user, project, platform);
    const ResolvedSettings before = Resolve(user, "", platform);
    for (SessionKind kind : {SessionKind::kTerminal, SessionKind::kTool}) {
      SCOPED_TRACE(NameOf(kind));
      ExpectNotWider(after.ForKind(kind), before.ForKind(kind));
    }
    approvals += before.tool_settings ? 1 : 0;
  }
  EXPECT_GT(approvals, 0) << "or nothing was said about tools";
}

}  // namespace
}  // namespace spty
