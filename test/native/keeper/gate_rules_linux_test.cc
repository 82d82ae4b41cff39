// Which sockets the gate lets a session reach.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "keeper/gate_harness_linux.h"
#include "support/in_child.h"
#include "support/temp_dir.h"

namespace spty {
namespace {

// project/ is the session's; shared/ is writable to it but grants nothing; outside/ is not writable.
class GateRulesTest : public testing::TestWithParam<uid_t> {
 protected:
  GateRulesTest() {
    for (const char* name : {"project", "shared", "outside"}) {
      EXPECT_EQ(mkdir(dir_.File(name).c_str(), 0755), 0);
    }
    GiveAway("project");
    EXPECT_EQ(chmod(dir_.File("shared").c_str(), 0777), 0);
    setup_.directories = {dir_.File("project")};
    setup_.keeper_uid = GetParam();
  }

  std::string In(const std::string& name) const { return dir_.File(name); }

  void GiveAway(const std::string& name) {
    int result = getuid() == 0 ? chown(In(name).c_str(), GetParam(), GetParam()) : 0;
    EXPECT_EQ(result, 0) << name;
  }

  // `name` cannot be connected to from inside, but can from outside.
  void ExpectRefused(const std::string& name, int err = EACCES, int type = SOCK_STREAM) {
    EXPECT_EQ(InGate(setup_, [=]() -> std::string { return ExpectErrno(TryConnect(name, type), err); }), "");
    EXPECT_EQ(WithoutGate(setup_, [=]() -> std::string { return ExpectErrno(TryConnect(name, type), 0); }),
              "");
  }

  void ExpectAllowed(const std::string& name, int type = SOCK_STREAM) {
    EXPECT_EQ(InGate(setup_, [=]() -> std::string { return ExpectErrno(TryConnect(name, type), 0); }), "");
  }

  static std::string ExpectErrno(int actual, int expected) {
    if (actual == expected) return "";
    return std::string("got \"") + strerror(actual) + "\" instead of \"" + strerror(expected) + "\"";
  }

  TempDir dir_;
  GateSetup setup_;
};

TEST_P(GateRulesTest, AllowsWhatIsBoundInTheProject) {
  Server server(In("project/s"));
  ExpectAllowed(In("project/s"));
  EXPECT_TRUE(server.Reached());
}

TEST_P(GateRulesTest, AllowsWhatARuleNames) {
  Server one(In("outside/one"));
  Server two(In("outside/two"));
  setup_.sockets = {In("outside/one")};
  ExpectAllowed(In("outside/one"));
  ExpectRefused(In("outside/two"));
  setup_.sockets = {In("outside")};
  ExpectAllowed(In("outside/two"));
}

TEST_P(GateRulesTest, RefusesEverythingElse) {
  Server server(In("outside/s"));
  ExpectRefused(In("outside/s"));
  EXPECT_TRUE(server.Reached());   // by the control
  EXPECT_FALSE(server.Reached());  // only by the control
  Server beside(In("project-2"));  // a name that only begins like the project's
  ExpectRefused(In("project-2"));
  Server shared(In("shared/s"));
  ExpectRefused(In("shared/s"));
}

TEST_P(GateRulesTest, AllowsWhatTheSessionMade) {
  for (int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    std::string name = In("shared/own" + std::to_string(type));
    EXPECT_EQ(InGate(setup_,
                     [=]() -> std::string {
                       Fd server = ListenAt(name, type);
                       CHILD_CHECK(server.valid());
                       CHILD_CHECK(TryConnect(name, type) == 0);
                       Fd accepted(accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC));
                       CHILD_CHECK(accepted.valid());
                       return "";
                     }),
              "");
  }
}

TEST_P(GateRulesTest, AllowsTheSessionsOwnAfterItsMakerHasForkedAndEnded) {
  std::string name = In("shared/agent");
  EXPECT_EQ(InGate(setup_,
                   [=]() -> std::string {
                     int ready[2];
                     int end[2];
                     CHILD_CHECK(pipe2(ready, O_CLOEXEC) == 0 && pipe2(end, O_CLOEXEC) == 0);
                     pid_t maker = fork();
                     if (maker == 0) {
                       Fd server = ListenAt(name);
                       setsid();
                       if (fork() != 0) _exit(server.valid() ? 0 : 1);
                       (void)!write(ready[1], "r", 1);
                       close(end[1]);
                       char byte;
                       (void)!read(end[0], &byte, 1);
                       _exit(0);
                     }
                     char byte;
                     int status = -1;
                     CHILD_CHECK(read(ready[0], &byte, 1) == 1);
                     CHILD_CHECK(waitpid(maker, &status, 0) == maker && status == 0);
                     CHILD_CHECK(TryConnect(name) == 0);
                     return "";
                   }),
            "");
}

TEST_P(GateRulesTest, AllowsTheSessionsOwnByARelativeName) {
  std::string shared = In("shared");
  EXPECT_EQ(InGate(setup_,
                   [=]() -> std::string {
                     CHILD_CHECK(chdir(shared.c_str()) == 0);
                     Fd server = ListenAt("relative");
                     CHILD_CHECK(server.valid());
                     CHILD_CHECK(TryConnect("relative") == 0);
                     CHILD_CHECK(TryConnect(shared + "/relative") == 0);
                     CHILD_CHECK(chdir("/") == 0);
                     CHILD_CHECK(TryConnect("relative") == ENOENT);
                     CHILD_CHECK(TryConnect(shared + "/../shared/relative") == 0);
                     CHILD_CHECK(rename((shared + "/relative").c_str(), (shared + "/moved").c_str()) == 0);
                     CHILD_CHECK(TryConnect(shared + "/moved") == 0);
                     return "";
                   }),
            "");
}

TEST_P(GateRulesTest, KnowsTheSessionsOwnFromThoseOfAnother) {
  std::string name = In("shared/own");
  int ready[2];
  int end[2];
  ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(end, O_CLOEXEC), 0);
  GateSession other(setup_, [&]() -> std::string {
    Fd server = ListenAt(name);
    CHILD_CHECK(server.valid() && TryConnect(name) == 0);
    char byte;
    CHILD_CHECK(write(ready[1], "r", 1) == 1 && read(end[0], &byte, 1) == 1);
    return "";
  });
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ExpectRefused(name);
  EXPECT_EQ(write(end[1], "e", 1), 1);
  EXPECT_EQ(other.Wait(), "");
  for (int fd : {ready[0], ready[1], end[0], end[1]}) close(fd);
}

