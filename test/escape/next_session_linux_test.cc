// What one session leaves behind for the next one: links in the place of what the next one is granted.
#include <gtest/gtest.h>

#include <cerrno>

#include "escape/harness.h"

namespace spty {
namespace {

class NextSession : public Escape {
 protected:
  // Runs a script under a policy that may write the project and {shared}. It must succeed.
  static void Plant(const World& world, const std::string& script) {
    SpawnRequest request = ShellRequest(world.Fill(script) + " && echo planted");
    request.cwd = world.scratch().project();
    PolicyInput input = world.scratch().Input(SettingsText(world, kShared));
    input.env = {{"PATH", "/usr/bin:/bin"}};
    request.policy = world.scratch().Resolve(std::move(input));
    LiveSession session(request);
    ASSERT_TRUE(session.ok()) << Describe(session.error());
    std::string output;
    session.ReadToEnd(&output);
    ASSERT_NE(output.find("planted"), std::string::npos) << "void: " << output;
  }

  static SpawnRequest With(const World& world, const std::vector<std::string>& command,
                           const std::string& members, std::vector<EnvVar> env = {}) {
    SpawnRequest request = RequestInside(world, command, kWorkspace);
    PolicyInput input = world.scratch().Input(SettingsText(world, members));
    input.env = std::move(env);
    input.env.push_back({"PATH", "/usr/bin:/bin"});
    request.policy = world.scratch().Resolve(std::move(input));
    return request;
  }

  static void ExpectSkipped(const SpawnRequest& request, const std::string& text, SkipReason reason) {
    const SkippedPath* skipped = FindSkipped(*request.policy, text);
    ASSERT_NE(skipped, nullptr) << text;
    EXPECT_EQ(NameOf(skipped->reason), NameOf(reason));
  }

  static void ExpectRefused(const EscapeOutcome& outcome) {
    EXPECT_EQ(outcome.kind, EscapeOutcome::Kind::kRefused) << "ESCAPED: " << ToString(outcome);
    EXPECT_EQ(ErrnoName(outcome.err), ErrnoName(EACCES)) << ToString(outcome);
    EXPECT_EQ(outcome.output.find(kSecret), std::string::npos) << outcome.output;
  }
};

const std::vector<std::string> kConnect = {"escape_unix", "connect", "stream", "{private}/stream"};
const std::vector<std::string> kReadSecret = {"escape_files", "read", "{private}/secret"};
const std::string kTerminal = R"("profile": "terminal", "additional_read_write_paths": ["{shared}"])";

// The agent's socket, moved away, and a link to another server under its name.
TEST_F(NextSession, ALinkInThePlaceOfTheAgentLeadsNowhere) {
  for (const char* target : {"{private}/stream", "{private}", "/"}) {
    SCOPED_TRACE(target);
    World world;
    const std::string agent = world.Fill("{shared}/stream");
    const std::vector<EnvVar> env = {{"SSH_AUTH_SOCK", agent}};
    const std::vector<std::string> own = {"escape_unix", "connect", "stream", "{shared}/stream"};
    EXPECT_EQ(Perform(With(world, own, kTerminal, env)).kind, EscapeOutcome::Kind::kDone)
        << "void: the agent itself cannot be reached";
    EXPECT_EQ(Perform(RequestOutside(world, kConnect)).kind, EscapeOutcome::Kind::kDone);
    Plant(world, std::string("mv {shared}/stream {shared}/moved && ln -s ") + target + " {shared}/stream");
    const SpawnRequest next = With(world, kConnect, kTerminal, env);
    ExpectSkipped(next, "$SSH_AUTH_SOCK", SkipReason::kWritableLink);
    ExpectRefused(Perform(next));
    const SpawnRequest granted =
        With(world, kConnect, kTerminal + R"(, "unix_sockets": ["{private}/stream"])", env);
    EXPECT_EQ(Perform(granted).kind, EscapeOutcome::Kind::kDone);
  }
}

TEST_F(NextSession, ADirectoryInThePlaceOfTheAgentIsNoAgent) {
  World world;
  const std::string agent = world.Fill("{shared}/stream");
  Plant(world, "mv {shared}/stream {shared}/moved && mkdir {shared}/stream");
  const SpawnRequest next = With(world, kConnect, kTerminal, {{"SSH_AUTH_SOCK", agent}});
  ExpectSkipped(next, "$SSH_AUTH_SOCK", SkipReason::kNoSocket);
  EXPECT_EQ(next.policy->FindSocketRule(agent), nullptr);
}

// Also one that the settings name, and although this session's policy does not open its directory.
TEST_F(NextSession, ALinkInThePlaceOfAListedSocketLeadsNowhere) {
  World world;
  Plant(world, "mv {shared}/stream {shared}/moved && ln -s {private}/stream {shared}/stream");
  const std::string listed = std::string(kWorkspace) + R"(, "unix_sockets": ["{shared}/stream"])";
  const SpawnRequest next = With(world, kConnect, listed);
  ExpectSkipped(next, world.Fill("{shared}/stream"), SkipReason::kWritableLink);
  ExpectRefused(Perform(next));
}

// A file, a directory, and a directory above: each granted to the next session for itself.
TEST_F(NextSession, ALinkInThePlaceOfAGrantLeadsNowhere) {
  struct Case {
    std::string granted;
    std::string script;
  };
  for (const Case& planted :
       {Case{"cache", "rm -r cache && ln -s {private} cache"},
        Case{"cache/sub", "mv cache {shared}/moved && ln -s {private} cache"},
        Case{"cache/file", "rm cache/file && ln -s {private}/secret cache/file"},
        Case{"{shared}/user", "mv {shared}/user {shared}/moved && ln -s {private} {shared}/user"}}) {
    SCOPED_TRACE(planted.script);
    World world;
    world.scratch().File("home/me/project/cache/file", "harmless");
    world.scratch().Dir("home/me/project/cache/sub");
    world.scratch().Dir("home/me/private/sub");
    const std::string granted = world.Fill(planted.granted);
    const std::string settings =
        std::string(kShared) + R"(, "additional_read_only_paths": [")" + granted + "\"]";
    EXPECT_EQ(FindSkipped(*With(world, kReadSecret, settings).policy, granted), nullptr)
        << "void: not granted in the first place";
    EXPECT_EQ(Perform(RequestOutside(world, kReadSecret)).kind, EscapeOutcome::Kind::kDone);
    Plant(world, planted.script);
    const SpawnRequest next = With(world, kReadSecret, settings);
    ExpectSkipped(next, granted, SkipReason::kWritableLink);
    ExpectRefused(Perform(next));
    const SpawnRequest spelled =
        With(world, kReadSecret, std::string(kShared) + R"(, "additional_read_only_paths": ["{private}"])");
    EXPECT_EQ(Perform(spelled).kind, EscapeOutcome::Kind::kDone);
  }
}

// A project in a shared directory that became a link is refused; one that the user reaches by a link of their
// own is not.
TEST_F(NextSession, ALinkInThePlaceOfTheProjectIsRefused) {
  World world;
  world.scratch().Dir("shared/project");
  PolicyInput input = world.scratch().Input(SettingsText(world, kShared));
  input.project_dir = world.Fill("{shared}/project");
  EXPECT_TRUE(ResolvePolicy(input).ok());
  Plant(world, "rmdir {shared}/project && ln -s {private} {shared}/project");
  const auto refused = ResolvePolicy(input);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().at.pointer, "/projectDir");
  input.project_dir = world.scratch().Link("home/me/here", world.private_dir());
  EXPECT_TRUE(ResolvePolicy(input).ok());
}

