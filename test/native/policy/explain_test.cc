#include "policy/explain.h"

#include <gtest/gtest.h>

#include "policy/scratch.h"

namespace spty {
namespace {

class ExplainTest : public ::testing::Test {
 protected:
  ExplainTest() {
    scratch_.File("home/me/.ssh/id_ed25519");
    scratch_.File("home/me/.zshrc");
    scratch_.File("home/me/project/src/main.c");
    scratch_.File("home/me/documents/letter");
    scratch_.File("home/me/.cargo/bin/cargo");
    scratch_.Dir("home/me/project/.git/objects");
    scratch_.File("home/me/project/.git/HEAD");
  }
  Explanation Ask(const std::string& settings, Access access, const std::string& target) {
    return Explain(*scratch_.Resolve(settings), access, target);
  }
  // Follows the advice and asks again.
  void ExpectAdviceHelps(const std::string& fields, Access access, const std::string& target) {
    SCOPED_TRACE(fields + " " + std::string(NameOf(access)) + " " + target);
    const Explanation denied = Ask("{\"enabled\": true" + fields + "}", access, target);
    ASSERT_FALSE(denied.allowed);
    ASSERT_TRUE(denied.suggestion.has_value());
    ASSERT_FALSE(denied.suggestion->pointer.empty()) << denied.suggestion->text;
    std::string key = denied.suggestion->pointer.substr(1);
    std::string value = "\"" + denied.suggestion->value + "\"";
    if (denied.suggestion->value == "true") value = "true";
    if (key.ends_with("/-")) {
      key.resize(key.size() - 2);
      value = "[" + value + "]";
    }
    const Explanation after =
        Ask("{\"enabled\": true" + fields + ", \"" + key + "\": " + value + "}", access, target);
    EXPECT_TRUE(after.allowed) << ExplanationToText(denied) << ExplanationToText(after);
    // With the Git metadata opened it is the project's grant that reaches it.
    if (key == "git_access") return;
    EXPECT_EQ(after.by.layer, Layer::kUser);
    EXPECT_TRUE(after.by.pointer.starts_with("/" + key)) << after.by.pointer;
  }

