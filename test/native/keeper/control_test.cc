#include "keeper/control.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <thread>

#include "session/frame_reader.h"
#include "support/descriptors.h"
#include "support/keeper_host.h"
#include "support/processes.h"

namespace spty {
namespace {

void SendAll(int fd, const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    ssize_t size = send(fd, bytes.data() + sent, bytes.size() - sent, kSendQuietly);
    if (size <= 0) return;
    sent += static_cast<size_t>(size);
  }
}

// The first byte with these; false if nobody listens any more.
bool SendWithDescriptors(int socket, const std::string& bytes, const std::vector<int>& passed) {
  char first = bytes[0];
  iovec part{&first, 1};
  constexpr size_t kMost = 2;
  alignas(cmsghdr) char ancillary[CMSG_SPACE(kMost * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!passed.empty()) {
    const size_t size = passed.size() * sizeof(int);
    message.msg_control = ancillary;
    message.msg_controllen = static_cast<socklen_t>(CMSG_SPACE(size));
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = static_cast<socklen_t>(CMSG_LEN(size));
    memcpy(CMSG_DATA(rights), passed.data(), size);
  }
  if (sendmsg(socket, &message, kSendQuietly) != 1) return false;
  SendAll(socket, bytes.substr(1));
  return true;
}

// The first byte with `passed`, if that is not -1.
void SendWithDescriptor(int socket, const std::string& bytes, int passed) {
  EXPECT_TRUE(
      SendWithDescriptors(socket, bytes, passed == -1 ? std::vector<int>{} : std::vector<int>{passed}));
}

int Received(const std::string& bytes, bool with_descriptor = true) {
  SocketPair pair;
  Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  SendWithDescriptor(pair.first.get(), bytes, with_descriptor ? null.get() : -1);
  pair.first.Reset();
  Reserved reserved;
  ReceivedPlan plan;
  return ReceivePlan(pair.second.get(), &reserved, &plan);
}

TEST(ReceivePlan, TakesAPlanAndItsDescriptor) {
  SocketPair pair;
  Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  SendWithDescriptor(pair.first.get(), KeeperHost::PlanFrame(ShellPlan("exit")), null.get());
  Reserved reserved;
  ReceivedPlan plan;
  ASSERT_EQ(ReceivePlan(pair.second.get(), &reserved, &plan), 0);
  EXPECT_STREQ(plan.view.argv[2], "exit");
  EXPECT_TRUE(plan.slave.valid());
  EXPECT_NE(plan.slave.get(), null.get());
  EXPECT_EQ(fcntl(plan.slave.get(), F_GETFD), FD_CLOEXEC);
}

TEST(ReceivePlan, TakesAPlanThatArrivesInPieces) {
  SocketPair pair;
  Plan big = ShellPlan("exit");
  big.env.push_back("BIG=" + std::string(size_t{2} << 20, 'b'));
  std::string frame = KeeperHost::PlanFrame(big);
  std::thread sender([&] {
    SendWithDescriptor(pair.first.get(), frame.substr(0, 1), STDERR_FILENO);
    for (size_t at = 1; at < 200; ++at) SendAll(pair.first.get(), frame.substr(at, 1));
    SendAll(pair.first.get(), frame.substr(200));
  });
  Reserved reserved;
  ReceivedPlan plan;
  int err = ReceivePlan(pair.second.get(), &reserved, &plan);
  sender.join();
  ASSERT_EQ(err, 0);
  EXPECT_EQ(strlen(plan.view.env[1]), (size_t{2} << 20) + 4);
}

TEST(ReceivePlan, TellsAHostThatWentAwayAtAnyPoint) {
  std::string frame = KeeperHost::PlanFrame(ShellPlan("exit"));
  ASSERT_EQ(Received(frame), 0);
  for (size_t size = 1; size < frame.size(); ++size) {
    ASSERT_EQ(Received(frame.substr(0, size)), ECONNRESET) << size;
  }
  SocketPair pair;
  pair.first.Reset();
  Reserved reserved;
  ReceivedPlan plan;
  EXPECT_EQ(ReceivePlan(pair.second.get(), &reserved, &plan), ECONNRESET);
}

TEST(ReceivePlan, NotesWhatIsReservedUntilThePlanComes) {
  SocketPair pair;
  Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  SendWithDescriptor(pair.first.get(), KeeperHost::ReservationFrame({"/tmp/x", ""}, 0), -1);
  SendWithDescriptor(pair.first.get(), KeeperHost::ReservationFrame({"", "leaf"}, 1), null.get());
  SendWithDescriptor(pair.first.get(), KeeperHost::PlanFrame(ShellPlan("exit")), null.get());
  Reserved reserved;
  ReceivedPlan plan;
  ASSERT_EQ(ReceivePlan(pair.second.get(), &reserved, &plan), 0);
  EXPECT_STREQ(reserved.temp_dir, "/tmp/x");
  EXPECT_STREQ(reserved.cgroup_name, "leaf");
  EXPECT_TRUE(reserved.cgroup_place.valid());
  EXPECT_STREQ(plan.view.argv[2], "exit");
  EXPECT_TRUE(plan.slave.valid());
}

TEST(ReceivePlan, RefusesAReservationThatMakesNoSense) {
  const std::string good = KeeperHost::ReservationFrame({"/tmp/x", ""}, 0);
  EXPECT_EQ(Received(good, false), ECONNRESET) << "nothing but the plan is missing";
  EXPECT_EQ(Received(good + good + good, false), EPROTO);
  EXPECT_EQ(Received(KeeperHost::ReservationFrame({"", "leaf"}, 0), false), EPROTO)
      << "a name without its directory";
  EXPECT_EQ(Received(KeeperHost::ReservationFrame({"/tmp/x", ""}, 1), true), EPROTO)
      << "a directory without a name";
  std::string cut = good;
  cut[sizeof(wire::Header)] ^= 1;
  EXPECT_EQ(Received(cut, false), EPROTO);
  EXPECT_FALSE(EncodeReservation({std::string(wire::kMaxReservation, 'x'), ""}).ok());
}

std::string AroundFrame(const std::string& directory, const std::string& hole, size_t padding = 0) {
  RulesAround around;
  around.path = directory;
  around.holes.push_back({hole, {}});
  if (padding > 0) around.holes.push_back({hole + std::string(padding, 'x'), {}});
  const std::string payload = EncodeAround(around).value();
  const wire::Header header{wire::kMagic, wire::kVersion, wire::Type::kAround,
                            static_cast<uint32_t>(payload.size()), 1};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
}

// Takes no part in a test but to be passed.
class Null {
 public:
  int get() const { return fd_.get(); }

 private:
  Fd fd_{open("/dev/null", O_RDWR | O_CLOEXEC)};
};

// Reading directories comes later, so that nobody has to wait until the plan is taken.
TEST(ReceivePlan, KeepsWhatRulesAreToBeMadeOf) {
  SocketPair pair;
  const Null null;
  auto before = OwnDescriptors();
  {
    std::thread sender([&] {
      SendWithDescriptor(pair.first.get(), AroundFrame("/no/such", "/no/such/place"), null.get());
      SendWithDescriptor(pair.first.get(), AroundFrame("/", "/proc"), null.get());
      Plan plan = ShellPlan("exit");
      plan.confined = plan.inner_domain = true;
      plan.env.push_back("BIG=" + std::string(size_t{2} << 20, 'b'));
      std::string frame = KeeperHost::PlanFrame(plan);
      frame[offsetof(wire::Header, fd_count)] = 2;
      SendWithDescriptors(pair.first.get(), frame, {null.get(), null.get()});
    });
    Reserved reserved;
    ReceivedPlan plan;
    const int err = ReceivePlan(pair.second.get(), &reserved, &plan);
    sender.join();
    ASSERT_EQ(err, 0);
    const Around* around = plan.arounds.first();
    ASSERT_NE(around, nullptr);
    EXPECT_STREQ(around->path, "/no/such");
    ASSERT_EQ(around->hole_count, 1U);
    EXPECT_STREQ(around->holes[0].path, "/no/such/place");
    EXPECT_GE(around->directory, 0);
    ASSERT_NE(around->next, nullptr);
    EXPECT_STREQ(around->next->path, "/");
    EXPECT_EQ(around->next->next, nullptr);
    ReceivedPlan taken = std::move(plan);
    EXPECT_EQ(plan.arounds.first(), nullptr);
    EXPECT_NE(taken.arounds.first(), nullptr);
  }
  EXPECT_EQ(OwnDescriptors(), before);
}

TEST(ReceivePlan, KeepsRulesForAConfinedShellOnly) {
  SocketPair pair;
  const Null null;
  SendWithDescriptor(pair.first.get(), AroundFrame("/a", "/a/b"), null.get());
  SendWithDescriptor(pair.first.get(), KeeperHost::PlanFrame(ShellPlan("exit")), null.get());
  Reserved reserved;
  ReceivedPlan plan;
  EXPECT_EQ(ReceivePlan(pair.second.get(), &reserved, &plan), EPROTO);
}

TEST(ReceivePlan, KeepsOnlySoMany) {
  const auto received = [](size_t count, size_t padding) {
    SocketPair pair;
    const Null null;
    std::thread sender([&] {
      for (size_t i = 0; i < count; ++i) {
        if (!SendWithDescriptors(pair.first.get(), AroundFrame("/a", "/a/b", padding), {null.get()})) break;
      }
      pair.first.Reset();
    });
    Reserved reserved;
    ReceivedPlan plan;
    const int err = ReceivePlan(pair.second.get(), &reserved, &plan);
    pair.second.Reset();
    sender.join();
    return err;
  };
  EXPECT_EQ(received(wire::kMaxArounds, 0), ECONNRESET) << "nothing but the plan is missing";
  EXPECT_EQ(received(wire::kMaxArounds + 1, 0), E2BIG);
  const size_t third = wire::kMaxPlanBytes / 3;
  EXPECT_EQ(received(2, third), ECONNRESET);
  EXPECT_EQ(received(3, third), E2BIG);
}

TEST(ReceivePlan, RefusesRulesThatMakeNoSense) {
  const std::string good = AroundFrame("/a", "/a/b");
  EXPECT_EQ(Received(good, true), ECONNRESET) << "nothing but the plan is missing";
  EXPECT_EQ(Received(good, false), EPROTO);
  for (size_t size = 1; size < good.size(); ++size)
    ASSERT_EQ(Received(good.substr(0, size), true), ECONNRESET) << size;
  EXPECT_EQ(Received(AroundFrame("/a", "/b"), true), EPROTO);
}

TEST(ReceivePlan, RefusesAPlanWithoutItsDescriptor) {
  std::string frame = KeeperHost::PlanFrame(ShellPlan("exit"));
  EXPECT_EQ(Received(frame, true), 0);
  EXPECT_EQ(Received(frame, false), EPROTO);
}

TEST(ReceivePlan, LeaksNoDescriptorWhateverComes) {
  const std::string valid[] = {KeeperHost::PlanFrame(ShellPlan("exit")), AroundFrame("/a", "/a/b")};
  auto before = OwnDescriptors();
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::string bytes = valid[seed % 2];
    // Mostly in the header and the fixed part, where a change leads to another path.
    size_t range = random() % 2 == 0 ? sizeof(wire::Header) + sizeof(wire::PlanFixed) : bytes.size();
    bytes[random() % range] = static_cast<char>(random());
    int err = Received(bytes);
    ASSERT_TRUE(err == 0 || err == EPROTO || err == ECONNRESET || err == E2BIG) << ErrnoName(err);
  }
  EXPECT_EQ(OwnDescriptors(), before);
}

TEST(SendFrame, IsReadByTheHost) {
  SocketPair pair;
  wire::Exited exited{7, 9};
  wire::Started started{77, 1};
  ASSERT_EQ(SendFrame(pair.second.get(), wire::Type::kStarted, &started, sizeof started), 0);
  ASSERT_EQ(SendFrame(pair.second.get(), wire::Type::kExited, &exited, sizeof exited), 0);
  FrameReader reader;
  Frame frame;
  ASSERT_EQ(reader.Next(pair.first.get(), &frame).value(), FrameReader::Status::kFrame);
  EXPECT_EQ(frame.type, wire::Type::kStarted);
  EXPECT_EQ(frame.started.pid, 77);
  ASSERT_EQ(reader.Next(pair.first.get(), &frame).value(), FrameReader::Status::kFrame);
  EXPECT_EQ(frame.type, wire::Type::kExited);
  EXPECT_EQ(frame.exited.code, 7);
  EXPECT_EQ(frame.exited.signal, 9);
}

TEST(SendFrame, ToAHostThatIsGoneIsAnErrorAndNoSignal) {
  SocketPair pair;
  pair.first.Reset();
  wire::Started started{77, 1};
  EXPECT_EQ(SendFrame(pair.second.get(), wire::Type::kStarted, &started, sizeof started), EPIPE);
}

int SignalFrom(wire::Header header, int32_t number) {
  SocketPair pair;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  SendAll(pair.first.get(), bytes);
  pair.first.Reset();
  return ReceiveSignal(pair.second.get());
}

TEST(ReceiveSignal, TakesAnythingMalformedForAHostThatIsGone) {
  const wire::Header good{wire::kMagic, wire::kVersion, wire::Type::kSignal, sizeof(wire::Signal), 0};
  EXPECT_EQ(SignalFrom(good, 15), 15);
  EXPECT_EQ(SignalFrom(good, 0), 0);
  EXPECT_EQ(SignalFrom(good, -9), 0);
  wire::Header bad = good;
  bad.magic ^= 1;
  EXPECT_EQ(SignalFrom(bad, 15), 0);
  bad = good;
  ++bad.version;
  EXPECT_EQ(SignalFrom(bad, 15), 0);
  bad = good;
  bad.type = wire::Type::kPlan;
  EXPECT_EQ(SignalFrom(bad, 15), 0);
  bad = good;
  bad.length = 8;
  EXPECT_EQ(SignalFrom(bad, 15), 0);
  SocketPair pair;
  pair.first.Reset();
  EXPECT_EQ(ReceiveSignal(pair.second.get()), 0);
}

}  // namespace
}  // namespace spty
