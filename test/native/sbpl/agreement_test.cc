// A profile says what the policy says: random policies and paths, judged by both.
#include <gtest/gtest.h>

#include "confine/seatbelt_profile.h"
#include "confine/seatbelt_text.h"
#include "policy/explain.h"
#include "policy/path_text.h"
#include "sbpl/mac_policy.h"
#include "sbpl/profile.h"
#include "settings/random_settings.h"
#include "support/effort.h"

namespace spty::sbpl {
namespace {

constexpr int kPolicies = Repeats(4000);
constexpr int kPathsPerPolicy = 40;
constexpr int kExplainEvery = 8;
constexpr char kMark[] = "/tmp/.sandboxed-pty-501-1794844621000000-00000000-0000-4000-8000-000000000000";

constexpr char kDataVolume[] = "/System/Volumes/Data";

// Few names, so that rules and paths meet; some places with two names; "spty-f" is a file and has nothing
// below. None of them is on any disk: Explain() looks.
class RandomPolicy {
 public:
  explicit RandomPolicy(uint64_t seed) : random_(seed) {}

  std::string Path(bool may_be_file) {
    static constexpr const char* kRoots[] = {"",
                                             "/private/tmp",
                                             "/private/var",
                                             "/x y\"\\",
                                             "/System",
                                             kDataVolume,
                                             "/System/Volumes/Data/private/tmp"};
    static constexpr const char* kNames[] = {"spty-a", "spty-b", "spty-c.d"};
    std::string path = kRoots[Below(7)];
    for (unsigned depth = Below(4); depth > 0; --depth) path += std::string("/") + kNames[Below(3)];
    if (may_be_file && Below(4) == 0) path += "/spty-f";
    return path.empty() ? "/" : path;
  }

  PolicyParts Parts() {
    PolicyParts parts;
    static constexpr GrantKind kKinds[] = {GrantKind::kProject, GrantKind::kTemp, GrantKind::kSystem,
                                           GrantKind::kAdditional, GrantKind::kGit};
    for (unsigned count = Below(7); count > 0; --count) {
      const std::string path = Path(true);
      const auto rights = static_cast<Rights>(1 + Below(3));
      const bool file = path.ends_with("/spty-f");
      parts.grants.push_back(
          MacGrant(path, rights, kKinds[Below(5)], file ? FileType::kFile : FileType::kDirectory));
    }
    for (unsigned count = Below(6); count > 0; --count) {
      const std::string path = Path(true);
      if (path != "/") parts.holes.push_back(MacHole(path, Below(2) == 0, Below(2) == 0));
    }
    ReduceToCover(parts.holes, parts.grants);
    for (unsigned count = Below(3); count > 0; --count) parts.unix_sockets.push_back({Path(true), true, {}});
    parts.network.mode = static_cast<NetworkMode>(Below(3));
    parts.confined = true;
    parts.home = "/Users/me";
    auto settings = std::make_shared<Settings>();
    settings->platform = Platform::kMacos;
    settings->nested_pty.value = static_cast<NestedPty>(Below(3));
    parts.settings = std::move(settings);
    return parts;
  }

  unsigned Below(unsigned limit) { return random_.Below(limit); }