  Scratch scratch_;
};

constexpr char kOn[] = R"({"enabled": true})";

TEST_F(ExplainTest, SaysWhatAllows) {
  const Explanation project = Ask(kOn, Access::kWrite, "./src/main.c");
  EXPECT_TRUE(project.allowed);
  EXPECT_EQ(project.by, (Origin{Layer::kCaller, "/projectDir"}));
  EXPECT_EQ(project.resolved, scratch_.Project("src/main.c"));
  const Explanation env = Ask(kOn, Access::kExecute, "/usr/bin/env");
  EXPECT_EQ(env.by, (Origin{Layer::kDefault, "/system_paths/executable/0"}));
  const Explanation user = Ask(R"({"enabled": true, "additional_read_only_paths": ["~/documents"]})",
                               Access::kRead, "~/documents/letter");
  EXPECT_EQ(user.by, (Origin{Layer::kUser, "/additional_read_only_paths/0"}));
  const Explanation off = Ask("{}", Access::kWrite, "/etc/passwd");
  EXPECT_TRUE(off.allowed);
  EXPECT_EQ(off.by.pointer, "/enabled");
}

TEST_F(ExplainTest, SuggestsTheSshDirectoryWithAWarning) {
  const Explanation e = Ask(kOn, Access::kRead, "~/.ssh");
  EXPECT_FALSE(e.allowed);
  EXPECT_EQ(e.suggestion->text, "Add ~/.ssh to additional_read_only_paths.");
  EXPECT_EQ(e.suggestion->pointer, "/additional_read_only_paths/-");
  EXPECT_FALSE(e.suggestion->caution.empty());
  EXPECT_EQ(e.by, (Origin{Layer::kDefault, "/denied_read_paths/0"}));
  const std::string text = ExplanationToText(e);
  EXPECT_NE(text.find("denied"), std::string::npos);
  EXPECT_NE(text.find("lightly"), std::string::npos);
  EXPECT_TRUE(Ask(kOn, Access::kRead, "~/documents").suggestion->caution.empty());
}

TEST_F(ExplainTest, TheAdviceHelps) {
  ExpectAdviceHelps("", Access::kRead, "~/.ssh/id_ed25519");
  ExpectAdviceHelps(R"(, "profile": "agent")", Access::kRead, "~/.ssh/id_ed25519");
  ExpectAdviceHelps("", Access::kRead, "~/documents/letter");
  ExpectAdviceHelps("", Access::kWrite, "~/documents/new");
  ExpectAdviceHelps("", Access::kWrite, "~/.zshrc");
  ExpectAdviceHelps("", Access::kExecute, "~/.cargo/bin/cargo");
  ExpectAdviceHelps(R"(, "profile": "read-only")", Access::kWrite, "./src/main.c");
  ExpectAdviceHelps(R"(, "profile": "agent")", Access::kRead, "./.git/HEAD");
  ExpectAdviceHelps(R"(, "profile": "read-only")", Access::kWrite, "./.git/objects/aa");
  ExpectAdviceHelps(R"(, "profile": "agent")", Access::kWrite, "./.git/hooks/x");
  ExpectAdviceHelps(R"(, "allow_network": false)", Access::kConnect, "registry.npmjs.org:443");
  ExpectAdviceHelps("", Access::kConnect, "/run/docker.sock");
}

TEST_F(ExplainTest, GitAdviceIsTheLeast) {
  EXPECT_EQ(Ask(R"({"enabled": true, "git_access": "none"})", Access::kRead, "./.git/HEAD").suggestion->value,
            "read");
  EXPECT_EQ(
      Ask(R"({"enabled": true, "git_access": "none"})", Access::kWrite, "./.git/objects/a").suggestion->value,
      "commit");
  const Explanation hooks =
      Ask(R"({"enabled": true, "git_access": "commit"})", Access::kWrite, "./.git/hooks/a");
  EXPECT_EQ(hooks.suggestion->value, "full");
  EXPECT_FALSE(hooks.suggestion->caution.empty());
}

TEST_F(ExplainTest, Hosts) {
  EXPECT_TRUE(Ask(kOn, Access::kConnect, "github.com").allowed);
  const std::string some =
      R"({"enabled": true, "network_hosts": ["*.a.example", "b.example:22"], "denied_domains": ["x.a.example"]})";
  EXPECT_EQ(Ask(some, Access::kConnect, "y.a.example").by.pointer, "/network_hosts/0");
  EXPECT_FALSE(Ask(some, Access::kConnect, "b.example:443").allowed);
  EXPECT_TRUE(Ask(some, Access::kConnect, "B.Example.:22").allowed);
  const Explanation denied = Ask(some, Access::kConnect, "x.a.example");
  EXPECT_EQ(denied.by.pointer, "/denied_domains/0");
  EXPECT_TRUE(denied.suggestion->pointer.empty());
  const Explanation address = Ask(some, Access::kConnect, "10.0.0.1:80");
  EXPECT_FALSE(address.allowed);
  EXPECT_FALSE(address.suggestion->caution.empty());
  EXPECT_FALSE(Ask(some, Access::kConnect, "::1").allowed);
}

TEST_F(ExplainTest, Sockets) {
  EXPECT_TRUE(Ask(kOn, Access::kConnect, "./dev.sock").allowed);
  const Explanation docker = Ask(kOn, Access::kConnect, "/run/docker.sock");
  EXPECT_FALSE(docker.allowed);
  EXPECT_FALSE(docker.suggestion->caution.empty());
  // Being writable is not being reachable.
  EXPECT_FALSE(Ask(R"({"enabled": true, "additional_read_write_paths": ["~/documents"]})", Access::kConnect,
                   "~/documents/s")
                   .allowed);
}

TEST_F(ExplainTest, SocketsOfAProjectThatIsEverybodysPlace) {
  Grant grant;
  grant.rights = Rights::kReadWrite;
  grant.kind = GrantKind::kProject;
  for (const char* shared :
       {"/", "/tmp", "/var", "/run", "/run/user", "/run/user/1000", "/dev", "/private"}) {
    grant.pin.path = shared;
    EXPECT_FALSE(MayHoldSockets(grant)) << shared;
  }
  for (const char* own : {"/tmp/x", "/home/me", "/var/www", "/run/user/1000/x", "/srv"}) {
    grant.pin.path = own;
    EXPECT_TRUE(MayHoldSockets(grant)) << own;
  }
  grant.rights = Rights::kReadExecute;
  EXPECT_FALSE(MayHoldSockets(grant)) << "what may not be written may not be talked to";
}

// Landlock grants around what is protected, so that the directory itself is out of reach.
TEST_F(ExplainTest, DirectoriesThatHoldSomethingProtected) {
  const std::string settings = R"({"enabled": true, "additional_read_write_paths": ["~/documents"],
                                   "denied_read_paths": ["~/documents/secret"]})";
  scratch_.File("home/me/documents/secret");
  scratch_.Dir("home/me/documents/open");
  EXPECT_TRUE(Ask(settings, Access::kRead, "~/documents/letter").allowed);
  EXPECT_TRUE(Ask(settings, Access::kWrite, "~/documents/open/new").allowed);
  const Explanation listing = Ask(settings, Access::kRead, "~/documents");
  EXPECT_FALSE(listing.allowed);
  EXPECT_NE(listing.reason.find("~/documents/secret"), std::string::npos) << listing.reason;
  const Explanation fresh = Ask(settings, Access::kWrite, "~/documents/new");
  EXPECT_FALSE(fresh.allowed);
  EXPECT_NE(fresh.suggestion->text.find("Create ~/documents/new before"), std::string::npos);
  // Nor is the advice to grant such a directory for the sake of something new in it.
  const Explanation advised = Ask(R"({"enabled": true, "denied_read_paths": ["~/documents/secret"]})",
                                  Access::kWrite, "~/documents/new");
  EXPECT_FALSE(advised.allowed);
  EXPECT_TRUE(advised.suggestion->pointer.empty()) << advised.suggestion->text;
  EXPECT_FALSE(
      Ask(R"({"enabled": true, "allow_fs_write_all": true})", Access::kWrite, "/proc/self/comm").allowed);
}

