#include "session/spawn_attributes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/socket.h"
#include "keeper/wire.h"
#include "support/in_child.h"

namespace spty {
namespace {

// What dup2 onto itself does with the close-on-exec flag depends on the C library: it must not be asked.
TEST(SpawnAttributes, HandOverASocketThatHasTheKeepersNumberFromAnotherNumber) {
  auto check = []() -> std::string {
    int ends[2];
    CHILD_CHECK(OpenStreamPair(ends) == 0);
    const Fd ours(fcntl(ends[0], F_DUPFD_CLOEXEC, 10));
    const Fd theirs(fcntl(ends[1], F_DUPFD_CLOEXEC, 10));
    Fd(ends[0]).Reset();
    Fd(ends[1]).Reset();
    CHILD_CHECK(ours.valid() && theirs.valid());
    CHILD_CHECK(dup2(theirs.get(), wire::kControlFd) == wire::kControlFd);
    auto attributes = SpawnAttributes::ForKeeper(wire::kControlFd);
    CHILD_CHECK(attributes.ok());
    Fd(wire::kControlFd).Reset();
    char shell[] = "sh";
    char option[] = "-c";
    char script[] = "echo x >&3";
    char* argv[] = {shell, option, script, nullptr};
    char* env[] = {nullptr};
    pid_t pid = 0;
    CHILD_CHECK(posix_spawn(&pid, "/bin/sh", attributes.value().actions(), attributes.value().attributes(),
                            argv, env) == 0);
    int status = 0;
    CHILD_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    char got[3] = {};
    CHILD_CHECK(read(ours.get(), got, 2) == 2 && std::string(got) == "x\n");
    return "";
  };
  EXPECT_EQ(InChild(check), "");
}

}  // namespace
}  // namespace spty
