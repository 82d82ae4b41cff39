#include "pty/pty_pair.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "support/in_child.h"
#include "support/limits.h"
#include "support/processes.h"

namespace spty {
namespace {

termios SettingsOf(bool utf8) {
  auto pair = OpenPtyPair(WindowSize{}, utf8);
  EXPECT_TRUE(pair.ok());
  termios line{};
  EXPECT_EQ(tcgetattr(pair.value().slave.get(), &line), 0);
  return line;
}

TEST(OpenPtyPair, HasNodePtysModesBitForBit) {
  termios line = SettingsOf(true);
  EXPECT_EQ(line.c_iflag, tcflag_t{ICRNL | IXON | IXANY | IMAXBEL | BRKINT | IUTF8});
  EXPECT_EQ(line.c_oflag, tcflag_t{OPOST | ONLCR});
  EXPECT_EQ(line.c_lflag, tcflag_t{ICANON | ISIG | IEXTEN | ECHO | ECHOE | ECHOK | ECHOKE | ECHOCTL});
  EXPECT_EQ(cfgetispeed(&line), speed_t{B38400});
  EXPECT_EQ(cfgetospeed(&line), speed_t{B38400});
  // Where the speed is part of these flags, this takes it out.
  ASSERT_EQ(cfsetospeed(&line, B0), 0);
  EXPECT_EQ(line.c_cflag, tcflag_t{CREAD | CS8 | HUPCL});
}

TEST(OpenPtyPair, HasNodePtysControlCharacters) {
  termios line = SettingsOf(true);
  const std::pair<int, int> expected[] = {
      {VERASE, 0x7f},
      {VINTR, 'C' & 0x1f},
      {VQUIT, 0x1c},
      {VEOF, 'D' & 0x1f},
      {VKILL, 'U' & 0x1f},
      {VEOL, 0xff},
      {VEOL2, 0xff},
      {VWERASE, 'W' & 0x1f},
      {VSUSP, 'Z' & 0x1f},
      {VSTART, 'Q' & 0x1f},
      {VMIN, 1},
      {VTIME, 0},
      {VREPRINT, 'R' & 0x1f},
      {VSTOP, 'S' & 0x1f},
      {VLNEXT, 'V' & 0x1f},
      {VDISCARD, 'O' & 0x1f},
  };
  for (const auto& [index, value] : expected) EXPECT_EQ(line.c_cc[index], value) << "c_cc[" << index << "]";
}

TEST(OpenPtyPair, SetsIutf8OnlyIfAsked) {
  termios with = SettingsOf(true);
  termios without = SettingsOf(false);
  EXPECT_EQ(with.c_iflag & tcflag_t{IUTF8}, tcflag_t{IUTF8});
  EXPECT_EQ(without.c_iflag & tcflag_t{IUTF8}, tcflag_t{0});
  EXPECT_EQ(with.c_iflag & ~tcflag_t{IUTF8}, without.c_iflag);
}

TEST(OpenPtyPair, HasItsWindowSize) {
  auto pair = OpenPtyPair(WindowSize{132, 43, 1320, 860}, true);
  ASSERT_TRUE(pair.ok());
  for (int fd : {pair.value().master.get(), pair.value().slave.get()}) {
    winsize size{};
    ASSERT_EQ(ioctl(fd, TIOCGWINSZ, &size), 0);
    EXPECT_EQ(size.ws_col, 132);
    EXPECT_EQ(size.ws_row, 43);
    EXPECT_EQ(size.ws_xpixel, 1320);
    EXPECT_EQ(size.ws_ypixel, 860);
  }
}

TEST(OpenPtyPair, NamesItsSlave) {
  auto pair = OpenPtyPair(WindowSize{}, true);
  ASSERT_TRUE(pair.ok());
  char name[64];
  ASSERT_EQ(ttyname_r(pair.value().slave.get(), name, sizeof name), 0);
  EXPECT_EQ(pair.value().slave_name, name);
}

TEST(OpenPtyPair, ConnectsItsEnds) {
  auto pair = OpenPtyPair(WindowSize{}, true);
  ASSERT_TRUE(pair.ok());
  ASSERT_EQ(write(pair.value().slave.get(), "out", 3), 3);
  char bytes[8];
  ASSERT_EQ(read(pair.value().master.get(), bytes, sizeof bytes), 3);
  EXPECT_EQ(std::string(bytes, 3), "out");
}

std::string CheckFlags(const PtyPair& pair) {
  CHILD_CHECK(pair.master.get() >= 3 && pair.slave.get() >= 3);
  CHILD_CHECK(fcntl(pair.master.get(), F_GETFD) == FD_CLOEXEC);
  CHILD_CHECK(fcntl(pair.slave.get(), F_GETFD) == FD_CLOEXEC);
  CHILD_CHECK((fcntl(pair.master.get(), F_GETFL) & O_NONBLOCK) != 0);
  CHILD_CHECK((fcntl(pair.slave.get(), F_GETFL) & O_NONBLOCK) == 0);
  return "";
}

TEST(OpenPtyPair, IsCloseOnExecAndOnlyTheMasterIsNonBlocking) {
  auto pair = OpenPtyPair(WindowSize{}, true);
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(CheckFlags(pair.value()), "");
}

TEST(OpenPtyPair, StaysAboveStdioEvenIfThatIsClosed) {
  EXPECT_EQ(InChild([]() -> std::string {
              for (int fd = 0; fd <= 2; ++fd) Fd closing(fd);
              auto pair = OpenPtyPair(WindowSize{}, true);
              CHILD_CHECK(pair.ok());
              CHILD_CHECK(fcntl(0, F_GETFD) == -1 && fcntl(1, F_GETFD) == -1 && fcntl(2, F_GETFD) == -1);
              return CheckFlags(pair.value());
            }),
            "");
}

TEST(OpenPtyPair, DoesNotBecomeTheControllingTerminal) {
  EXPECT_EQ(InChild([]() -> std::string {
              signal(SIGHUP, SIG_IGN);  // the end of the pair will be a hang-up
              CHILD_CHECK(setsid() != -1);
              auto pair = OpenPtyPair(WindowSize{}, true);
              CHILD_CHECK(pair.ok());
              CHILD_CHECK(open("/dev/tty", O_RDWR | O_CLOEXEC) == -1);
              CHILD_CHECK(ioctl(pair.value().slave.get(), TIOCSCTTY, 0) == 0);
              CHILD_CHECK(open("/dev/tty", O_RDWR | O_CLOEXEC) != -1);
              return "";
            }),
            "");
}

TEST(OpenPtyPair, LeavesNothingBehindWhenDescriptorsRunOut) {
  auto before = OwnDescriptors();
  for (int spare = 0; spare < 2; ++spare) {
    int err = 0;
    Stage stage = Stage::kNone;
    {
      DescriptorLimit limit(spare);
      auto pair = OpenPtyPair(WindowSize{}, true);
      if (!pair.ok()) {
        err = pair.error().err;
        stage = pair.error().stage;
      }
    }
    EXPECT_EQ(ErrnoName(err), "EMFILE") << spare;
    EXPECT_STREQ(StageName(stage), "pty");
    EXPECT_EQ(OwnDescriptors(), before);
  }
  DescriptorLimit limit(2);
  EXPECT_TRUE(OpenPtyPair(WindowSize{}, true).ok());
}

TEST(SetWindowSize, ChangesTheSizeOfBothEnds) {
  auto pair = OpenPtyPair(WindowSize{}, true);
  ASSERT_TRUE(pair.ok());
  ASSERT_TRUE(SetWindowSize(pair.value().master.get(), WindowSize{65535, 1, 2, 3}).ok());
  winsize size{};
  ASSERT_EQ(ioctl(pair.value().slave.get(), TIOCGWINSZ, &size), 0);
  EXPECT_EQ(size.ws_col, 65535);
  EXPECT_EQ(size.ws_row, 1);
}

TEST(SetWindowSize, SaysThatSomethingIsNoTerminal) {
  Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  auto result = SetWindowSize(null.get(), WindowSize{});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().stage, Stage::kResize);
  EXPECT_EQ(result.error().err, ENOTTY);
  EXPECT_EQ(SetWindowSize(-1, WindowSize{}).error().err, EBADF);
}

}  // namespace
}  // namespace spty
