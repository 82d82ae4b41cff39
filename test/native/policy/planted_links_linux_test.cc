// Grants and sockets that are reached through links in places where sessions may write.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/path_text.h"
#include "policy/planted_links.h"
#include "policy/scratch.h"

namespace spty {
namespace {

class PlantedLinksTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Policy> With(const std::string& members) const {
    return scratch_.Resolve(R"({"enabled": true, "profile": "workspace", )" + members + "}");
  }
  static bool IsSkipped(const Policy& policy, const std::string& text) {
    const SkippedPath* skipped = FindSkipped(policy, text);
    return skipped != nullptr && skipped->reason == SkipReason::kWritableLink;
  }
  // A socket at a short name: its address has little room.
  std::string Socket(const std::string& relative) const {
    const std::string path = scratch_.Path(relative);
    const Fd fd(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof name.sun_path - 1);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    return path;
  }

  Scratch scratch_;
};

TEST_F(PlantedLinksTest, LookingUpTellsTheLinksOnTheWay) {
  const std::vector<EnvVar> none;
  scratch_.Dir("data/deep");
  scratch_.Link("home/me/a", scratch_.Path("b"));
  scratch_.Link("b", "data");
  scratch_.Link("data/up", "..");
  PathResolver resolver(scratch_.home(), scratch_.project(), none);
  const auto links = [&](const std::string& path) {
    Result<PathLookup> found = resolver.LookUp(path);
    EXPECT_TRUE(found.ok()) << path;
    return found.ok() ? found.value().link_directories : std::vector<std::string>{"?"};
  };
  const std::string root = ParentOf(scratch_.Path("x"));
  EXPECT_EQ(links(scratch_.Path("data/deep")), std::vector<std::string>());
  EXPECT_EQ(links(scratch_.Home("a/deep")), (std::vector<std::string>{scratch_.home(), root}));
  EXPECT_EQ(links(scratch_.Home("a/missing")), (std::vector<std::string>{scratch_.home(), root}));
  EXPECT_EQ(links(scratch_.Path("data/up/b/deep")), (std::vector<std::string>{scratch_.Path("data"), root}));
  EXPECT_EQ(links(scratch_.Home("a/../data")), (std::vector<std::string>{scratch_.home(), root}));
}

TEST_F(PlantedLinksTest, ALinkInTheProjectWidensNothing) {
  scratch_.Dir("home/me/other");
  scratch_.Link("home/me/project/out", "../other");
  const auto policy = With(R"("additional_read_only_paths": ["out"])");
  EXPECT_TRUE(IsSkipped(*policy, "out"));
  EXPECT_FALSE(policy->Decide(scratch_.Home("other/x"), Rights::kRead).allowed);
  const auto spelled = With(R"("additional_read_only_paths": ["~/other"])");
  EXPECT_TRUE(spelled->Decide(scratch_.Home("other/x"), Rights::kRead).allowed);
}

// Also if the session may not write to the project, but to a part of it; and not if it may write to nothing.
TEST_F(PlantedLinksTest, OnlyWhereTheSessionMayWrite) {
  scratch_.Dir("home/me/other");
  scratch_.Link("home/me/project/sub/out", "../../other");
  scratch_.Link("home/me/project/out", "../other");
  const auto policy = scratch_.Resolve(R"({"enabled": true, "profile": "read-only",
      "additional_read_write_paths": ["sub"], "additional_read_only_paths": ["sub/out"]})");
  EXPECT_TRUE(IsSkipped(*policy, "sub/out"));
  const auto reads =
      scratch_.Resolve(R"({"enabled": true, "profile": "read-only", "additional_read_only_paths": ["out"]})");
  EXPECT_TRUE(reads->Decide(scratch_.Home("other/x"), Rights::kRead).allowed);
}

TEST_F(PlantedLinksTest, LinksOfTheUserAreFollowed) {
  scratch_.Dir("data/tools");
  scratch_.Link("home/me/tools", scratch_.Path("data/tools"));
  scratch_.Link("home/me/again", "tools");
  const auto policy = With(R"("additional_read_write_paths": ["~/again"])");
  EXPECT_TRUE(policy->Decide(scratch_.Path("data/tools/x"), Rights::kReadWrite).allowed);
  EXPECT_FALSE(IsSkipped(*policy, "~/again"));
}