 private:
  RandomSettings random_;
};

bool AboveHole(const Policy& policy, const std::string& path) {
  for (const Hole& hole : policy.holes()) {
    if (hole.path != path && IsWithin(hole.path, path)) return true;
  }
  return false;
}

// Through the data volume everything has one more name, and what is closed by one is closed by the other.
Policy WithDataVolume(const PolicyParts& parts) {
  PolicyParts all;
  for (const Grant& grant : parts.grants)
    all.grants.push_back(MacGrant(grant.path(), grant.rights, grant.kind, grant.pin.type));
  for (const Hole& hole : parts.holes) {
    all.holes.push_back(MacHole(hole.path, hole.denies_read, hole.pin.has_value()));
    for (const std::string& path : Spellings(hole.path))
      all.holes.push_back(MacHole(kDataVolume + path, hole.denies_read, hole.pin.has_value()));
  }
  all.unix_sockets = parts.unix_sockets;
  all.network.mode = parts.network.mode;
  all.confined = true;
  all.home = parts.home;
  all.settings = parts.settings;
  return Policy(std::move(all));
}

// How else the kernel, or somebody who asks, may call it.
std::string OtherName(const std::string& path) {
  for (const char* linked : {"/private/tmp", "/private/var"}) {
    if (IsWithin(path, linked)) return path.substr(8);
  }
  return path;
}

void CompareFiles(const Policy& policy, const Profile& profile, const std::string& path) {
  const bool read = policy.Decide(path, Rights::kRead).allowed;
  const bool execute = policy.Decide(path, Rights::kReadExecute).allowed;
  const bool write = policy.Decide(path, Rights::kReadWrite).allowed;
  for (const std::string& name : {path, OtherName(path)}) {
    // Whose names everybody may list.
    const bool root = name == "/";
    EXPECT_EQ(profile.AllowsFile("file-read-data", name), read || root) << name;
    EXPECT_EQ(profile.AllowsFile("file-read-xattr", name), read) << name;
    EXPECT_EQ(profile.AllowsFile("process-exec", name), execute) << name;
    EXPECT_EQ(profile.AllowsFile("process-exec-interpreter", name), execute) << name;
    EXPECT_EQ(profile.AllowsFile("file-map-executable", name), execute) << name;
    EXPECT_EQ(profile.AllowsFile("file-write-data", name), write) << name;
    EXPECT_EQ(profile.AllowsFile("file-link", name), write) << name;
    const bool movable = write && !AboveHole(policy, path);
    EXPECT_EQ(profile.AllowsFile("file-write-unlink", name), movable) << name;
    EXPECT_EQ(profile.AllowsFile("file-write-create", name), movable) << name;
  }
}

void CompareExplanations(const Policy& policy, const Profile& profile, const std::string& path) {
  static constexpr std::pair<Access, const char*> kQuestions[] = {{Access::kRead, "file-read-data"},
                                                                  {Access::kExecute, "process-exec"},
                                                                  {Access::kWrite, "file-write-data"}};
  for (const auto& [access, operation] : kQuestions) {
    if (path == "/") continue;
    EXPECT_EQ(profile.AllowsFile(operation, path), Explain(policy, access, path).allowed)
        << operation << " " << path;
  }
  Request request;
  request.operation = "network-outbound";
  request.unix_socket = true;
  request.path = path;
  EXPECT_EQ(profile.Allows(request), Explain(policy, Access::kConnect, path).allowed) << "connect " << path;
}

void CompareNetwork(const Policy& policy, const Profile& profile) {
  Request request;
  request.operation = "network-outbound";
  request.host = "203.0.113.9";
  request.port = 443;
  EXPECT_EQ(profile.Allows(request), policy.network().mode == NetworkMode::kAll);
  request.host = "localhost";
  request.port = 4128;
  EXPECT_EQ(profile.Allows(request), policy.network().mode != NetworkMode::kNone);
  request.port = 4129;
  EXPECT_EQ(profile.Allows(request), policy.network().mode == NetworkMode::kAll);
}

TEST(SbplAgreementTest, ProfileAndPolicyAgree) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("SPTY_TEST_SEED=" + std::to_string(seed));
  RandomPolicy random(seed);
  size_t compared = 0;
  for (int i = 0; i < kPolicies && !::testing::Test::HasFailure(); ++i) {
    PolicyParts parts = random.Parts();
    const Policy everywhere = WithDataVolume(parts);
    const Policy policy(std::move(parts));
    const auto text = SeatbeltProfile(policy, {kMark, "/dev/ttys009", 4128});
    ASSERT_TRUE(text.ok());
    std::string problem;
    const auto profile = Profile::Parse(text.value(), &problem);
    ASSERT_TRUE(profile) << problem << "\n" << text.value();
    SCOPED_TRACE(text.value());
    for (int j = 0; j < kPathsPerPolicy; ++j, ++compared) {
      const std::string path = random.Path(true);
      CompareFiles(everywhere, *profile, path);
      if (i % kExplainEvery == 0) CompareExplanations(everywhere, *profile, path);
    }
    CompareNetwork(policy, *profile);
    EXPECT_TRUE(profile->HasMark(kMark));
  }
  RecordProperty("compared", static_cast<int>(compared));
}

}  // namespace
}  // namespace spty::sbpl