// Another session may write beside the private directory while this one is being prepared.
TEST_F(NextSession, ALinkInThePlaceOfThePrivateDirectoryIsRefused) {
  World world;
  world.scratch().Dir("shared/temp");
  PolicyInput input = world.scratch().Input(SettingsText(world, kWorkspace));
  input.temp_dir = world.Fill("{shared}/temp");
  EXPECT_TRUE(ResolvePolicy(input).ok());
  Plant(world, "rmdir {shared}/temp && ln -s {private} {shared}/temp");
  const auto refused = ResolvePolicy(input);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().at.pointer, "/tempDir");
}

// A plain directory in its place could be read by whoever made it.
TEST_F(NextSession, AnExchangedPrivateDirectoryIsNoticed) {
  for (const bool exchange : {false, true}) {
    World world;
    auto prepared = PrepareKeeper(SPTY_KEEPER_PATH, world.Fill("{shared}/temp-"));
    ASSERT_TRUE(prepared.ok()) << Describe(prepared.error());
    const std::string temp = prepared.value().temp_dir;
    if (exchange) Plant(world, "mv " + temp + " " + temp + ".moved && mkdir " + temp);
    SpawnRequest request = RequestInside(world, {"escape_files", "nothing"}, kWorkspace);
    PolicyInput input = world.scratch().Input(SettingsText(world, kWorkspace));
    input.temp_dir = temp;
    request.policy = world.scratch().Resolve(std::move(input));
    request.temp_dir = temp;
    const std::shared_ptr<Pump> pump = AcquirePump();
    Listener listener;
    auto session = Session::Spawn(request, std::move(prepared).value(), *pump, &listener);
    if (exchange) {
      ASSERT_FALSE(session.ok());
      EXPECT_EQ(session.error().stage, Stage::kTemp);
      EXPECT_EQ(ErrnoName(session.error().err), ErrnoName(ESTALE));
    } else {
      ASSERT_TRUE(session.ok()) << Describe(session.error());
      session.value()->Release();
    }
  }
}

}  // namespace
}  // namespace spty
