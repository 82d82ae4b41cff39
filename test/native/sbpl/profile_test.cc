// What the profiles say in particular, and that the evaluator refuses what it does not know.
#include "sbpl/profile.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "confine/seatbelt_profile.h"
#include "confine/seatbelt_text.h"
#include "sbpl/mac_policy.h"
#include "sbpl/pattern.h"

namespace spty::sbpl {
namespace {

constexpr char kMark[] = "/tmp/.sandboxed-pty-501-1794844621000000-11111111-2222-4333-8444-555555555555";
constexpr char kOther[] = "/tmp/.sandboxed-pty-501-1794844621000000-99999999-2222-4333-8444-555555555555";

Profile Parsed(const std::string& text) {
  std::string problem;
  auto profile = Profile::Parse(text, &problem);
  EXPECT_TRUE(profile) << problem << "\n" << text;
  return profile ? std::move(*profile) : Profile();
}

Profile Parsed(const Result<std::string>& text) {
  EXPECT_TRUE(text.ok());
  return Parsed(text.ok() ? text.value() : "");
}

Profile ProfileOf(std::string_view settings, SeatbeltOptions options = {kMark, "/dev/ttys009", 0}) {
  return Parsed(SeatbeltProfile(*MacPolicy(settings), options));
}

PolicyParts Confined() {
  PolicyParts parts;
  parts.confined = true;
  return parts;
}

Request Connect(const std::string& path) {
  Request request;
  request.operation = "network-outbound";
  request.unix_socket = true;
  request.path = path;
  return request;
}

TEST(SbplEvaluatorTest, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "(version 1)", "(version 2)(deny default)", "(version 1)(deny default)(allow everything)",
        "(version 1)(deny default)(allow file-read* (prefix \"/a\"))",
        "(version 1)(deny default)(allow mach-lookup (subpath \"/a\"))",
        "(version 1)(deny default)(allow file-read* mach-lookup)",
        "(version 1)(deny default)(allow file-read* (subpath \"a\"))",
        "(version 1)(deny default)(allow file-read* (subpath \"/a/\"))",
        "(version 1)(deny default)(allow file-read* (subpath \"/a\\n\"))",
        "(version 1)(deny default)(allow file-read* (subpath \"/a\")",
        "(version 1)(deny default)(allow network-outbound (remote ip \"example.com:443\"))",
        "(version 1)(deny default)(allow signal (target everybody))",
        "(version 1)(deny default)(allow file-read* (regex #\"a*\"))",
        "(version 1)(deny default)(deny process-exec* (with no-sandbox) (literal \"/a\"))",
        "(version 1)(deny default)(allow file-read* (with no-sandbox) (literal \"/a\"))",
        "(version 1)(deny default)(allow process-exec* (with report) (literal \"/a\"))",
        "(version 1)(deny default)(import \"x\")"}) {
    std::string problem;
    EXPECT_FALSE(Profile::Parse(text, &problem)) << text;
    EXPECT_FALSE(problem.empty()) << text;
  }
}

TEST(SbplEvaluatorTest, TheLastMatchDecides) {
  const Profile profile = Parsed(std::string(
      "(version 1)(deny default)(allow file-read* (subpath \"/a\"))(deny file-read-data (subpath \"/a/b\"))"
      "(allow file-read* (literal \"/a/b/c\"))"));
  EXPECT_TRUE(profile.AllowsFile("file-read-data", "/a/x"));
  EXPECT_FALSE(profile.AllowsFile("file-read-data", "/ab"));
  EXPECT_FALSE(profile.AllowsFile("file-read-data", "/a/b/x"));
  EXPECT_TRUE(profile.AllowsFile("file-read-metadata", "/a/b/x"));
  EXPECT_TRUE(profile.AllowsFile("file-read-data", "/a/b/c"));
  EXPECT_FALSE(profile.AllowsFile("file-read-data", "/a/b/c/d"));
  EXPECT_FALSE(profile.AllowsFile("file-write-data", "/a/x"));
}

