// Settings and projects that try to be read as more than they say.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>

#include "escape/harness.h"

namespace spty {
namespace {

class SettingsEscape : public Escape {
 protected:
  // A session under this policy starts, unless it is expected not to, and cannot read the secret. Outside
  // anybody can.
  static void ExpectUnreadable(const World& world, PolicyInput input, const std::string& cwd = "",
                               EscapeOutcome::Kind expected = EscapeOutcome::Kind::kRefused) {
    const std::vector<std::string> command = {"escape_files", "read", "{private}/secret"};
    input.env.push_back({"PATH", "/usr/bin:/bin"});
    SpawnRequest request = RequestInside(world, command, kWorkspace);
    if (!cwd.empty()) request.cwd = cwd;
    auto policy = ResolvePolicy(std::move(input));
    ASSERT_TRUE(policy.ok()) << Describe(policy.error());
    request.policy = std::move(policy).value();
    const EscapeOutcome inside = Perform(request);
    EXPECT_EQ(inside.kind, expected) << "ESCAPED: " << ToString(inside);
    EXPECT_EQ(inside.err, expected == EscapeOutcome::Kind::kRefused ? EACCES : 0) << ToString(inside);
    const EscapeOutcome outside = Perform(RequestOutside(world, command));
    EXPECT_EQ(outside.kind, EscapeOutcome::Kind::kDone) << ToString(outside);
  }

  static void ExpectUnreadable(const World& world, const std::string& members) {
    ExpectUnreadable(world, world.scratch().Input(SettingsText(world, members)));
  }
};

// Each of these grants something, and none of them the directory beside the project.
TEST_F(SettingsEscape, PathsMeanWhatTheySay) {
  for (const char* path : {"own", "./", "nothing", "sub/..", "{project}/", "{project}//", "{project}/./.",
                           "{private}x", "{project}/../project", "$NOTHING", "$NOTHING/private", "$$HOME"}) {
    SCOPED_TRACE(path);
    World world;
    ExpectUnreadable(world,
                     std::string(kWorkspace) + R"(, "additional_read_write_paths": [")" + path + "\"]");
  }
}

// Those that do lead there are the user's own wish; the test above would pass without looking otherwise.
TEST_F(SettingsEscape, PathsThatLeadThereGrantIt) {
  for (const char* path : {"../private", "{project}/../private/", "{private}//", "~/private", "$HOME/private",
                           "${HOME}/project/../private", "~/to-private"}) {
    SCOPED_TRACE(path);
    World world;
    world.scratch().Link("home/me/to-private", "private");
    PolicyInput input = world.scratch().Input(SettingsText(
        world, std::string(kWorkspace) + R"(, "additional_read_only_paths": [")" + path + "\"]"));
    input.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", world.scratch().home()}};
    SpawnRequest request = RequestInside(world, {"escape_files", "read", "{private}/secret"}, kWorkspace);
    request.policy = world.scratch().Resolve(std::move(input));
    const EscapeOutcome granted = Perform(request);
    EXPECT_EQ(granted.kind, EscapeOutcome::Kind::kDone) << ToString(granted);
  }
}

// A variable whose value contains what would be expanded again, or climbs, is the caller's environment; what
// the session can choose is its own. Here the caller's HOME differs from the home that it passed.
TEST_F(SettingsEscape, AVariableIsExpandedOnce) {
  World world;
  PolicyInput input = world.scratch().Input(
      SettingsText(world, std::string(kWorkspace) + R"(, "additional_read_only_paths": ["$TRICK"])"));
  input.env = {{"TRICK", "$HOME/private"}, {"HOME", world.scratch().home()}};
  ExpectUnreadable(world, std::move(input));
}

