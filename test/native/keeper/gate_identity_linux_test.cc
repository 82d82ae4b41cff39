// As whom the gate acts.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "keeper/gate_harness_linux.h"
#include "support/in_child.h"
#include "support/processes_linux.h"
#include "support/temp_dir.h"

namespace spty {
namespace {

ucred PeerOf(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  EXPECT_EQ(getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size), 0);
  return peer;
}

class GateIdentityTest : public testing::Test {
 protected:
  GateIdentityTest() {
    EXPECT_EQ(chmod(dir_.path().c_str(), 0777), 0);
    setup_.directories = {dir_.path()};
  }

  ClientBody Expect(const std::string& name, int err) {
    return [=]() -> std::string {
      int got = TryConnect(name);
      return got == err ? "" : std::string(strerror(got));
    };
  }

  TempDir dir_;
  GateSetup setup_;
};

TEST_F(GateIdentityTest, ThePeerSeesTheSessionsUser) {
  setup_.keeper_uid = getuid();
  setup_.other_uid = getuid() == 0;
  uid_t expected = getuid() == 0 ? kOtherUid : getuid();
  Server server(dir_.File("s"));
  ASSERT_EQ(InGate(setup_, Expect(dir_.File("s"), 0)), "");
  EXPECT_EQ(PeerOf(server.Accept().get()).uid, expected);
  // And a client sees the user of a server in the session.
  EXPECT_EQ(InGate(setup_,
                   [=, this]() -> std::string {
                     Fd own = ListenAt(dir_.File("own"));
                     CHILD_CHECK(own.valid());
                     Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
                     CHILD_CHECK(ConnectTo(socket.get(), dir_.File("own")) == 0);
                     CHILD_CHECK(PeerOf(socket.get()).uid == expected);
                     return "";
                   }),
            "");
}

TEST_F(GateIdentityTest, ARootKeeperLendsNobodyItsRights) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  Server server(dir_.File("s"));
  ASSERT_EQ(chmod(dir_.File("s").c_str(), 0700), 0);
  ASSERT_EQ(mkdir(dir_.File("d").c_str(), 0700), 0);
  Server hidden(dir_.File("d/s"));
  for (const char* name : {"s", "d/s"}) {
    EXPECT_EQ(InGate(setup_, Expect(dir_.File(name), 0)), "");
    GateSetup other = setup_;
    other.other_uid = true;
    EXPECT_EQ(InGate(other, Expect(dir_.File(name), EACCES)), "");
    other.drop_capabilities = true;
    EXPECT_EQ(InGate(other, Expect(dir_.File(name), EACCES)), "");
  }
}

TEST_F(GateIdentityTest, TheKeeperItselfStaysWhoItIs) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  setup_.other_uid = true;
  setup_.drop_capabilities = true;
  int hold[2];
  ASSERT_EQ(pipe(hold), 0);
  GateSession session(setup_, [&]() -> std::string {
    char byte;
    return read(hold[0], &byte, 1) == 1 ? "" : "?";
  });
  EXPECT_EQ(StatusOf(session.keeper(), "Uid"), "0\t0\t0\t0");
  EXPECT_NE(StatusOf(session.keeper(), "CapEff"), "0000000000000000");
  EXPECT_EQ(write(hold[1], "x", 1), 1);
  EXPECT_EQ(session.Wait(), "");
  close(hold[0]);
  close(hold[1]);
}

// Whoever could look into the keeper could take the listener from it and answer in its place. Landlock keeps
// the session from that; where it is missing, this does.
TEST_F(GateIdentityTest, NobodyOfTheSameUserLooksIntoTheKeeper) {
  setup_.keeper_uid = kOtherUid;
  Server server(dir_.File("s"));
  auto look = [](pid_t pid) {
    Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd.valid()) return errno;
    Fd taken(static_cast<int>(syscall(SYS_pidfd_getfd, pidfd.get(), 0, 0)));
    return taken.valid() ? 0 : errno;
  };
  int tell[2];
  int hold[2];
  ASSERT_EQ(pipe(tell), 0);
  ASSERT_EQ(pipe(hold), 0);
  GateSession session(setup_, [&]() -> std::string {
    pid_t keeper = 0;
    CHILD_CHECK(read(tell[0], &keeper, sizeof keeper) == sizeof keeper);
    CHILD_CHECK(TryConnect(dir_.File("s")) == 0);  // it still does its work
    pid_t other = fork();
    if (other == 0) {
      char byte;
      _exit(read(hold[0], &byte, 1) == 1 ? 0 : 1);
    }
    int child = look(other);
    int parent = look(keeper);
    CHILD_CHECK(write(hold[1], "x", 1) == 1);
    CHILD_CHECK(child == 0);
    CHILD_CHECK(parent == EPERM);
    return "";
  });
  pid_t keeper = session.keeper();
  EXPECT_EQ(write(tell[1], &keeper, sizeof keeper), ssize_t{sizeof keeper});
  EXPECT_EQ(session.Wait(), "");
  EXPECT_TRUE(server.Reached());
  for (int fd : {tell[0], tell[1], hold[0], hold[1]}) close(fd);
}

TEST_F(GateIdentityTest, RootWithoutCapabilitiesHasNoneInTheGate) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(mkdir(dir_.File("d").c_str(), 0700), 0);
  Server server(dir_.File("d/s"));
  ASSERT_EQ(chown(dir_.File("d").c_str(), kOtherUid, kOtherUid), 0);
  auto body = [this](int err) {
    return [=, this]() -> std::string {
      CHILD_CHECK(DropAllCapabilities());
      return Expect(dir_.File("d/s"), err)();
    };
  };
  EXPECT_EQ(WithoutGate(setup_, body(EACCES)), "");
  EXPECT_EQ(InGate(setup_, body(0)), "");  // the keeper's capabilities at work
  setup_.drop_capabilities = true;
  EXPECT_EQ(InGate(setup_, body(EACCES)), "");
  ASSERT_EQ(chmod(dir_.File("d").c_str(), 0755), 0);
  EXPECT_EQ(InGate(setup_, body(0)), "");
}

TEST_F(GateIdentityTest, AnIdentityThatCannotBeTakenOnIsAnErrorAndARefusal) {
  setup_.keeper_uid = kOtherUid;
  setup_.claim_other_uid = true;
  Server server(dir_.File("s"));
  GateSession session(setup_, Expect(dir_.File("s"), ENOSYS));
  EXPECT_EQ(session.start_error(), EPERM);
  EXPECT_EQ(session.Wait(), "");
  EXPECT_FALSE(server.Reached());
}

}  // namespace
}  // namespace spty