TEST(SbplPatternTest, KnowsWhatWeWrite) {
  const auto matches = [](const char* pattern, const char* text) {
    const auto parsed = Pattern::Parse(pattern);
    EXPECT_TRUE(parsed) << pattern;
    return parsed && parsed->Matches(text);
  };
  EXPECT_TRUE(matches("^/dev/ttys[0-9]+$", "/dev/ttys012"));
  EXPECT_FALSE(matches("^/dev/ttys[0-9]+$", "/dev/ttys"));
  EXPECT_FALSE(matches("^/dev/ttys[0-9]+$", "/dev/ttys1x"));
  EXPECT_FALSE(matches("^/dev/ttys[0-9]+$", "x/dev/ttys1"));
  EXPECT_TRUE(matches("^/[aA]\\.b($|/)", "/A.b"));
  EXPECT_TRUE(matches("^/[aA]\\.b($|/)", "/a.b/c"));
  EXPECT_FALSE(matches("^/[aA]\\.b($|/)", "/a.bc"));
  EXPECT_FALSE(matches("^/[aA]\\.b($|/)", "/axb"));
  EXPECT_TRUE(matches("^apple\\.", "apple.shm"));
  for (const char* text : {"a", "^a*", "^a?", "^(a|b)", "^a$b", "^[^a]", "^[]", "^\\d", "^a|b"}) {
    EXPECT_FALSE(Pattern::Parse(text)) << text;
  }
}

TEST(SeatbeltTextTest, QuotesAndRefuses) {
  EXPECT_EQ(QuoteForProfile("/a b").value(), "\"/a b\"");
  EXPECT_EQ(QuoteForProfile("/a\"\\b").value(), "\"/a\\\"\\\\b\"");
  EXPECT_EQ(QuoteForProfile("/\xc3\xa4").value(), "\"/\xc3\xa4\"");
  for (const char* text : {"/a\nb", "/a\tb", "/a\x7f"}) {
    EXPECT_EQ(QuoteForProfile(text).error().err, EINVAL);
  }
}

TEST(SeatbeltTextTest, LinkedPlacesHaveTwoNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(Spellings("/Users/me"), (Names{"/Users/me"}));
  EXPECT_EQ(Spellings("/private/tmp/a"), (Names{"/private/tmp/a", "/tmp/a"}));
  EXPECT_EQ(Spellings("/etc"), (Names{"/etc", "/private/etc"}));
  EXPECT_EQ(Spellings("/etcetera"), (Names{"/etcetera"}));
  EXPECT_EQ(Spellings("/private"), (Names{"/private", "/etc", "/tmp", "/var"}));
}

TEST(SeatbeltProfileTest, RefusesPathsThatCouldEndAString) {
  PolicyParts parts = Confined();
  parts.grants.push_back(MacGrant("/p\n(allow default)", Rights::kRead));
  const auto profile = SeatbeltProfile(Policy(std::move(parts)), {kMark, "", 0});
  ASSERT_FALSE(profile.ok());
  EXPECT_EQ(profile.error().stage, Stage::kConfinement);
}

TEST(SeatbeltProfileTest, AQuoteInAPathStaysInIt) {
  PolicyParts parts = Confined();
  const std::string place = "/p\") (subpath \"/x";
  parts.grants.push_back(MacGrant(place, Rights::kRead));
  const Profile profile = Parsed(SeatbeltProfile(Policy(std::move(parts)), {kMark, "", 0}));
  EXPECT_TRUE(profile.AllowsFile("file-read-data", place + "/x"));
  EXPECT_FALSE(profile.AllowsFile("file-read-data", "/Users/me/.ssh/id"));
}

TEST(SeatbeltProfileTest, SignalsStayInTheSession) {
  const Profile profile = ProfileOf(R"({"enabled": true})");
  for (const char* target : {"self", "children", "same-sandbox", "others"}) {
    Request request;
    request.operation = "signal";
    request.target = target;
    EXPECT_EQ(profile.Allows(request), target != std::string("others")) << target;
  }
}

TEST(SeatbeltProfileTest, NoServiceStartsProgramsOutsideOrHandsOutKeys) {
  for (const char* settings : {R"({"enabled": true})", R"({"enabled": true, "profile": "agent"})"}) {
    const Profile profile = ProfileOf(settings);
    for (const char* name :
         {"com.apple.coreservices.launchservicesd", "com.apple.lsd.mapdb", "com.apple.lsd.open",
          "com.apple.lsd.modifydb", "com.apple.CoreServices.coreservicesd",
          "com.apple.xpc.launchd.domain.user", "com.apple.pasteboard.1", "com.apple.windowserver.active",
          "com.apple.SecurityServer", "com.apple.securityd.xpc", "com.apple.tccd", "com.apple.appleeventsd",
          "com.apple.fonts"}) {
      Request request;
      request.operation = "mach-lookup";
      request.name = name;
      EXPECT_FALSE(profile.Allows(request)) << name;
      request.name = "com.apple.system.opendirectoryd.libinfo";
      EXPECT_TRUE(profile.Allows(request));
    }
  }
}