TEST_F(PlantedLinksTest, ALinkToWhatIsGrantedAnywayIsNoMatter) {
  scratch_.Dir("home/me/project/src");
  scratch_.Link("home/me/project/current", "src");
  const auto policy = With(R"("additional_read_only_paths": ["current"])");
  EXPECT_EQ(FindSkipped(*policy, "current"), nullptr);
  EXPECT_TRUE(policy->Decide(scratch_.Project("src/x"), Rights::kReadWrite).allowed);
}

// What is writable through an honest link counts too; and a planted link to everything takes nothing else
// away.
TEST_F(PlantedLinksTest, WritableThroughALink) {
  scratch_.Dir("data/work");
  scratch_.Dir("home/me/other");
  scratch_.Link("home/me/work", scratch_.Path("data/work"));
  scratch_.Link("data/work/out", scratch_.Home("other"));
  const auto policy =
      With(R"("additional_read_only_paths": ["~/work/out"], "additional_read_write_paths": ["~/work"])");
  EXPECT_TRUE(IsSkipped(*policy, "~/work/out"));
  EXPECT_TRUE(policy->Decide(scratch_.Path("data/work/x"), Rights::kReadWrite).allowed);
  scratch_.Link("home/me/project/all", "/");
  const auto all = With(R"("additional_read_write_paths": ["all", "~/work"])");
  EXPECT_TRUE(IsSkipped(*all, "all"));
  EXPECT_TRUE(all->Decide(scratch_.Path("data/work/x"), Rights::kReadWrite).allowed);
  EXPECT_FALSE(all->Decide(scratch_.Home("other"), Rights::kRead).allowed);
}

TEST_F(PlantedLinksTest, SocketsAreNotReachedThroughLinksOfTheUser) {
  Socket("s");
  scratch_.Link("home/me/link", scratch_.Path("s"));
  scratch_.Link("home/me/later", scratch_.Path("not-yet"));
  const auto policy = With(R"("unix_sockets": ["~/link", "~/later"])");
  EXPECT_TRUE(IsSkipped(*policy, "~/link"));
  EXPECT_TRUE(IsSkipped(*policy, "~/later"));
  EXPECT_EQ(policy->FindSocketRule(scratch_.Path("s")), nullptr);
  EXPECT_EQ(policy->FindSocketRule(scratch_.Path("not-yet")), nullptr);
  const auto spelled = With("\"unix_sockets\": [\"" + scratch_.Path("s") + "\"]");
  EXPECT_NE(spelled->FindSocketRule(scratch_.Path("s")), nullptr);
}

TEST_F(PlantedLinksTest, SocketsAreReachedThroughLinksOfTheSystem) {
  char target[64] = {};
  if (readlink("/var/run", target, sizeof target - 1) <= 0) GTEST_SKIP() << "/var/run is no link";
  const auto policy = With(R"("unix_sockets": ["/var/run/spty-nothing.sock"])");
  EXPECT_FALSE(IsSkipped(*policy, "/var/run/spty-nothing.sock"));
  EXPECT_NE(policy->FindSocketRule("/run/spty-nothing.sock"), nullptr);
}

// A link to the agent in ~/.ssh is how people keep it reachable in tmux. No session may write there.
TEST_F(PlantedLinksTest, TheAgentIsReachedThroughALinkInAHole) {
  const std::string agent = Socket("agent");
  scratch_.Link("home/me/.ssh/sock", agent);
  const auto resolve = [&](const std::string& members) {
    PolicyInput input = scratch_.Input(R"({"enabled": true, "profile": "terminal")" + members + "}");
    input.env = {{"SSH_AUTH_SOCK", scratch_.Home(".ssh/sock")}};
    return scratch_.Resolve(std::move(input));
  };
  EXPECT_NE(resolve("")->FindSocketRule(agent), nullptr);
  const auto opened = resolve(R"(, "additional_read_write_paths": ["~/.ssh"])");
  EXPECT_TRUE(IsSkipped(*opened, "$SSH_AUTH_SOCK"));
  EXPECT_EQ(opened->FindSocketRule(agent), nullptr);
}