TEST_F(SettingsEscape, ASymlinkedProjectIsItsTargetOnly) {
  World world;
  const std::string link = world.scratch().Link("elsewhere/project", world.scratch().project());
  PolicyInput input = world.scratch().Input(SettingsText(world, kWorkspace));
  input.project_dir = link;
  // Beside the link lies a directory that a textual ".." would find.
  world.scratch().File("elsewhere/private/secret", kSecret);
  ExpectUnreadable(world, std::move(input));
}

TEST_F(SettingsEscape, AProjectThatLeadsToEverythingIsRefused) {
  World world;
  for (const std::string& target : {std::string("/"), std::string("/."), world.scratch().home(),
                                    world.scratch().home() + "/", world.scratch().Path("home")}) {
    SCOPED_TRACE(target);
    PolicyInput input = world.scratch().Input(SettingsText(world, kWorkspace));
    input.project_dir = target;
    EXPECT_FALSE(ResolvePolicy(input).ok());
    const std::string link = world.scratch().project() + "/to-everything";
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(target, link);
    input.project_dir = link;
    EXPECT_FALSE(ResolvePolicy(input).ok());
  }
}

// The working directory is where the session starts, never what it is given.
TEST_F(SettingsEscape, TheWorkingDirectoryGrantsNothing) {
  World world;
  PolicyInput input = world.scratch().Input(SettingsText(world, kWorkspace));
  input.cwd = world.private_dir();
  ExpectUnreadable(world, std::move(input), world.private_dir());
}

// Written by whoever wrote the repository.
TEST_F(SettingsEscape, AnUntrustedProjectFileGrantsNothing) {
  for (const char* wish : {R"({"additional_read_only_paths": ["{private}"]})",
                           R"({"additional_read_write_paths": ["../private"]})",
                           R"({"additional_read_only_paths": ["to-private"]})", R"({"read_access": "all"})",
                           R"({"allow_fs_write_all": true})", R"({"enabled": false})",
                           R"({"profile": "off"})", R"({"backend": "noop"})", R"({"apply_to": "neither"})",
                           R"({"strict": false})", R"({"system_paths": {"read_only": ["/"]}})",
                           R"({"allow_unsandboxed": true})", R"({"denied_read_paths": []})"}) {
    SCOPED_TRACE(wish);
    World world;
    ExpectUnreadable(world, world.scratch().Input(SettingsText(world, kWorkspace), world.Fill(wish)));
  }
}

// It does tighten: no Git metadata, which cannot be protected in a project that may be written.
TEST_F(SettingsEscape, AnUntrustedProjectFileThatAsksForLessGetsIt) {
  World world;
  ExpectUnreadable(world, world.scratch().Input(SettingsText(world, kWorkspace), R"({"profile": "agent"})"),
                   "", EscapeOutcome::Kind::kNotStarted);
}

TEST_F(SettingsEscape, AnUntrustedProjectFileOpensNoNetworkAndNoSocket) {
  for (const auto& [wish, command] :
       {std::pair<const char*, std::vector<std::string>>{R"({"allow_network": true})",
                                                         {"escape_network", "tcp", "{tcp}"}},
        {R"({"profile": "network-allow-all"})", {"escape_network", "tcp", "{tcp}"}},
        {R"({"unix_sockets": ["{private}/stream"]})",
         {"escape_unix", "connect", "stream", "{private}/stream"}}}) {
    SCOPED_TRACE(wish);
    World world;
    SpawnRequest request = RequestInside(world, command, kWorkspace);
    PolicyInput input = world.scratch().Input(SettingsText(world, kWorkspace), world.Fill(wish));
    input.env = {{"PATH", "/usr/bin:/bin"}};
    request.policy = world.scratch().Resolve(std::move(input));
    const EscapeOutcome inside = Perform(request);
    EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kRefused) << "ESCAPED: " << ToString(inside);
    EXPECT_EQ(world.CountVisits().visitors + world.CountVisits().connections, 0);
    World outside;
    EXPECT_EQ(Perform(RequestOutside(outside, command)).kind, EscapeOutcome::Kind::kDone);
  }
}

}  // namespace
}  // namespace spty
