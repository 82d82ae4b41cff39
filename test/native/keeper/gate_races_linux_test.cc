// What was checked is swapped for something else, as fast as possible. Nothing forbidden may ever be reached.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <thread>

#include "base/eintr.h"
#include "keeper/gate_harness_linux.h"
#include "support/in_child.h"
#include "support/temp_dir.h"

namespace spty {
namespace {

constexpr int kRounds = 3000;

// Runs `swap` again and again in a thread while `act` runs.
void While(const std::function<void()>& swap, const std::function<void()>& act) {
  std::atomic<bool> end = false;
  std::thread swapper([&] {
    while (!end) swap();
  });
  act();
  end = true;
  swapper.join();
}

class GateRacesTest : public testing::TestWithParam<uid_t> {
 protected:
  GateRacesTest() {
    for (const char* name : {"project", "outside"}) {
      EXPECT_EQ(mkdir(dir_.File(name).c_str(), 0777), 0);
      EXPECT_EQ(chmod(dir_.File(name).c_str(), 0777), 0);
    }
    setup_.directories = {dir_.File("project")};
    setup_.keeper_uid = GetParam();
  }

  // Of `kRounds` connects to `path` some arrived and some were refused, else nothing was swapped.
  static std::string ConnectOften(const std::string& path) {
    int good = 0;
    int refused = 0;
    for (int i = 0; i < kRounds || ((good == 0 || refused == 0) && i < 20 * kRounds); ++i) {
      int err = TryConnect(path);
      good += err == 0 ? 1 : 0;
      refused += err == EACCES ? 1 : 0;
      if (err != 0 && err != EACCES && err != ENOENT) return strerror(err);
    }
    return good > 0 && refused > 0 ? "" : "never swapped: " + std::to_string(good);
  }

  // Accepts until the session has ended, so that no queue is ever full; true if anybody came.
  static bool AcceptUntilEnd(GateSession* session, Server* server, std::string* complaint) {
    std::atomic<bool> end = false;
    bool any = false;
    std::thread accepting([&] {
      while (!end) any |= server->Reached();
      while (server->Reached()) any = true;
    });
    *complaint = session->Wait();
    end = true;
    accepting.join();
    return any;
  }