// A session may have written the project's settings, too. What they take away does not make its links
// trustworthy.
TEST_F(PlantedLinksTest, AProjectThatTightensDoesNotMakeItsLinksTrusted) {
  scratch_.Dir("home/me/other");
  scratch_.Link("home/me/project/out", "../other");
  scratch_.Link("home/me/.bashrc", "project/bashrc");
  scratch_.Link("home/me/project/bashrc", "../other");
  const std::string user = R"({"enabled": true, "additional_read_only_paths": ["out"]})";
  for (const char* project : {"{}", R"({"profile": "read-only"})", R"({"profile": "workspace"})"}) {
    const auto policy = scratch_.Resolve(scratch_.Input(user, project));
    EXPECT_TRUE(IsSkipped(*policy, "out")) << project;
    EXPECT_TRUE(IsSkipped(*policy, "~/.bashrc")) << project;
    EXPECT_FALSE(policy->Decide(scratch_.Home("other/x"), Rights::kRead).allowed) << project;
  }
  // The user's own choice: nobody could write there.
  const auto own =
      scratch_.Resolve(R"({"enabled": true, "profile": "read-only", "additional_read_only_paths": ["out"]})");
  EXPECT_TRUE(own->Decide(scratch_.Home("other/x"), Rights::kRead).allowed);
}

TEST_F(PlantedLinksTest, WhatAProjectTakesOffTheListsWasWritableBefore) {
  scratch_.Dir("home/me/other");
  scratch_.Link("home/me/cache/out", "../other");
  const std::string user =
      R"({"enabled": true, "profile": "workspace", "additional_read_write_paths": ["~/cache"],
                               "additional_read_only_paths": ["~/cache/out"]})";
  for (const char* project : {"{}", R"({"additional_read_write_paths": []})"}) {
    const auto policy = scratch_.Resolve(scratch_.Input(user, project));
    EXPECT_TRUE(IsSkipped(*policy, "~/cache/out")) << project;
  }
}

// A place that the project alone closes was open to the session that made the link.
TEST_F(PlantedLinksTest, AHoleOfTheProjectsOwnMakesNoLinkTrusted) {
  scratch_.Dir("run");
  scratch_.Link("run/agent", Socket("s"));
  const auto with = [&](const std::string& user, const std::string& project) {
    PolicyInput input = scratch_.Input(user, project);
    input.env = {{"SSH_AUTH_SOCK", scratch_.Path("run/agent")}};
    return scratch_.Resolve(std::move(input));
  };
  const std::string hole = R"("denied_read_paths": [")" + scratch_.Path("run") + "\"]";
  const auto by_project = with(R"({"enabled": true})", "{" + hole + "}");
  EXPECT_TRUE(IsSkipped(*by_project, "$SSH_AUTH_SOCK"));
  const auto by_user = with(R"({"enabled": true, )" + hole + "}", "{}");
  EXPECT_FALSE(IsSkipped(*by_user, "$SSH_AUTH_SOCK"));
  // Which of the user's grants have opened the place before is not known then.
  const auto by_both = with(R"({"enabled": true, )" + hole + "}", "{" + hole + "}");
  EXPECT_TRUE(IsSkipped(*by_both, "$SSH_AUTH_SOCK"));
}

TEST_F(PlantedLinksTest, OnlyASocketIsAnAgent) {
  scratch_.Dir("directory");
  for (const char* value : {"directory", "missing"}) {
    PolicyInput input = scratch_.Input(R"({"enabled": true, "profile": "terminal"})");
    input.env = {{"SSH_AUTH_SOCK", scratch_.Path(value)}};
    const auto policy = scratch_.Resolve(std::move(input));
    EXPECT_EQ(policy->FindSocketRule(scratch_.Path(value)), nullptr);
    ASSERT_NE(FindSkipped(*policy, "$SSH_AUTH_SOCK"), nullptr);
    EXPECT_EQ(FindSkipped(*policy, "$SSH_AUTH_SOCK")->path, scratch_.Path(value));
  }
}

}  // namespace
}  // namespace spty