TEST(SeatbeltProfileTest, NameServicesComeWithTheNetwork) {
  for (const auto& [settings, expected] :
       {std::pair(R"({"enabled": true, "allow_network": true})", true),
        std::pair(R"({"enabled": true, "allow_network": false})", false)}) {
    const Profile profile = ProfileOf(settings);
    Request request;
    request.operation = "mach-lookup";
    request.name = "com.apple.SystemConfiguration.DNSConfiguration";
    EXPECT_EQ(profile.Allows(request), expected);
    EXPECT_EQ(profile.Allows(Connect("/private/var/run/mDNSResponder")), expected);
  }
}

// Without a proxy that tells hosts apart there are none.
TEST(SeatbeltProfileTest, CertainHostsAreNoHostsButThePortOfAProxy) {
  constexpr char kHosts[] = R"({"enabled": true, "network_hosts": ["example.org"]})";
  Request request;
  request.operation = "network-outbound";
  for (const uint16_t proxy : {uint16_t{0}, uint16_t{4128}}) {
    const Profile profile = ProfileOf(kHosts, {kMark, "/dev/ttys009", proxy});
    for (const char* host : {"93.184.216.34", "localhost"}) {
      for (const int port : {0, 80, 443, 4128}) {
        request.host = host;
        request.port = port;
        const bool is_proxy = proxy != 0 && port == proxy && request.host == "localhost";
        EXPECT_EQ(profile.Allows(request), is_proxy) << proxy << " " << host << ":" << port;
      }
    }
  }
  EXPECT_TRUE(ProfileOf(R"({"enabled": true, "allow_network": true})").Allows(request)) << "all of it";
}

TEST(SeatbeltProfileTest, AnOpenNetworkOpensNoUnixSockets) {
  const Profile profile = ProfileOf(R"({"enabled": true, "allow_network": true})");
  for (const char* path : {"/private/var/run/docker.sock", "/Users/me/.docker/run/docker.sock",
                           "/private/tmp/tmux-501/default", "/private/var/folders/zz/me/T/vscode.sock"}) {
    EXPECT_FALSE(profile.Allows(Connect(path))) << path;
  }
  EXPECT_TRUE(profile.Allows(Connect("/Users/me/project/server.sock")));
  EXPECT_TRUE(profile.Allows(Connect("/private/tmp/com.apple.launchd.x/Listeners")));
}

TEST(SeatbeltProfileTest, OnlyOwnTerminalsOpen) {
  const Profile profile = ProfileOf(R"({"enabled": true, "profile": "agent"})");
  Request request;
  for (const char* operation : {"file-read-data", "file-write-data", "file-ioctl"}) {
    request.operation = operation;
    request.extensions.clear();
    request.path = "/dev/ttys009";
    EXPECT_TRUE(profile.Allows(request)) << "its own";
    request.path = "/dev/ttys010";
    EXPECT_FALSE(profile.Allows(request)) << "somebody else's";
    request.extensions = {"com.apple.sandbox.pty"};
    EXPECT_TRUE(profile.Allows(request)) << "one that it made";
    request.path = "/dev/disk0";
    EXPECT_FALSE(profile.Allows(request));
    request.path = "/dev/ptmx";
    EXPECT_TRUE(profile.Allows(request));
  }
  const Profile off = ProfileOf(R"({"enabled": true, "profile": "agent", "nested_pty": "off"})");
  request.operation = "file-read-data";
  request.path = "/dev/ptmx";
  EXPECT_FALSE(off.Allows(request));
  request.path = "/dev/ttys010";
  EXPECT_FALSE(off.Allows(request));
  request.path = "/dev/ttys009";
  EXPECT_TRUE(off.Allows(request));
}

TEST(SeatbeltProfileTest, HolesHaveNoOtherName) {
  const Profile profile = ProfileOf(R"({"enabled": true, "profile": "agent"})");
  for (const char* path : {"/Users/me/.ssh/id", "/Users/me/.SSH/id", "/System/Volumes/Data/Users/me/.ssh/id",
                           "/users/ME/.sSh", "/Users/me/project/.git/hooks/x", "/Users/me/project/.GIT"}) {
    EXPECT_FALSE(profile.AllowsFile("file-read-data", path)) << path;
    EXPECT_FALSE(profile.AllowsFile("file-write-create", path)) << path;
  }
  for (const char* path :
       {"/Users/me/.sshx", "/Users/me/project/.gitignore", "/Users/me/project/.github/x"}) {
    EXPECT_TRUE(profile.AllowsFile("file-read-data", path)) << path;
  }
}