TEST_P(GateRulesTest, RefusesAStrangersSocketThatWasBroughtIn) {
  Server linked(In("shared/linked"));
  Server renamed(In("shared/renamed"));
  GiveAway("shared/linked");  // as a program of the same user would own it
  GiveAway("shared/renamed");
  auto bring_in = [this]() -> std::string {
    CHILD_CHECK(link(In("shared/linked").c_str(), In("project/linked").c_str()) == 0);
    CHILD_CHECK(rename(In("shared/renamed").c_str(), In("project/renamed").c_str()) == 0);
    return "";
  };
  ASSERT_EQ(WithoutGate(setup_, bring_in), "");
  ExpectRefused(In("project/linked"));
  ExpectRefused(In("project/renamed"));
}

TEST_P(GateRulesTest, RefusesAStrangersSocketWhoseDirectoryWasBroughtIn) {
  ASSERT_EQ(mkdir(In("shared/d").c_str(), 0777), 0);
  ASSERT_EQ(chmod(In("shared/d").c_str(), 0777), 0);
  GiveAway("shared/d");
  Server server(In("shared/d/s"));
  // The name under which it was bound now leads into the project.
  auto bring_in = [this]() -> std::string {
    CHILD_CHECK(rename(In("shared/d").c_str(), In("project/d").c_str()) == 0);
    CHILD_CHECK(symlink(In("project/d").c_str(), In("shared/d").c_str()) == 0);
    return "";
  };
  ASSERT_EQ(WithoutGate(setup_, bring_in), "");
  ExpectRefused(In("project/d/s"));
  ExpectRefused(In("shared/d/s"));
}

TEST_P(GateRulesTest, FollowsLinksToWhereTheyLead) {
  Server bad(In("outside/s"));
  Server good(In("project/s"));
  ASSERT_EQ(symlink(In("outside/s").c_str(), In("project/to-bad").c_str()), 0);
  ASSERT_EQ(symlink("../outside", In("project/out").c_str()), 0);
  ASSERT_EQ(symlink(In("project/s").c_str(), In("outside/to-good").c_str()), 0);
  ExpectRefused(In("project/to-bad"));
  ExpectRefused(In("project/out/s"));
  ExpectAllowed(In("outside/to-good"));
  EXPECT_TRUE(good.Reached());
}

TEST_P(GateRulesTest, AllowsWhatWasBoundThroughALinkThatIsNotTheSessions) {
  // Two users, that is.
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  if (GetParam() == 0) GTEST_SKIP() << "needs an unprivileged user";
  ASSERT_EQ(symlink(In("project").c_str(), In("outside/run").c_str()), 0);
  Server server(In("outside/run/s"));
  ExpectAllowed(In("project/s"));
  ExpectAllowed(In("outside/run/s"));
}

