#include "pty/host_terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "support/terminal.h"

namespace spty {
namespace {

termios LineOf(int fd) {
  termios line{};
  EXPECT_EQ(tcgetattr(fd, &line), 0);
  return line;
}

TEST(HostTerminal, IsRawUntilItIsRestored) {
  TestTerminal terminal;
  const termios before = LineOf(terminal.slave());
  auto saved = MakeRaw(terminal.slave());
  ASSERT_TRUE(saved.ok());
  const termios raw = LineOf(terminal.slave());
  EXPECT_EQ(raw.c_lflag & (ICANON | ECHO | ISIG | IEXTEN), 0U);
  EXPECT_EQ(raw.c_oflag & OPOST, 0U);
  EXPECT_EQ(raw.c_iflag & (ICRNL | IXON), 0U);
  ASSERT_TRUE(RestoreLine(terminal.slave(), saved.value()).ok());
  const termios after = LineOf(terminal.slave());
  EXPECT_EQ(memcmp(&before, &after, sizeof before), 0);
}

TEST(HostTerminal, ThatIsNoneIsAnError) {
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  auto saved = MakeRaw(null.get());
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().err, ENOTTY);
}

TEST(HostTerminal, ThatIsNotTheControllingOneIsAlwaysFree) {
  TestTerminal terminal;
  EXPECT_TRUE(InForeground(terminal.slave()));
}

TEST(KeySignals, AreThoseOfTheLine) {
  TestTerminal terminal;
  EXPECT_EQ(ReadKeySignals(terminal.master()).suspend, 'Z' & 0x1f);
  termios line = LineOf(terminal.slave());
  line.c_cc[VSUSP] = 'Y' & 0x1f;
  ASSERT_EQ(tcsetattr(terminal.slave(), TCSANOW, &line), 0);
  EXPECT_EQ(ReadKeySignals(terminal.master()).suspend, 'Y' & 0x1f);
  line.c_lflag &= ~static_cast<tcflag_t>(ISIG);
  ASSERT_EQ(tcsetattr(terminal.slave(), TCSANOW, &line), 0);
  EXPECT_EQ(ReadKeySignals(terminal.master()).suspend, -1);
  EXPECT_EQ(ReadKeySignals(-1).suspend, -1);
}

TEST(EndBySignal, EndsAlsoByOneThatIsIgnoredAndBlocked) {
  for (int number : {SIGPIPE, SIGTERM, SIGSEGV}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      signal(number, SIG_IGN);
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, number);
      sigprocmask(SIG_BLOCK, &set, nullptr);
      EndBySignal(number);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_FALSE(WCOREDUMP(status));
  }
}

}  // namespace
}  // namespace spty
