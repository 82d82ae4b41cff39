#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "support/in_child.h"

namespace spty {
namespace {

int OpenNull() { return open("/dev/null", O_RDWR | O_CLOEXEC); }
bool IsOpen(int fd) { return fcntl(fd, F_GETFD) != -1; }

TEST(Fd, ClosesWhatItOwns) {
  int number;
  {
    Fd fd(OpenNull());
    number = fd.get();
    EXPECT_TRUE(fd.valid());
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(Fd, OwnsNothingByDefault) {
  Fd fd;
  EXPECT_FALSE(fd.valid());
  EXPECT_EQ(fd.get(), -1);
  EXPECT_FALSE(Fd(-1).valid());
  EXPECT_TRUE(Fd(OpenNull()).valid());
}

TEST(Fd, MovesOwnership) {
  Fd first(OpenNull());
  int number = first.get();
  Fd second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT: that a moved-from one is empty is the promise
  EXPECT_EQ(second.get(), number);
  EXPECT_TRUE(IsOpen(number));
}

TEST(Fd, ClosesTheOldOneOnAssignment) {
  Fd target(OpenNull());
  int old = target.get();
  Fd source(OpenNull());
  int fresh = source.get();
  target = std::move(source);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_TRUE(IsOpen(fresh));
  EXPECT_EQ(target.get(), fresh);
}

TEST(Fd, SurvivesAssignmentToItself) {
  Fd fd(OpenNull());
  Fd& same = fd;
  fd = std::move(same);
  EXPECT_TRUE(fd.valid());
  EXPECT_TRUE(IsOpen(fd.get()));
}

TEST(Fd, GivesUpOwnership) {
  int number;
  {
    Fd fd(OpenNull());
    number = fd.Take();
    EXPECT_FALSE(fd.valid());
  }
  EXPECT_TRUE(IsOpen(number));
  Fd again(number);
  again.Reset();
  EXPECT_FALSE(IsOpen(number));
  again.Reset();  // closes nothing: the number may be a stranger's by now
  EXPECT_EQ(again.get(), -1);
}

TEST(AboveStdio, LeavesAHighNumberAlone) {
  Fd fd(OpenNull());
  int number = fd.get();
  ASSERT_GT(number, 2);
  EXPECT_EQ(AboveStdio(std::move(fd)).get(), number);
}

TEST(AboveStdio, PassesAnInvalidOneOn) {
  errno = EMFILE;
  EXPECT_FALSE(AboveStdio(Fd()).valid());
  EXPECT_EQ(errno, EMFILE);
}

TEST(AboveStdio, MovesEachStdioNumberUpAndCloseOnExec) {
  for (int target = 0; target <= 2; ++target) {
    EXPECT_EQ(InChild([target]() -> std::string {
                for (int fd = target; fd <= 2; ++fd) Fd closing(fd);
                Fd low(OpenNull());
                CHILD_CHECK(low.get() == target);
                Fd high = AboveStdio(std::move(low));
                CHILD_CHECK(high.get() > 2);
                CHILD_CHECK(fcntl(high.get(), F_GETFD) == FD_CLOEXEC);
                CHILD_CHECK(!IsOpen(target));
                return "";
              }),
              "");
  }
}

TEST(AboveStdio, SaysWhyItFailed) {
  EXPECT_EQ(InChild([]() -> std::string {
              Fd closing(0);
              closing.Reset();
              Fd low(OpenNull());
              CHILD_CHECK(low.get() == 0);
              while (OpenNull() != -1) continue;
              CHILD_CHECK(errno == EMFILE);
              errno = 0;
              CHILD_CHECK(!AboveStdio(std::move(low)).valid());
              CHILD_CHECK(errno == EMFILE);
              CHILD_CHECK(!IsOpen(0));
              return "";
            }),
            "");
}

}  // namespace
}  // namespace spty