TEST_P(GateRulesTest, ResolvesRelativePathsWhereTheCallerIs) {
  Server good(In("project/s"));
  Server bad(In("outside/s"));
  EXPECT_EQ(InGate(setup_,
                   [this]() -> std::string {
                     CHILD_CHECK(chdir(In("project").c_str()) == 0);
                     CHILD_CHECK(TryConnect("s") == 0);
                     CHILD_CHECK(TryConnect("./../project/s") == 0);
                     CHILD_CHECK(TryConnect("../outside/s") == EACCES);
                     CHILD_CHECK(chdir(In("outside").c_str()) == 0);
                     CHILD_CHECK(TryConnect("s") == EACCES);
                     return "";
                   }),
            "");
}

TEST_P(GateRulesTest, RefusesWaysThroughProc) {
  Server good(In("project/s"));
  std::string project = In("project");
  auto ways = [=](bool gated) -> std::string {
    CHILD_CHECK(chdir(project.c_str()) == 0);
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const std::string& way : std::vector<std::string>{"/proc/self/cwd/s", "/proc/thread-self/cwd/s",
                                                           "/proc/self/root" + project + "/s",
                                                           "/proc/" + std::to_string(getpid()) + "/cwd/s",
                                                           "/proc/self/fd/" + std::to_string(here) + "/s"}) {
      int err = TryConnect(way);
      if ((err == 0) == gated) return way + ": " + strerror(err);
    }
    CHILD_CHECK(chdir("/proc") == 0);
    CHILD_CHECK((TryConnect("self/root" + project + "/s") == 0) != gated);
    return "";
  };
  EXPECT_EQ(InGate(setup_, [=] { return ways(true); }), "");
  EXPECT_FALSE(good.Reached());
  EXPECT_EQ(WithoutGate(setup_, [=] { return ways(false); }), "");
  // "/proc/self" alone is an ordinary link, and the way back out is harmless.
  ExpectAllowed("/proc/self/../.." + project + "/s");
}