TEST(SeatbeltProfileTest, WhatHoldsAHoleStaysWhereItIs) {
  PolicyParts parts = Confined();
  parts.grants.push_back(MacGrant("/p", Rights::kReadWrite, GrantKind::kProject));
  parts.holes.push_back(MacHole("/p/a/b/.git", false));
  const Profile profile = Parsed(SeatbeltProfile(Policy(std::move(parts)), {kMark, "", 0}));
  for (const char* path : {"/p", "/p/a", "/p/a/b", "/p/a/b/.git", "/p/a/b/.git/config"}) {
    EXPECT_FALSE(profile.AllowsFile("file-write-unlink", path)) << path;
    EXPECT_FALSE(profile.AllowsFile("file-write-create", path)) << path;
  }
  for (const char* path : {"/p/a/c", "/p/a/b/x", "/p/ab"}) {
    EXPECT_TRUE(profile.AllowsFile("file-write-unlink", path)) << path;
    EXPECT_TRUE(profile.AllowsFile("file-write-create", path)) << path;
  }
  EXPECT_TRUE(profile.AllowsFile("file-read-data", "/p/a/b/.git/config"));
}

// Where case does not matter, `mkdir -p x/keys; mv x SUB` makes what the hole is about.
TEST(SeatbeltProfileTest, WhatWillHoldAHoleCannotComeUnderAnotherCase) {
  PolicyParts parts = Confined();
  parts.grants.push_back(MacGrant("/p", Rights::kReadWrite, GrantKind::kProject));
  parts.holes.push_back(MacHole("/p/sub/deep/keys", true, false));
  const Profile profile = Parsed(SeatbeltProfile(Policy(std::move(parts)), {kMark, "", 0}));
  for (const char* path :
       {"/p", "/p/sub", "/p/SUB", "/p/Sub/DEEP", "/p/SUB/deep/Keys", "/p/sub/deep/keys/id"}) {
    EXPECT_FALSE(profile.AllowsFile("file-write-create", path)) << path;
    EXPECT_FALSE(profile.AllowsFile("file-write-unlink", path)) << path;
  }
  for (const char* path : {"/p/SUBS", "/p/sub/x", "/p/SUB/x", "/p/sub/deep/x", "/p/sub/deep/keysx"}) {
    EXPECT_TRUE(profile.AllowsFile("file-write-create", path)) << path;
    EXPECT_TRUE(profile.AllowsFile("file-write-unlink", path)) << path;
  }
}

TEST(SeatbeltProfileTest, AGrantOfSystemDoesNotOpenHolesThroughTheDataVolume) {
  for (const char* granted : {"/System", "/System/Volumes", "/System/Volumes/Data", "/"}) {
    PolicyParts parts = Confined();
    parts.grants.push_back(MacGrant(granted, Rights::kReadWrite, GrantKind::kAdditional));
    parts.grants.push_back(MacGrant("/Users/me", Rights::kReadWrite, GrantKind::kProject));
    parts.holes.push_back(MacHole("/Users/me/.ssh", true));
    parts.holes.push_back(MacHole("/Users/me/sub/keys", true, false));
    const Profile profile = Parsed(SeatbeltProfile(Policy(std::move(parts)), {kMark, "", 0}));
    for (const char* path :
         {"/System/Volumes/Data/Users/me/.ssh/id", "/System/Volumes/Data/Users/me/SUB/Keys",
          "/Users/me/.ssh/id", "/Users/me/sub/KEYS/id"}) {
      EXPECT_FALSE(profile.AllowsFile("file-read-data", path)) << granted << " " << path;
      EXPECT_FALSE(profile.AllowsFile("file-write-create", path)) << granted << " " << path;
    }
    EXPECT_TRUE(profile.AllowsFile("file-read-data", "/System/Volumes/Data/Users/me/x")) << granted;
    for (const char* path : {"/System/Volumes/Data/Users/me", "/System/Volumes/Data/Users/me/SUB"}) {
      EXPECT_FALSE(profile.AllowsFile("file-write-unlink", path)) << granted << " " << path;
    }
  }
}

