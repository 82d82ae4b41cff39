#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/result.h"
#include "keeper/sys.h"
#include "support/in_child.h"
#include "support/processes_linux.h"

namespace spty {
namespace {

// Makes close_range fail in this process from now on.
bool FailCloseRange(int err) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(err)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) != -1; }

std::string CheckCloseFrom() {
  int low = fcntl(2, F_DUPFD, 10);
  int high = fcntl(2, F_DUPFD, 60);
  CHILD_CHECK(IsOpen(low) && IsOpen(high));
  CHILD_CHECK(CloseFrom(low + 1) == 0);
  CHILD_CHECK(IsOpen(low) && !IsOpen(high));
  CHILD_CHECK(CloseFrom(3) == 0);
  CHILD_CHECK(!IsOpen(low) && IsOpen(2));
  CHILD_CHECK(CloseFrom(3) == 0);
  return "";
}

std::string CheckMark() {
  int low = fcntl(2, F_DUPFD, 10);
  int high = fcntl(2, F_DUPFD, 60);
  CHILD_CHECK(MarkCloseOnExecFrom(low + 1) == 0);
  CHILD_CHECK(fcntl(low, F_GETFD) == 0 && fcntl(high, F_GETFD) == FD_CLOEXEC);
  return "";
}

// InChild's own report is closed by CloseFrom: answer by exit status instead.
int StatusOfChild(const std::function<std::string()>& body) {
  pid_t child = fork();
  if (child == 0) _exit(body().empty() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(CloseFrom, ClosesThatAndAllAbove) { EXPECT_EQ(StatusOfChild(CheckCloseFrom), 0); }

TEST(CloseFrom, WorksWithoutTheKernelsHelp) {
  for (int err : {ENOSYS, EPERM, EINVAL}) {
    EXPECT_EQ(StatusOfChild([err]() -> std::string {
                CHILD_CHECK(FailCloseRange(err));
                return CheckCloseFrom();
              }),
              0)
        << ErrnoName(err);
  }
}

TEST(CloseFrom, ClosesMoreThanItsTableHoldsWithoutTheKernelsHelp) {
  EXPECT_EQ(StatusOfChild([]() -> std::string {
              CHILD_CHECK(FailCloseRange(ENOSYS));
              rlimit limit{};
              getrlimit(RLIMIT_NOFILE, &limit);
              limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 3000);
              CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
              int last = 0;
              for (int fd; (fd = dup(2)) != -1;) last = fd;
              CHILD_CHECK(last > 1500);
              close(last--);  // room for the list itself
              CHILD_CHECK(CloseFrom(3) == 0);
              for (int fd = 3; fd <= last; ++fd) CHILD_CHECK(!IsOpen(fd));
              return "";
            }),
            0);
}

TEST(CloseFrom, ReportsAnyOtherError) {
  EXPECT_EQ(StatusOfChild([]() -> std::string {
              CHILD_CHECK(FailCloseRange(EIO));
              CHILD_CHECK(CloseFrom(3) == EIO);
              CHILD_CHECK(MarkCloseOnExecFrom(3) == EIO);
              return "";
            }),
            0);
}

TEST(MarkCloseOnExecFrom, MarksThatAndAllAbove) { EXPECT_EQ(InChild(CheckMark), ""); }

TEST(MarkCloseOnExecFrom, WorksWithoutTheKernelsHelp) {
  EXPECT_EQ(InChild([]() -> std::string {
              CHILD_CHECK(FailCloseRange(ENOSYS));
              return CheckMark();
            }),
            "");
}

TEST(OpenPipe, IsCloseOnExecAndNonBlockingIfAsked) {
  for (bool nonblocking : {false, true}) {
    int ends[2];
    ASSERT_EQ(OpenPipe(ends, nonblocking), 0);
    for (int fd : ends) {
      EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
      EXPECT_EQ((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0, nonblocking);
      close(fd);
    }
  }
}

}  // namespace
}  // namespace spty
