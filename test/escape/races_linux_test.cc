// Exchanging what was granted while sessions start.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "escape/harness.h"

namespace spty {
namespace {

constexpr int kSpawns = 200;
// Until both outcomes have been seen, but not for ever.
constexpr int kMostSpawns = 20 * kSpawns;

// Exchanges two names again and again until it is destroyed.
class Exchanger {
 public:
  Exchanger(std::string one, std::string other)
      : thread_([this, one = std::move(one), other = std::move(other)] {
          while (!stop_) {
            constexpr unsigned kExchange = 2;
            if (syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), kExchange) == 0)
              ++count_;
          }
        }) {}
  ~Exchanger() {
    stop_ = true;
    thread_.join();
  }
  size_t count() const { return count_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<size_t> count_{0};
  std::thread thread_;
};

constexpr char kHarmless[] = "harmless";

class RaceEscape : public Escape {
 protected:
  struct Counts {
    int started = 0;
    int refused = 0;
    bool Enough(int spawns) const {
      return spawns >= kMostSpawns || (spawns >= kSpawns && started > 0 && refused > 0);
    }
  };

  // Outside the race is won now and then: what stands under the name is the directory, or the link.
  static void ExpectBothOutside(const World& world, const std::string& granted) {
    SpawnRequest request = RequestOutside(world, {"escape_files", "read", granted + "/secret"});
    request.cwd = "/";
    bool direct = false;
    bool followed = false;
    for (int i = 0; i < kMostSpawns && !(direct && followed); ++i) {
      const EscapeOutcome outside = Perform(request);
      direct = direct || outside.output.find(kHarmless) != std::string::npos;
      followed = followed || outside.output.find(kSecret) != std::string::npos;
    }
    EXPECT_TRUE(direct && followed) << "void: it does not even succeed outside";
  }

  // With the grant: the act is not refused because of the race.
  static void ExpectGranted(const SpawnRequest& request, const char* text) {
    const EscapeOutcome granted = Perform(request);
    EXPECT_EQ(granted.kind, EscapeOutcome::Kind::kDone) << ToString(granted);
    EXPECT_NE(granted.output.find(text), std::string::npos) << ToString(granted);
  }
  // While something else is exchanged, as whoever has been given it.
  static void ExpectGrantedMeanwhile(const World& world) {
    PolicyInput input = world.scratch().Input(
        SettingsText(world, std::string(kWorkspace) + R"(, "additional_read_write_paths": ["{private}"])"));
    input.env = {{"PATH", "/usr/bin:/bin"}};
    input.project_dir = world.scratch().Dir("home/me/other");
    const auto policy = world.scratch().Resolve(std::move(input));
    const auto request = [&](const std::vector<std::string>& command) {
      SpawnRequest made = RequestOutside(world, command);
      made.policy = policy;
      made.cwd = "/";
      return made;
    };
    ExpectGranted(request({"escape_files", "read", "{private}/secret"}), kSecret);
    ExpectGranted(request({"escape_files", "create", "{private}/new"}), "");
  }

  static void Read(const SpawnRequest& request, Counts& counts) {
    LiveSession session(request);
    if (!session.ok()) {
      EXPECT_EQ(session.error().stage, Stage::kConfinement) << Describe(session.error());
      EXPECT_EQ(ErrnoName(session.error().err), ErrnoName(ESTALE)) << Describe(session.error());
      ++counts.refused;
      return;
    }
    ++counts.started;
    std::string output;
    session.ReadToEnd(&output);
    EXPECT_EQ(output.find(kSecret), std::string::npos) << "ESCAPED: " << output;
  }

  static void Check(const Counts& counts, const Exchanger& exchanger) {
    EXPECT_GT(counts.started, 0) << "void: no session started";
    EXPECT_GT(counts.refused, 0) << "void: nothing was ever exchanged at the wrong moment";
    EXPECT_GT(exchanger.count(), 0U);
  }

  // Starts sessions that read a file in `granted`, while that directory and a link to the secret's take turns
  // under its name.
  static void ReadWhileExchanging(const World& world, const std::string& granted,
                                  const std::string& members) {
    const std::string link = world.scratch().Link("home/me/link", world.private_dir());
    SpawnRequest request = RequestInside(world, {"escape_files", "read", granted + "/secret"}, members);
    request.cwd = "/";
    ExpectGranted(request, kHarmless);
    const Exchanger exchanger(granted, link);
    ExpectBothOutside(world, granted);
    Counts counts;
    for (int i = 0; !counts.Enough(i); ++i) Read(request, counts);
    Check(counts, exchanger);
    ExpectGrantedMeanwhile(world);
  }

  // The same where the policy is made anew for each session, and the place is one that sessions may write:
  // the link is never followed. `input` is for the policy.
  static void ResolveWhileExchanging(const World& world, const std::string& granted,
                                     const PolicyInput& input) {
    const std::string link = world.scratch().Link("shared/link", world.private_dir());
    SpawnRequest request = RequestInside(world, {"escape_files", "read", granted + "/secret"}, kWorkspace);
    request.cwd = "/";
    request.policy = world.scratch().Resolve(input);
    ExpectGranted(request, kHarmless);
    const Exchanger exchanger(granted, link);
    ExpectBothOutside(world, granted);
    Counts counts;
    for (int i = 0; !counts.Enough(i); ++i) {
      auto policy = ResolvePolicy(input);
      if (!policy.ok()) {
        const int err = policy.error().err;
        EXPECT_TRUE(err == ELOOP || err == ESTALE) << Describe(policy.error());
        ++counts.refused;
        continue;
      }
      request.policy = std::move(policy).value();
      const bool skipped = FindSkipped(*request.policy, granted) != nullptr;
      if (skipped) ++counts.refused;
      EXPECT_FALSE(request.policy->Decide(world.private_dir() + "/secret", Rights::kRead).allowed);
      Read(request, counts);
    }
    Check(counts, exchanger);
    ExpectGrantedMeanwhile(world);
  }
};

TEST_F(RaceEscape, AGrantNeverBecomesWhatReplacedIt) {
  World world;
  world.scratch().File("home/me/granted/secret", kHarmless);
  ReadWhileExchanging(world, world.scratch().Home("granted"),
                      std::string(kWorkspace) + R"(, "additional_read_only_paths": ["~/granted"])");
}

TEST_F(RaceEscape, AProjectNeverBecomesWhatReplacedIt) {
  World world;
  world.scratch().File("home/me/project/secret", kHarmless);
  ReadWhileExchanging(world, world.scratch().project(), kWorkspace);
}

TEST_F(RaceEscape, AGrantInASharedDirectoryIsNeverFollowedElsewhere) {
  World world;
  world.scratch().File("shared/granted/secret", kHarmless);
  const std::string granted = world.shared_dir() + "/granted";
  PolicyInput input = world.scratch().Input(
      SettingsText(world, std::string(kShared) + R"(, "additional_read_only_paths": [")" + granted + "\"]"));
  input.env = {{"PATH", "/usr/bin:/bin"}};
  ResolveWhileExchanging(world, granted, input);
}

TEST_F(RaceEscape, AProjectInASharedDirectoryIsNeverFollowedElsewhere) {
  World world;
  world.scratch().File("shared/granted/secret", kHarmless);
  const std::string granted = world.shared_dir() + "/granted";
  PolicyInput input = world.scratch().Input(SettingsText(world, kShared));
  input.env = {{"PATH", "/usr/bin:/bin"}};
  input.project_dir = granted;
  ResolveWhileExchanging(world, granted, input);
}

}  // namespace
}  // namespace spty
