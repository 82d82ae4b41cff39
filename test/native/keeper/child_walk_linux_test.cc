#include "keeper/child_walk_linux.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "keeper/sys.h"
#include "support/in_child.h"

namespace spty {
namespace {

[[noreturn]] void SleepForEver() {
  for (;;) pause();
}

// A child that starts one of its own and says its number. `own_group`: both are in a new process group.
std::string StartFamily(bool own_group, pid_t* child, pid_t* grandchild) {
  int ends[2];
  CHILD_CHECK(pipe(ends) == 0);
  *child = fork();
  if (*child == 0) {
    if (own_group && setpgid(0, 0) != 0) _exit(1);
    pid_t second = fork();
    if (second == 0) SleepForEver();
    if (write(ends[1], &second, sizeof second) == -1) _exit(1);
    SleepForEver();
  }
  CHILD_CHECK(read(ends[0], grandchild, sizeof *grandchild) == sizeof *grandchild);
  return "";
}

bool EndsByKill(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

bool NobodyLeftNow() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

bool NobodyLeft() { return waitpid(-1, nullptr, 0) == -1 && errno == ECHILD; }

TEST(KillChildren, KillsChildrenAndThenThoseThatTheyLeave) {
  EXPECT_EQ(InChild([]() -> std::string {
              CHILD_CHECK(BecomeSubreaper() == 0);
              pid_t child = 0, grandchild = 0;
              if (std::string trouble = StartFamily(false, &child, &grandchild); !trouble.empty())
                return trouble;
              KillChildren();
              CHILD_CHECK(EndsByKill(child));
              // Ours now that its parent is dead; inherited while the list was read it may even be killed
              // already.
              KillChildren();
              CHILD_CHECK(EndsByKill(grandchild));
              CHILD_CHECK(NobodyLeft());
              return "";
            }),
            "");
}

// As on a kernel without CONFIG_PROC_CHILDREN.
TEST(KillChildren, FindsThemWithoutTheKernelsList) {
  for (const bool vanishing : {false, true}) {
    EXPECT_EQ(InChild([&]() -> std::string {
                CHILD_CHECK(BecomeSubreaper() == 0);
                pid_t child = 0, grandchild = 0;
                if (std::string trouble = StartFamily(false, &child, &grandchild); !trouble.empty())
                  return trouble;
                if (vanishing) {
                  CHILD_CHECK(KillVanishingChildren("/nonexistent") >= 1);
                } else {
                  KillChildren("/nonexistent");
                }
                CHILD_CHECK(EndsByKill(child));
                KillChildren("/nonexistent");
                CHILD_CHECK(EndsByKill(grandchild));
                CHILD_CHECK(NobodyLeft());
                return "";
              }),
              "");
  }
}

TEST(KillShell, KillsItsGroupAtOnce) {
  EXPECT_EQ(InChild([]() -> std::string {
              CHILD_CHECK(BecomeSubreaper() == 0);
              pid_t child = 0, grandchild = 0;
              if (std::string trouble = StartFamily(true, &child, &grandchild); !trouble.empty())
                return trouble;
              KillShell(child);
              CHILD_CHECK(EndsByKill(child));
              CHILD_CHECK(EndsByKill(grandchild));
              CHILD_CHECK(NobodyLeft());
              return "";
            }),
            "");
}

// In the group of this process, which is not touched.
TEST(KillShell, KillsItAloneBeforeItHasAGroup) {
  EXPECT_EQ(InChild([]() -> std::string {
              CHILD_CHECK(BecomeSubreaper() == 0);
              pid_t child = 0, grandchild = 0;
              if (std::string trouble = StartFamily(false, &child, &grandchild); !trouble.empty())
                return trouble;
              KillShell(child);
              CHILD_CHECK(EndsByKill(child));
              CHILD_CHECK(waitpid(grandchild, nullptr, WNOHANG) == 0);
              CHILD_CHECK(kill(grandchild, SIGKILL) == 0 && EndsByKill(grandchild));
              return "";
            }),
            "");
}

TEST(KillVanishingChildren, KillsEachOnceAndNobodyElse) {
  ASSERT_TRUE(CanKillVanishingChildren());
  EXPECT_EQ(InChild([]() -> std::string {
              CHILD_CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
              CHILD_CHECK(BecomeSubreaper() == 0);
              pid_t child = 0, grandchild = 0;
              if (std::string trouble = StartFamily(true, &child, &grandchild); !trouble.empty())
                return trouble;
              uint32_t killed = 0;
              while (!NobodyLeftNow()) killed += KillVanishingChildren();
              CHILD_CHECK(killed == 2);
              CHILD_CHECK(kill(child, 0) == -1 && kill(grandchild, 0) == -1);
              return "";
            }),
            "");
}

}  // namespace
}  // namespace spty