TEST_F(ExplainTest, WhatCannotBeResolvedIsDenied) {
  scratch_.Link("home/me/loop", "loop");
  EXPECT_FALSE(Ask(kOn, Access::kRead, "~/loop").allowed);
  EXPECT_FALSE(Ask(kOn, Access::kRead, std::string("/etc\0/x", 7)).allowed);
  EXPECT_FALSE(Ask(kOn, Access::kRead, "$NOPE/x").allowed);
}

TEST_F(ExplainTest, AMissingPathInHomeMustBeMadeFirst) {
  const Explanation e = Ask(kOn, Access::kWrite, "~/new");
  EXPECT_TRUE(e.suggestion->pointer.empty());
  EXPECT_NE(e.suggestion->text.find("Create ~/new first"), std::string::npos);
}

// The table of what a hostile program can and cannot do with the defaults, as far as files and hosts decide
// it.
TEST_F(ExplainTest, TheDefaultBaseline) {
  const struct {
    Access access;
    const char* target;
    bool allowed;
  } rows[] = {
      {Access::kRead, "./src/main.c", true},       {Access::kWrite, "./src/main.c", true},
      {Access::kExecute, "/usr/bin/env", true},    {Access::kExecute, "~/.cargo/bin/cargo", false},
      {Access::kRead, "~/documents", false},       {Access::kRead, "/etc/passwd", true},
      {Access::kWrite, "/etc/passwd", false},      {Access::kRead, "~/.ssh/config", false},
      {Access::kConnect, "evil.com", true},        {Access::kWrite, "/usr/bin/x", false},
      {Access::kRead, "~/.ssh/id_ed25519", false}, {Access::kRead, "~/.zshrc", true},
      {Access::kWrite, "~/.zshrc", false},         {Access::kRead, "/home/other/x", false},
      {Access::kWrite, "/usr/local/bin/x", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Ask(kOn, row.access, row.target).allowed, row.allowed)
        << NameOf(row.access) << " " << row.target;
  }
  const SettingsResult<ResolvedSettings> resolved =
      ResolveSettings(LayersInput{{}, {}, {}, Platform::kLinux, false});
  PolicyInput input = scratch_.Input(kOn);
  Scratch::Change(input,
                  [&](Settings& settings) { settings.read_write = resolved.value().settings.read_write; });
  // Not by Explain: the scratch home may lie in there, and then nothing new can be made around its holes.
  EXPECT_TRUE(scratch_.Resolve(std::move(input))->Decide("/tmp/x", Rights::kReadWrite).allowed);
}

// What is left out on purpose, and the setting that brings it in.
TEST_F(ExplainTest, TheExcludedPathsAndHowToAddThem) {
  const struct {
    const char* path;
    Access access;
    const char* list;
  } rows[] = {
      {"~/.ssh", Access::kRead, "additional_read_only_paths"},
      {"~/.gnupg", Access::kRead, "additional_read_only_paths"},
      {"~/.cargo/registry", Access::kWrite, "additional_read_write_paths"},
      {"~/.cargo/git", Access::kWrite, "additional_read_write_paths"},
      {"~/.cargo/bin", Access::kExecute, "additional_executable_paths"},
      {"~/.rustup/toolchains", Access::kExecute, "additional_executable_paths"},
      {"~/.npm", Access::kWrite, "additional_read_write_paths"},
      {"~/.cache", Access::kWrite, "additional_read_write_paths"},
      {"~/.local/bin", Access::kExecute, "additional_executable_paths"},
      {"~/.nvm", Access::kExecute, "additional_executable_paths"},
      {"~/.volta", Access::kExecute, "additional_executable_paths"},
      {"~/.pyenv", Access::kExecute, "additional_executable_paths"},
      {"~/.rbenv", Access::kExecute, "additional_executable_paths"},
      {"~/.asdf", Access::kExecute, "additional_executable_paths"},
      {"~/Library/Keychains", Access::kRead, "additional_read_only_paths"},
  };
  for (const auto& row : rows) scratch_.Dir(std::string("home/me") + (row.path + 1));
  for (const auto& row : rows) {
    const Explanation denied = Ask(kOn, row.access, row.path);
    EXPECT_FALSE(denied.allowed) << row.path;
    EXPECT_EQ(denied.suggestion->text, "Add " + std::string(row.path) + " to " + row.list + ".");
    ExpectAdviceHelps("", row.access, row.path);
  }
}

TEST_F(ExplainTest, JsonForPrograms) {
  const std::string json = ExplanationToJson(Ask(kOn, Access::kRead, "~/.ssh"));
  EXPECT_NE(json.find(R"("allowed":false)"), std::string::npos);
  EXPECT_NE(json.find(R"("by":{"layer":"default","pointer":"/denied_read_paths/0"})"), std::string::npos);
}

}  // namespace
}  // namespace spty
