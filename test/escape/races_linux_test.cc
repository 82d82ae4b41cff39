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

class RaceEscape : public Escape {
 protected:
  // Starts sessions that read a file in `granted`, while that directory and a link to the secret's take turns
  // under its name.
  static void ReadWhileExchanging(const World& world, const std::string& granted,
                                  const std::string& members) {
    const std::string link = world.scratch().Link("home/me/link", world.private_dir());
    SpawnRequest request = RequestInside(world, {"escape_files", "read", granted + "/secret"}, members);
    request.cwd = "/";
    Exchanger exchanger(granted, link);
    int started = 0;
    int stale = 0;
    for (int i = 0; i < kSpawns; ++i) {
      LiveSession session(request);
      if (!session.ok()) {
        EXPECT_EQ(session.error().stage, Stage::kConfinement) << Describe(session.error());
        EXPECT_EQ(ErrnoName(session.error().err), ErrnoName(ESTALE)) << Describe(session.error());
        ++stale;
        continue;
      }
      ++started;
      std::string output;
      session.ReadToEnd(&output);
      EXPECT_EQ(output.find(kSecret), std::string::npos) << "ESCAPED: " << output;
    }
    EXPECT_GT(exchanger.count(), 0U);
    RecordProperty("started", started);
    RecordProperty("stale", stale);
    RecordProperty("exchanges", static_cast<int>(exchanger.count()));
  }
};

TEST_F(RaceEscape, AGrantNeverBecomesWhatReplacedIt) {
  World world;
  world.scratch().File("home/me/granted/secret", "harmless");
  const EscapeOutcome outside = Perform(RequestOutside(world, {"escape_files", "read", "{private}/secret"}));
  ASSERT_NE(outside.output.find(kSecret), std::string::npos) << ToString(outside);
  ReadWhileExchanging(world, world.scratch().Home("granted"),
                      std::string(kWorkspace) + R"(, "additional_read_only_paths": ["~/granted"])");
}

TEST_F(RaceEscape, AProjectNeverBecomesWhatReplacedIt) {
  World world;
  world.scratch().File("home/me/project/secret", "harmless");
  ReadWhileExchanging(world, world.scratch().project(), kWorkspace);
}

}  // namespace
}  // namespace spty