  TempDir dir_;
  GateSetup setup_;
};

TEST_P(GateRacesTest, ALinkThatPointsElsewhere) {
  Server good(dir_.File("project/s"));
  Server bad(dir_.File("outside/s"));
  GateSession session(setup_, [this]() -> std::string {
    std::string complaint;
    std::string link = dir_.File("project/link");
    While(
        [&] {
          for (const char* target : {"../outside/s", "s"}) {
            (void)!symlink(target, (link + "2").c_str());
            rename((link + "2").c_str(), link.c_str());
          }
        },
        [&] { complaint = ConnectOften(link); });
    return complaint;
  });
  std::string complaint;
  EXPECT_TRUE(AcceptUntilEnd(&session, &good, &complaint));
  EXPECT_EQ(complaint, "");
  EXPECT_FALSE(bad.Reached());
}

TEST_P(GateRacesTest, AFileThatIsAnother) {
  Server good(dir_.File("project/s"));
  Server bad(dir_.File("outside/s"));
  if (getuid() == 0) {
    ASSERT_EQ(chown(dir_.File("outside/s").c_str(), GetParam(), GetParam()), 0);
    ASSERT_EQ(chown(dir_.File("project/s").c_str(), GetParam(), GetParam()), 0);
  }
  GateSession session(setup_, [this]() -> std::string {
    std::string complaint;
    std::string name = dir_.File("project/either");
    While(
        [&] {
          for (const char* target : {"outside/s", "project/s"}) {
            (void)!link(dir_.File(target).c_str(), (name + "2").c_str());
            rename((name + "2").c_str(), name.c_str());
          }
        },
        [&] { complaint = ConnectOften(name); });
    return complaint;
  });
  std::string complaint;
  EXPECT_TRUE(AcceptUntilEnd(&session, &good, &complaint));
  EXPECT_EQ(complaint, "");
  EXPECT_FALSE(bad.Reached());
}

// The stranger's socket and the project's change places all the time. What counts is where each was bound,
// never where it lies at the moment of the look.
TEST_P(GateRacesTest, TwoFilesThatChangePlaces) {
  Server good(dir_.File("project/s"));
  Server bad(dir_.File("outside/s"));
  GateSession session(setup_, [this]() -> std::string {
    std::string names[2] = {dir_.File("outside/s"), dir_.File("project/s")};
    auto exchange = [&] {
      return syscall(SYS_renameat2, AT_FDCWD, names[0].c_str(), AT_FDCWD, names[1].c_str(), RENAME_EXCHANGE);
    };
    CHILD_CHECK(exchange() == 0 && exchange() == 0);
    int good_ones = 0;
    int refused = 0;
    int others = 0;
    While([&] { exchange(); },
          [&] {
            for (int i = 0; i < kRounds || ((good_ones == 0 || refused == 0) && i < 20 * kRounds); ++i) {
              int err = TryConnect(names[i % 2]);
              good_ones += err == 0 ? 1 : 0;
              refused += err == EACCES ? 1 : 0;
              others += err != 0 && err != EACCES ? 1 : 0;
            }
          });
    CHILD_CHECK(good_ones > 0 && refused > 0 && others == 0);
    return "";
  });
  std::string complaint;
  EXPECT_TRUE(AcceptUntilEnd(&session, &good, &complaint));
  EXPECT_EQ(complaint, "");
  EXPECT_FALSE(bad.Reached());
}

// The same with the directories above them.
TEST_P(GateRacesTest, TwoDirectoriesThatChangePlaces) {
  for (const char* name : {"project/d", "outside/d"}) {
    ASSERT_EQ(mkdir(dir_.File(name).c_str(), 0777), 0);
    ASSERT_EQ(chmod(dir_.File(name).c_str(), 0777), 0);
    if (getuid() == 0) {
      ASSERT_EQ(chown(dir_.File(name).c_str(), GetParam(), GetParam()), 0);
    }
  }
  Server good(dir_.File("project/d/s"));
  Server bad(dir_.File("outside/d/s"));
  GateSession session(setup_, [this]() -> std::string {
    std::string names[2] = {dir_.File("outside/d"), dir_.File("project/d")};
    auto exchange = [&] {
      return syscall(SYS_renameat2, AT_FDCWD, names[0].c_str(), AT_FDCWD, names[1].c_str(), RENAME_EXCHANGE);
    };
    CHILD_CHECK(exchange() == 0 && exchange() == 0);
    int good_ones = 0;
    int refused = 0;
    While([&] { exchange(); },
          [&] {
            for (int i = 0; i < kRounds || ((good_ones == 0 || refused == 0) && i < 20 * kRounds); ++i) {
              int err = TryConnect(names[i % 2] + "/s");
              good_ones += err == 0 ? 1 : 0;
              refused += err == EACCES ? 1 : 0;
            }
          });
    CHILD_CHECK(good_ones > 0 && refused > 0);
    return "";
  });
  std::string complaint;
  EXPECT_TRUE(AcceptUntilEnd(&session, &good, &complaint));
  EXPECT_EQ(complaint, "");
  EXPECT_FALSE(bad.Reached());
}

TEST_P(GateRacesTest, AnAddressThatIsAnother) {
  Server good(dir_.File("project/s"));
  Server bad(dir_.File("outside/s"));
  GateSession session(setup_, [this]() -> std::string {
    static sockaddr_un address;
    address.sun_family = AF_UNIX;
    std::string paths[2] = {dir_.File("project/s"), dir_.File("outside/s")};
    int good_ones = 0;
    int refused = 0;
    While(
        [&] {
          for (const std::string& path : paths) memcpy(address.sun_path, path.c_str(), path.size() + 1);
        },
        [&] {
          for (int i = 0; i < kRounds || ((good_ones == 0 || refused == 0) && i < 20 * kRounds); ++i) {
            Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
            int result = connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
            good_ones += result == 0 ? 1 : 0;
            refused += result == -1 && errno == EACCES ? 1 : 0;
          }
        });
    CHILD_CHECK(good_ones > 0 && refused > 0);
    return "";
  });
  std::string complaint;
  EXPECT_TRUE(AcceptUntilEnd(&session, &good, &complaint));
  EXPECT_EQ(complaint, "");
  EXPECT_FALSE(bad.Reached());
}

TEST_P(GateRacesTest, ADescriptorThatIsAnother) {
  uint16_t port = 0;
  Fd server = ListenTcp(4096, &port);
  ASSERT_EQ(fcntl(server.get(), F_SETFL, O_NONBLOCK), 0);
  setup_.inet = false;
  EXPECT_EQ(InGate(setup_,
                   [=]() -> std::string {
                     // A netlink socket may be connected, an inet one may not; the address is for the latter.
                     Fd allowed(::socket(AF_NETLINK, SOCK_RAW, 0));
                     Fd forbidden(::socket(AF_INET, SOCK_STREAM, 0));
                     int either = fcntl(allowed.get(), F_DUPFD, 100);
                     int passed = 0;
                     int refused = 0;
                     While(
                         [&] {
                           dup2(forbidden.get(), either);
                           sched_yield();
                           dup2(allowed.get(), either);
                           sched_yield();
                         },
                         [&] {
                           for (int i = 0; i < kRounds || ((passed == 0 || refused == 0) && i < 20 * kRounds);
                                ++i) {
                             int err = ConnectTcp(either, port);
                             refused += err == EACCES ? 1 : 0;
                             passed += err == EINVAL || err == EAFNOSUPPORT ? 1 : 0;  // what netlink says
                           }
                         });
                     CHILD_CHECK(passed > 0 && refused > 0);
                     return "";
                   }),
            "");
  EXPECT_EQ(accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC), -1);
  EXPECT_EQ(WithoutGate(setup_,
                        [=]() -> std::string {
                          Fd forbidden(::socket(AF_INET, SOCK_STREAM, 0));
                          CHILD_CHECK(ConnectTcp(forbidden.get(), port) == 0);
                          return "";
                        }),
            "");
  EXPECT_NE(Fd(accept4(server.get(), nullptr, nullptr, SOCK_CLOEXEC)).get(), -1);
}

INSTANTIATE_TEST_SUITE_P(As, GateRacesTest, testing::ValuesIn(TestUsers()),
                         [](const auto& param) { return UserName(param.param); });

}  // namespace
}  // namespace spty
