// Who calls, how, and with what: the gate's answers to all kinds of callers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "keeper/gate_places_linux.h"
#include "support/in_child.h"

namespace spty {
namespace {

class GateCallersTest : public GatePlacesTest {};

TEST_P(GateCallersTest, ResolvesRelativePathsWhereTheCallerIs) {
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

TEST_P(GateCallersTest, RefusesWaysThroughProc) {
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

TEST_P(GateCallersTest, RefusesDatagramSockets) {
  std::string name = In("project/d");
  Fd receiver(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, name.data(), name.size());
  ASSERT_EQ(bind(receiver.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(chmod(name.c_str(), 0777), 0);
  ExpectRefused(name, EACCES, SOCK_DGRAM);
}

TEST_P(GateCallersTest, SaysWhatTheKernelWouldSay) {
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

TEST_P(GateCallersTest, TakesPathsOfFullLength) {
  std::string name = In("project/");
  ASSERT_LT(name.size(), 108U);
  name += std::string(108 - name.size(), 'x');  // fills sun_path: no room for a NUL
  Server server(name);
  ExpectAllowed(name);
}

TEST_P(GateCallersTest, AnswersDaemonsAndThreads) {
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

// As sessions are: neither they nor the gate have capabilities.
TEST_P(GateCallersTest, RefusesACallerItMayNotLookInto) {
  Server server(In("project/s"));
  auto body = [this](bool dumpable, int err) {
    return [=, this]() -> std::string {
      CHILD_CHECK(DropAllCapabilities());
      CHILD_CHECK(prctl(PR_SET_DUMPABLE, dumpable ? 1 : 0, 0, 0, 0) == 0);
      return ExpectErrno(TryConnect(In("project/s")), err);
    };
  };
  setup_.drop_capabilities = true;
  EXPECT_EQ(InGate(setup_, body(false, EACCES)), "");
  EXPECT_FALSE(server.Reached());
  EXPECT_EQ(InGate(setup_, body(true, 0)), "");
  EXPECT_EQ(WithoutGate(setup_, body(false, 0)), "");
  if (GetParam() != 0) return;
  setup_.drop_capabilities = false;
  EXPECT_EQ(InGate(setup_, body(false, 0)), "");  // root's capabilities at work
}

// There the caller has another number than in the keeper's eyes.
TEST_P(GateCallersTest, AnswersInAPidNamespaceOfTheCallers) {
  Server good(In("project/s"));
  Server bad(In("outside/s"));
  static const std::string kNone = "needs user namespaces";
  auto body = [this](int refused) {
    return [=, this]() -> std::string {
      const std::string names[] = {In("project/s"), In("outside/s"), In("shared/before"), In("shared/own")};
      const int expected[] = {0, refused, 0, 0};
      Fd before = ListenAt(names[2]);
      CHILD_CHECK(before.valid());
      if (unshare(CLONE_NEWUSER | CLONE_NEWPID) == -1) return kNone;
      int status = -1;
      pid_t first = fork();
      if (first == 0) {
        if (getpid() != 1) _exit(100);
        Fd own = ListenAt(names[3]);
        for (int i = 0; i < 4; ++i) {
          if (TryConnect(names[i]) != expected[i]) _exit(i + 1);
        }
        _exit(0);
      }
      CHILD_CHECK(waitpid(first, &status, 0) == first);
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "status " + std::to_string(status);
    };
  };
  const std::string without = WithoutGate(setup_, body(0));
  if (without == kNone) GTEST_SKIP() << kNone;
  EXPECT_EQ(without, "");
  EXPECT_TRUE(bad.Reached());
  for (const char* name : {"shared/before", "shared/own"}) EXPECT_EQ(unlink(In(name).c_str()), 0) << name;
  EXPECT_EQ(InGate(setup_, body(EACCES)), "");
  EXPECT_FALSE(bad.Reached());
}

TEST_P(GateCallersTest, RefusesInetUnlessAllowed) {
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

TEST_P(GateCallersTest, JudgesTheSocketAndNotTheAddress) {
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

TEST_P(GateCallersTest, ReachesAbstractSocketsOfTheSessionOnly) {
  if (!LandlockHasScopes()) GTEST_SKIP() << "this kernel's Landlock has no scopes";
  std::string outside = "@spty-gate-test-outside-" + std::to_string(getpid());
  std::string inside = "@spty-gate-test-inside-" + std::to_string(getpid());
  Server server(outside);
  setup_.scoped = true;
  EXPECT_EQ(InGate(setup_,
                   [=]() -> std::string {
                     Fd own = ListenAt(inside);
                     CHILD_CHECK(own.valid());
                     CHILD_CHECK(TryConnect(inside) == 0);
                     CHILD_CHECK(TryConnect(outside) == EPERM);
                     CHILD_CHECK(TryConnect(inside + "x") != 0);
                     return "";
                   }),
            "");
  EXPECT_FALSE(server.Reached());
  // What the rule says about the keeper's domain is believed.
  setup_.scoped = false;
  setup_.claim_scoped = true;
  EXPECT_EQ(InGate(setup_, [=]() -> std::string { return ExpectErrno(TryConnect(outside), 0); }), "");
}

// A name can change hands between a look at it and the connect: without Landlock's help there are none.
TEST_P(GateCallersTest, ReachesNoAbstractSocketsWithoutTheScope) {
  std::string outside = "@spty-gate-test-outside-" + std::to_string(getpid());
  std::string inside = "@spty-gate-test-inside-" + std::to_string(getpid());
  Server server(outside);
  auto body = [=](int err) {
    return [=]() -> std::string {
      Fd own = ListenAt(inside);
      CHILD_CHECK(own.valid());
      CHILD_CHECK(TryConnect(inside) == err);
      CHILD_CHECK(TryConnect(outside) == err);
      return "";
    };
  };
  EXPECT_EQ(InGate(setup_, body(EPERM)), "");
  EXPECT_FALSE(server.Reached());
  EXPECT_EQ(WithoutGate(setup_, body(0)), "");
}

INSTANTIATE_TEST_SUITE_P(As, GateCallersTest, testing::ValuesIn(TestUsers()),
                         [](const auto& param) { return UserName(param.param); });

}  // namespace
}  // namespace spty