TEST_P(GateRulesTest, RefusesDatagramSockets) {
  std::string name = In("project/d");
  Fd receiver(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, name.data(), name.size());
  ASSERT_EQ(bind(receiver.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(chmod(name.c_str(), 0777), 0);
  ExpectRefused(name, EACCES, SOCK_DGRAM);
}

TEST_P(GateRulesTest, SaysWhatTheKernelWouldSay) {
  { Server dead(In("project/dead")); }
  dir_.Write("project/file", "", 0777);
  auto errors = [this]() -> std::string {
    CHILD_CHECK(TryConnect(In("project/none")) == ENOENT);
    CHILD_CHECK(TryConnect(In("project/dead")) == ECONNREFUSED);
    CHILD_CHECK(TryConnect(In("project/file")) == ECONNREFUSED);
    CHILD_CHECK(TryConnect(In("project/file/x")) == ENOTDIR);
    CHILD_CHECK(ConnectTo(-1, "x") == EBADF);
    CHILD_CHECK(ConnectTo(12345, "x") == EBADF);
    Fd null(open("/dev/null", O_RDONLY));
    CHILD_CHECK(ConnectTo(null.get(), "x") == ENOTSOCK);
    CHILD_CHECK(listen(null.get(), 1) == -1 && errno == ENOTSOCK);
    CHILD_CHECK(listen(12345, 1) == -1 && errno == EBADF);
    Fd path(open("/dev/null", O_PATH));
    CHILD_CHECK(ConnectTo(path.get(), "x") == EBADF);
    Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_storage address{};
    auto* pointer = reinterpret_cast<sockaddr*>(&address);
    CHILD_CHECK(connect(socket.get(), pointer, 129) == -1 && errno == EINVAL);
    CHILD_CHECK(connect(socket.get(), pointer, static_cast<socklen_t>(-1)) == -1 && errno == EINVAL);
    CHILD_CHECK(connect(socket.get(), pointer, 0) == -1 && errno == EINVAL);
    CHILD_CHECK(connect(socket.get(), pointer, 2) == -1 && errno == EINVAL);
    CHILD_CHECK(connect(socket.get(), pointer, 16) == -1 && errno == EINVAL);  // AF_UNSPEC
    address.ss_family = AF_INET;
    CHILD_CHECK(connect(socket.get(), pointer, 16) == -1 && errno == EINVAL);
    CHILD_CHECK(connect(socket.get(), reinterpret_cast<sockaddr*>(8), 16) == -1 && errno == EFAULT);
    CHILD_CHECK(connect(-1, reinterpret_cast<sockaddr*>(8), 129) == -1 && errno == EBADF);
    CHILD_CHECK(listen(socket.get(), 1) == -1 && errno == EINVAL);  // not bound
    return "";
  };
  EXPECT_EQ(WithoutGate(setup_, errors), "");
  EXPECT_EQ(InGate(setup_, errors), "");
}

TEST_P(GateRulesTest, TakesPathsOfFullLength) {
  std::string name = In("project/");
  ASSERT_LT(name.size(), 108U);
  name += std::string(108 - name.size(), 'x');  // fills sun_path: no room for a NUL
  Server server(name);
  ExpectAllowed(name);
}

TEST_P(GateRulesTest, AnswersDaemonsAndThreads) {
  Server server(In("project/s"));
  Server bad(In("outside/s"));
  EXPECT_EQ(InGate(setup_,
                   [this]() -> std::string {
                     int good = -1;
                     int refused = -1;
                     std::thread thread([&] {
                       good = TryConnect(In("project/s"));
                       refused = TryConnect(In("outside/s"));
                     });
                     thread.join();
                     CHILD_CHECK(good == 0 && refused == EACCES);
                     int ends[2];
                     CHILD_CHECK(pipe2(ends, O_CLOEXEC) == 0);
                     pid_t middle = fork();
                     if (middle == 0) {
                       setsid();
                       if (fork() != 0) _exit(0);
                       int results[2] = {TryConnect(In("project/s")), TryConnect(In("outside/s"))};
                       (void)!write(ends[1], results, sizeof results);
                       _exit(0);
                     }
                     waitpid(middle, nullptr, 0);
                     int results[2] = {-1, -1};
                     CHILD_CHECK(read(ends[0], results, sizeof results) == sizeof results);
                     CHILD_CHECK(results[0] == 0 && results[1] == EACCES);
                     return "";
                   }),
            "");
}

TEST_P(GateRulesTest, RefusesACallerItMayNotLookInto) {
  if (GetParam() == 0) GTEST_SKIP() << "needs an unprivileged user";  // root looks into everyone
  Server server(In("project/s"));
  auto hidden = [this]() -> std::string {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return ExpectErrno(TryConnect(In("project/s")), EACCES);
  };
  EXPECT_EQ(InGate(setup_, hidden), "");
  EXPECT_NE(WithoutGate(setup_, hidden), "");
}

TEST_P(GateRulesTest, RefusesInetUnlessAllowed) {
  uint16_t port = 0;
  Fd server = ListenTcp(16, &port);
  auto tcp = [&](int err) {
    return [=]() -> std::string {
      Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
      return ExpectErrno(ConnectTcp(socket.get(), port), err);
    };
  };
  EXPECT_EQ(InGate(setup_, tcp(0)), "");
  setup_.inet = false;
  EXPECT_EQ(InGate(setup_, tcp(EACCES)), "");
}

TEST_P(GateRulesTest, JudgesTheSocketAndNotTheAddress) {
  Server bad(In("outside/s"));
  EXPECT_EQ(InGate(setup_,
                   [this]() -> std::string {
                     // An inet socket with a UNIX address is the kernel's to refuse.
                     Fd inet(::socket(AF_INET, SOCK_STREAM, 0));
                     CHILD_CHECK(ConnectTo(inet.get(), In("outside/s")) == EAFNOSUPPORT);
                     Fd netlink(::socket(AF_NETLINK, SOCK_RAW, 0));
                     sockaddr_storage address{};
                     address.ss_family = AF_NETLINK;
                     CHILD_CHECK(connect(netlink.get(), reinterpret_cast<sockaddr*>(&address), 12) == 0);
                     return "";
                   }),
            "");
}

TEST_P(GateRulesTest, ReachesAbstractSocketsOfTheSessionOnly) {
  std::string outside = "@spty-gate-test-outside-" + std::to_string(getpid());
  std::string inside = "@spty-gate-test-inside-" + std::to_string(getpid());
  Server server(outside);
  auto body = [=]() -> std::string {
    Fd own = ListenAt(inside);
    CHILD_CHECK(own.valid());
    CHILD_CHECK(TryConnect(inside) == 0);
    CHILD_CHECK(TryConnect(outside) == EPERM);
    CHILD_CHECK(TryConnect(inside + "x") != 0);
    return "";
  };
  EXPECT_EQ(InGate(setup_, body), "") << "by asking";
  EXPECT_FALSE(server.Reached());
  if (!LandlockHasScopes()) GTEST_SKIP() << "this kernel's Landlock has no scopes";
  setup_.scoped = true;
  EXPECT_EQ(InGate(setup_, body), "") << "by Landlock";
  EXPECT_FALSE(server.Reached());
  // What the rule says about the keeper's domain is believed.
  setup_.scoped = false;
  setup_.claim_scoped = true;
  EXPECT_EQ(InGate(setup_, [=]() -> std::string { return ExpectErrno(TryConnect(outside), 0); }), "");
}

INSTANTIATE_TEST_SUITE_P(As, GateRulesTest, testing::ValuesIn(TestUsers()),
                         [](const auto& param) { return UserName(param.param); });

}  // namespace
}  // namespace spty
