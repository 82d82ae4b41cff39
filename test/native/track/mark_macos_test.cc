// The mark on real processes, and the kill loop on real escapees.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "base/eintr.h"
#include "base/fd.h"
#include "confine/seatbelt_profile.h"
#include "keeper/confine.h"
#include "keeper/sys.h"
#include "track/kill_until_empty.h"
#include "track/mark_table_macos.h"
#include "track/session_mark.h"

namespace spty {
namespace {

// A child under a profile ("" for none) that runs `body` and then sleeps, or ends if `body` says so. Killed
// and reaped with this object.
class Child {
 public:
  explicit Child(const std::string& profile, const std::function<bool(int)>& body = nullptr) {
    int ends[2];
    EXPECT_EQ(OpenPipe(ends, false), 0);
    ready_ = Fd(ends[0]);
    Fd tell(ends[1]);
    pid_ = fork();
    if (pid_ == 0) Run(profile, body, tell.get());
    tell.Reset();
    // What the last process of the session says of itself.
    EXPECT_EQ(RetryEintr([&] { return read(ready_.get(), &last_, sizeof last_); }), ssize_t{sizeof last_});
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  pid_t last() const { return last_; }

 private:
  [[noreturn]] static void Run(const std::string& profile, const std::function<bool(int)>& body, int tell) {
    char text[256] = "";
    if (!profile.empty() && EnterSeatbelt(profile.c_str(), text, sizeof text) != 0) {
      dprintf(STDERR_FILENO, "sandbox_init: %s\n", text);
      _exit(1);
    }
    if (body && body(tell)) _exit(0);
    const pid_t self = getpid();
    if (!body) (void)!write(tell, &self, sizeof self);
    for (;;) pause();
  }

  pid_t pid_ = 0;
  pid_t last_ = 0;
  Fd ready_;
};

void SayAndSleep(int tell) {
  const pid_t self = getpid();
  (void)!write(tell, &self, sizeof self);
  for (;;) pause();
}

// The directory, as the keeper makes it; removed with this object.
class Mark {
 public:
  Mark() : path_(NewSessionMark().value()) { std::filesystem::create_directories(path_ + "/allow"); }
  ~Mark() { std::filesystem::remove_all(path_); }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// For a session without a shell that anybody would have to reap.
class LooseTable : public MarkTable {
 public:
  using MarkTable::MarkTable;
  void KillGroup() {}
  bool Wait(uint32_t ms) {
    timespec pause{0, static_cast<long>(ms) * 1'000'000};
    nanosleep(&pause, nullptr);
    return false;
  }
};

void ExpectKilled(const Mark& mark, pid_t pid) {
  LooseTable table(mark.path().c_str());
  ASSERT_EQ(table.Probe(pid), MarkProbe::kMember);
  FingerprintTracker tracker(table);
  const KillOutcome outcome = KillUntilEmpty(tracker, [&] { return tracker.GivesUp(); });
  EXPECT_TRUE(outcome.converged);
  EXPECT_NE(table.Probe(pid), MarkProbe::kMember);
}

TEST(MarkMacosTest, TellsItsOwnFromAllOthers) {
  const Mark mark;
  const Mark other;
  const Child own(TrackingProfile(mark.path(), {}).value());
  const Child foreign(TrackingProfile(other.path(), {}).value());
  const Child free("");
  const Child all_of_tmp("(version 1)(allow default)(allow file-read* (subpath \"/private/tmp\"))");
  const Child none_of_tmp("(version 1)(allow default)(deny file-read* (subpath \"/private/tmp\"))");
  MarkTable table(mark.path().c_str());
  EXPECT_EQ(table.Probe(own.pid()), MarkProbe::kMember);
  for (const Child* stranger : {&foreign, &free, &all_of_tmp, &none_of_tmp}) {
    EXPECT_EQ(table.Probe(stranger->pid()), MarkProbe::kStranger);
  }
  EXPECT_EQ(table.Probe(getpid()), MarkProbe::kStranger);
}

TEST(MarkMacosTest, AFullProfileHasItToo) {
  const Mark mark;
  PolicyParts parts;
  parts.confined = true;
  const auto profile = SeatbeltProfile(Policy(std::move(parts)), {mark.path(), "", 0});
  ASSERT_TRUE(profile.ok());
  const Child own(profile.value());
  MarkTable table(mark.path().c_str());
  EXPECT_EQ(table.Probe(own.pid()), MarkProbe::kMember);
}

TEST(MarkMacosTest, ABadProfileSaysWhy) {
  const pid_t pid = fork();
  if (pid == 0) {
    char text[256] = "";
    const int err = EnterSeatbelt("(version 1)(deny default)(allow nonsense)", text, sizeof text);
    _exit(err != 0 && std::strlen(text) > 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(MarkMacosTest, ListsThisProcess) {
  MarkTable table("/tmp/none");
  ListedProcess* list = nullptr;
  size_t count = 0;
  ASSERT_EQ(table.List(&list, &count), 0);
  bool found = false;
  for (size_t i = 0; i < count; ++i) found |= list[i].pid == getpid() && !list[i].zombie;
  EXPECT_TRUE(found);
}

// What the proof of emptiness rests on.
TEST(MarkMacosTest, NumbersAreGivenOutInOrder) {
  MarkTable table("/tmp/none");
  bool quiet = false;
  for (int attempt = 0; attempt < 1000 && !quiet; ++attempt) quiet = table.StartWatch() && table.NobodyBorn();
  EXPECT_TRUE(quiet);
  ASSERT_TRUE(table.StartWatch());
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  EXPECT_FALSE(table.NobodyBorn());
}

TEST(MarkMacosTest, EndsASimpleChild) {
  const Mark mark;
  const Child child(TrackingProfile(mark.path(), {}).value());
  ExpectKilled(mark, child.pid());
}

TEST(MarkMacosTest, EndsOneThatCalledSetsid) {
  const Mark mark;
  const Child child(TrackingProfile(mark.path(), {}).value(), [](int tell) {
    if (fork() == 0) {
      setsid();
      SayAndSleep(tell);
    }
    return false;
  });
  ExpectKilled(mark, child.last());
}

TEST(MarkMacosTest, EndsADoubleForkedDaemon) {
  const Mark mark;
  const Child child(TrackingProfile(mark.path(), {}).value(), [](int tell) {
    if (fork() == 0) {
      setsid();
      if (fork() == 0) SayAndSleep(tell);
      _exit(0);
    }
    return true;
  });
  ExpectKilled(mark, child.last());
}

// Forks and exits for as long as it is let.
TEST(MarkMacosTest, EndsAHopper) {
  const Mark mark;
  const Child child(TrackingProfile(mark.path(), {}).value(), [](int tell) {
    const pid_t self = getpid();
    (void)!write(tell, &self, sizeof self);
    setsid();
    while (fork() == 0) setsid();
    return true;
  });
  LooseTable table(mark.path().c_str());
  FingerprintTracker tracker(table);
  EXPECT_TRUE(KillUntilEmpty(tracker, [&] { return tracker.GivesUp(); }).converged);
}

// Unlike under a profile that exempts nothing.
TEST(MarkMacosTest, ExemptProgramsRunWithoutTheMark) {
  const Mark mark;
  const std::string unmarked[] = {"/bin/ps"};
  const auto exit_of = [](const std::string& profile) {
    const pid_t pid = fork();
    if (pid == 0) {
      char text[256] = "";
      if (EnterSeatbelt(profile.c_str(), text, sizeof text) != 0) _exit(100);
      execl("/bin/ps", "ps", "-p", "1", nullptr);
      _exit(101);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(exit_of(TrackingProfile(mark.path(), unmarked).value()), 0);
  EXPECT_EQ(exit_of(TrackingProfile(mark.path(), {}).value()), 101);
}

TEST(MarkMacosTest, ListsEverybodyButTheKernelAndLaunchd) {
  MarkTable table("/tmp/none");
  ListedProcess* list = nullptr;
  size_t count = 0;
  ASSERT_EQ(table.List(&list, &count), 0);
  bool foreign = geteuid() == 0;
  for (size_t i = 0; i < count; ++i) {
    EXPECT_GT(list[i].pid, 1);
    foreign |= list[i].foreign;
    if (list[i].pid == getpid()) {
      EXPECT_EQ(list[i].parent, getppid());
    }
  }
  EXPECT_TRUE(foreign) << "root's are there too";
}

TEST(MarkMacosTest, EndsAtOnceWhereNobodyIs) {
  const Mark mark;
  LooseTable table(mark.path().c_str());
  FingerprintTracker tracker(table);
  EXPECT_TRUE(KillUntilEmpty(tracker, [&] { return tracker.GivesUp(); }).converged);
}

}  // namespace
}  // namespace spty
