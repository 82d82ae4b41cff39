#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/fd.h"
#include "support/in_child.h"
#include "support/processes_linux.h"
#include "support/waiting_child.h"
#include "track/process_ref.h"

namespace spty {
namespace {

TEST(ReadProcess, TellsAboutThisProcess) {
  const auto self = ReadProcess(getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->pid, getpid());
  EXPECT_EQ(self->parent, getppid());
  EXPECT_GT(self->start_ticks, 0u);
  EXPECT_GT(self->rss_bytes, 1u << 20);
  EXPECT_FALSE(ArgumentsOf(*self).empty());
}

TEST(ReadProcess, IsNotFooledByNames) {
  for (const char* name : {"a) b (c", ") S 1 1 1", "((((", "))))", ") Z 0", "a\nb", " ", "\\x ()"}) {
    const WaitingChild child([&] { prctl(PR_SET_NAME, name); });
    const auto info = ReadProcess(child.pid());
    ASSERT_TRUE(info) << name;
    EXPECT_EQ(info->name, name);
    EXPECT_EQ(info->parent, getpid()) << name;
    EXPECT_NE(info->state, 'Z') << name;
    EXPECT_EQ(info->start_ticks, StartTimeOf(child.pid())) << name;
    EXPECT_GE(info->start_ticks, StartTimeOf(getpid())) << name;
  }
}

TEST(ReadProcess, ShowsAZombieAsOne) {
  WaitingChild child;
  const uint64_t started = StartTimeOf(child.pid());
  child.Kill();
  ASSERT_TRUE(WaitForDeath(child.pid()));
  const auto info = ReadProcess(child.pid());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->state, 'Z');
  EXPECT_EQ(info->start_ticks, started);
  EXPECT_TRUE(ArgumentsOf(*info).empty());
  EXPECT_EQ(info->rss_bytes, 0u);
}

TEST(ReadProcess, FindsNobodyUnderANumberThatIsFree) {
  WaitingChild child;
  const pid_t pid = child.pid();
  const auto before = ReadProcess(pid);
  ASSERT_TRUE(before);
  child.End();
  EXPECT_FALSE(ReadProcess(pid));
  EXPECT_TRUE(ArgumentsOf(*before).empty());
  EXPECT_EQ(StartTimeOf(pid), 0u);
  EXPECT_FALSE(ReadProcess(0));
  EXPECT_FALSE(ReadProcess(-1));
}

// What the kernel says, split in the plainest way.
std::vector<std::string> CommandLineFile(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::vector<std::string> argv;
  for (std::string argument; std::getline(file, argument, '\0');) argv.push_back(argument);
  return argv;
}

std::vector<std::string> ArgumentsNow(pid_t pid) {
  const auto info = ReadProcess(pid);
  return info ? ArgumentsOf(*info) : std::vector<std::string>();
}

void ExpectArguments(const std::vector<std::string>& wanted) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Fd hold(ends[1]);
  const Fd input(ends[0]);
  std::vector<char*> argv;
  for (const std::string& argument : wanted) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[0], 0);
    execv("/bin/sh", argv.data());
    _exit(127);
  }
  EXPECT_TRUE(Eventually([&] { return ArgumentsNow(pid) == wanted; }));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(ArgumentsOf, KeepsEmptyArguments) {
  ExpectArguments({"sh", "-c", "read line; exit", "", "two words", ""});
}

TEST(ArgumentsOf, KeepsMoreThanAPage) {
  for (size_t size : {4096 - 28, 4096 - 27, 4096 - 26, 9000})
    ExpectArguments({"sh", "-c", "read line; exit", std::string(size, 'x'), "end"});
}

TEST(ArgumentsOf, TellsATitleThatWasWrittenOverThem) {
  for (const char last : {'x', '\0'}) {
    const WaitingChild child([&] {
      const auto self = ReadProcess(getpid());
      if (!self || self->argv_end <= self->argv_begin) _exit(1);
      char* const text = reinterpret_cast<char*>(self->argv_begin);
      const size_t size = self->argv_end - self->argv_begin;
      memset(text, 't', size);
      text[size - 1] = last;
    });
    const auto title = ArgumentsNow(child.pid());
    ASSERT_FALSE(title.empty());
    EXPECT_EQ(title, CommandLineFile(child.pid()));
    EXPECT_TRUE(title[0].starts_with("ttt"));
    EXPECT_NE(title, ArgumentsNow(getpid()));
  }
}

// An unprivileged host may not look into it: then the kernel's file is asked.
TEST(ArgumentsOf, TellsThoseOfAProcessThatHidesItsMemory) {
  const WaitingChild child([] { prctl(PR_SET_DUMPABLE, 0); });
  const auto argv = ArgumentsNow(child.pid());
  EXPECT_FALSE(argv.empty());
  EXPECT_EQ(argv, CommandLineFile(child.pid()));
}

TEST(OwnerTag, NamesAProcessAndWhenItStarted) {
  EXPECT_EQ(OwnerTag(),
            std::to_string(getpid()) + "-" + std::to_string(StartTimeOf(getpid())) + "-" + OwnerPlace());
  EXPECT_TRUE(OwnerLives(OwnerTag()));
  EXPECT_TRUE(OwnerLives(OwnerTag() + "-17")) << "what comes behind is not the tag's";
}

TEST(OwnerLives, IsNotTakenInByASecondProcessWithTheSameNumber) {
  const std::string pid = std::to_string(getpid());
  EXPECT_FALSE(OwnerLives(pid + "-" + std::to_string(StartTimeOf(getpid()) + 1) + "-" + OwnerPlace()));
  EXPECT_FALSE(OwnerLives(pid + "-1-" + OwnerPlace()));
}

// In another pid namespace that number is somebody else's, and whether its owner lives cannot be seen here.
TEST(OwnerLives, LeavesAloneWhatBelongsElsewhere) {
  const std::string pid = std::to_string(getpid());
  EXPECT_TRUE(OwnerLives(pid + "-1-00000000"));
  EXPECT_TRUE(OwnerLives(pid + "-1"));
  EXPECT_TRUE(OwnerLives(pid + "-1-" + kNoPlace));
  EXPECT_FALSE(OwnerLives(pid + "-1-" + OwnerPlace() + "-17"));
}

// In a child, which is short of descriptors then.
TEST(OwnerLives, SaysYesWhileItCannotLook) {
  const WaitingChild child;
  const std::string tag = OwnerTag(child.pid());
  (void)OwnerPlace();
  EXPECT_EQ(InChild([&]() -> std::string {
              const rlimit none{0, 0};
              CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
              CHILD_CHECK(StartTimeOf(child.pid()) == 0);
              CHILD_CHECK(OwnerLives(tag));
              return "";
            }),
            "");
}

TEST(OwnerLives, SaysNoOnceItHasEnded) {
  WaitingChild child;
  const std::string tag = OwnerTag(child.pid());
  EXPECT_TRUE(OwnerLives(tag));
  child.End();
  EXPECT_FALSE(OwnerLives(tag));
}

TEST(OwnerLives, LeavesAloneWhatItCannotRead) {
  for (const char* tag :
       {"", "-", "x", "12", "12-", "12-x", "-5-7", "0-7", "99999999999999999999-1", "12-0", "12 5"})
    EXPECT_TRUE(OwnerLives(tag)) << tag;
}

}  // namespace
}  // namespace spty