// A second name for what may be written is no news; one for what may not would be a way to write it.
TEST(SeatbeltProfileTest, OnlyWhatMayBeWrittenGetsASecondName) {
  PolicyParts parts = Confined();
  parts.grants.push_back(MacGrant("/p", Rights::kReadWrite, GrantKind::kProject));
  parts.grants.push_back(MacGrant("/usr/bin", Rights::kReadExecute));
  parts.holes.push_back(MacHole("/p/.git/hooks", false));
  const Profile profile = Parsed(SeatbeltProfile(Policy(std::move(parts)), {kMark, "", 0}));
  EXPECT_TRUE(profile.AllowsFile("file-link", "/p/x"));
  for (const char* path : {"/usr/bin/git", "/p/.git/hooks/commit-msg", "/elsewhere"}) {
    EXPECT_FALSE(profile.AllowsFile("file-link", path)) << path;
  }
}

TEST(SeatbeltProfileTest, DotfilesAreSingleFiles) {
  const Profile profile = ProfileOf(R"({"enabled": true})");
  EXPECT_TRUE(profile.AllowsFile("file-read-data", "/Users/me/.zshrc"));
  EXPECT_FALSE(profile.AllowsFile("file-read-data", "/Users/me/.zshrc/x"));
  EXPECT_FALSE(profile.AllowsFile("file-write-data", "/Users/me/.zshrc"));
  EXPECT_FALSE(profile.AllowsFile("file-read-data", "/Users/me/.zsh_history"));
}

TEST(SeatbeltMarkTest, MatchesItsOwnSessionOnly) {
  for (const char* settings :
       {R"({"enabled": true})", R"({"enabled": true, "profile": "agent"})",
        R"({"enabled": true, "profile": "read-only"})", R"({"enabled": true, "allow_fs_write_all": true})",
        R"({"enabled": true, "additional_read_write_paths": ["/tmp"]})"}) {
    const Profile own = ProfileOf(settings);
    const Profile other = ProfileOf(settings, {kOther, "/dev/ttys010", 0});
    EXPECT_TRUE(own.HasMark(kMark)) << settings;
    EXPECT_TRUE(own.HasMark(std::string("/private") + kMark)) << settings;
    EXPECT_FALSE(own.HasMark(kOther)) << settings;
    EXPECT_FALSE(other.HasMark(kMark)) << settings;
    EXPECT_TRUE(other.HasMark(kOther)) << settings;
    EXPECT_FALSE(own.AllowsFile("file-write-create", std::string(kMark) + "/deny"));
    EXPECT_FALSE(own.AllowsFile("file-write-unlink", std::string(kMark) + "/allow"));
  }
}

TEST(SeatbeltMarkTest, BlanketsAndTheUnconfinedDoNotMatch) {
  for (const char* text :
       {"(version 1)(allow default)", "(version 1)(deny default)",
        "(version 1)(deny default)(allow file-read* (subpath \"/tmp\") (subpath \"/private/tmp\"))",
        "(version 1)(allow default)(deny file-read* (subpath \"/tmp\") (subpath \"/private/tmp\"))"}) {
    EXPECT_FALSE(Parsed(std::string(text)).HasMark(kMark)) << text;
  }
}

TEST(SeatbeltMarkTest, TrackingRestrictsNothingElse) {
  const std::string unmarked[] = {"/bin/ps", "/usr/bin/sudo", kSandboxExec};
  const Profile profile = Parsed(TrackingProfile(kMark, unmarked));
  EXPECT_TRUE(profile.HasMark(kMark));
  EXPECT_FALSE(profile.HasMark(kOther));
  Request request;
  for (const char* operation : {"file-read-data", "file-write-create", "process-exec", "file-ioctl"}) {
    EXPECT_TRUE(profile.AllowsFile(operation, "/Users/me/.ssh/id")) << operation;
  }
  for (const char* operation :
       {"network-outbound", "network-bind", "mach-lookup", "signal", "process-fork"}) {
    request.operation = operation;
    request.target = "others";
    EXPECT_TRUE(profile.Allows(request)) << operation;
  }
  for (const std::string& program : unmarked) EXPECT_TRUE(profile.RunsFree(program)) << program;
  EXPECT_FALSE(profile.RunsFree("/bin/sh"));
  EXPECT_FALSE(Parsed(TrackingProfile(kMark, {})).RunsFree("/bin/ps"));
}

// Without its profile a program would not be confined either.
TEST(SeatbeltMarkTest, NothingLeavesAConfinedSession) {
  for (const char* settings : {R"({"enabled": true})", R"({"enabled": true, "allow_fs_write_all": true})"}) {
    const Profile profile = ProfileOf(settings);
    for (const char* program : {"/bin/ps", "/usr/bin/sudo", kSandboxExec})
      EXPECT_FALSE(profile.RunsFree(program)) << program;
  }
}

}  // namespace
}  // namespace spty::sbpl
