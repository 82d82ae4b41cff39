// Which sockets the gate lets a session reach.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "keeper/gate_places_linux.h"
#include "support/in_child.h"

namespace spty {
namespace {

class GateRulesTest : public GatePlacesTest {};

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

TEST_P(GateRulesTest, RefusesWhatIsClosedInWhatItAllows) {
  ASSERT_EQ(mkdir(In("project/keys").c_str(), 0777), 0);
  Server server(In("project/keys/agent"));
  Server beside(In("project/keys-2"));
  ExpectAllowed(In("project/keys/agent"));
  setup_.closed = {In("project/keys")};
  ExpectRefused(In("project/keys/agent"));
  ExpectAllowed(In("project/keys-2"));
  // A rule that names it, or something in it, is nearer; one around it is not.
  setup_.sockets = {In("project/keys/agent")};
  ExpectAllowed(In("project/keys/agent"));
  setup_.sockets = {In("project/keys")};
  ExpectAllowed(In("project/keys/agent"));
  setup_.sockets = {In("project")};
  ExpectRefused(In("project/keys/agent"));
  // Nor is what is closed around the project.
  setup_.sockets.clear();
  setup_.closed = {In("project"), In("")};
  ExpectAllowed(In("project/keys/agent"));
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

INSTANTIATE_TEST_SUITE_P(As, GateRulesTest, testing::ValuesIn(TestUsers()),
                         [](const auto& param) { return UserName(param.param); });

}  // namespace
}  // namespace spty
