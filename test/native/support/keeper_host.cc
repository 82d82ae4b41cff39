#include "support/keeper_host.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cstring>

#include "base/eintr.h"
#include "session/spawn_attributes.h"
#include "support/descriptors.h"
#include "support/processes.h"

namespace spty {
namespace {

constexpr int kPatienceMs = 20'000;

std::string HeaderBytes(wire::Type type, size_t length, uint32_t fd_count) {
  wire::Header header{wire::kMagic, wire::kVersion, type, static_cast<uint32_t>(length), fd_count};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header);
}

}  // namespace

Plan ShellPlan(const std::string& script) {
  Plan plan;
  plan.cwd = "/";
  plan.candidates = {"/bin/sh"};
  plan.argv = {"sh", "-c", script};
  plan.env = {"PATH=/usr/bin:/bin"};
  return plan;
}

Plan ProgramPlan(std::vector<std::string> argv) {
  Plan plan = ShellPlan("");
  plan.candidates = {argv.front()};
  plan.argv = std::move(argv);
  return plan;
}

KeeperHost::KeeperHost(const std::string& path) {
  SocketPair pair;
  control_ = std::move(pair.first);
  const Fd theirs = std::move(pair.second);
  auto attributes = SpawnAttributes::ForKeeper(theirs.get());
  char name[] = "sandboxed-pty-keeper";
  char* argv[] = {name, nullptr};
  char* env[] = {nullptr};
  EXPECT_EQ(posix_spawn(&pid_, path.c_str(), attributes.value().actions(), attributes.value().attributes(),
                        argv, env),
            0);
}

KeeperHost::~KeeperHost() {
  Hang();
  if (pid_ == 0) return;
  std::vector<pid_t> left = ChildrenOf(pid_);
  if (!WaitForDeath(pid_)) {
    ADD_FAILURE() << "the keeper " << pid_ << " outlives its host";
    for (pid_t child : left) kill(child, SIGKILL);
    kill(pid_, SIGKILL);
  }
  Wait();
}

void KeeperHost::Send(const std::string& bytes, const std::vector<int>& descriptors) {
  std::string rest = bytes;
  if (!descriptors.empty()) {
    iovec part{rest.data(), 1};
    std::vector<char> ancillary(CMSG_SPACE(descriptors.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.data();
    message.msg_controllen = static_cast<socklen_t>(ancillary.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = static_cast<socklen_t>(CMSG_LEN(descriptors.size() * sizeof(int)));
    memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
    EXPECT_EQ(sendmsg(control(), &message, kSendQuietly), 1);
    rest.erase(0, 1);
  }
  size_t sent = 0;
  while (sent < rest.size()) {
    ssize_t size =
        RetryEintr([&] { return send(control(), rest.data() + sent, rest.size() - sent, kSendQuietly); });
    if (size == -1) return;  // the keeper has refused what came so far
    sent += static_cast<size_t>(size);
  }
}

std::string KeeperHost::ReservationFrame(const Reservation& reservation, uint32_t descriptors) {
  auto payload = EncodeReservation(reservation);
  EXPECT_TRUE(payload.ok()) << Describe(payload.error());
  return HeaderBytes(wire::Type::kReserve, payload.value().size(), descriptors) + payload.value();
}

std::string KeeperHost::PlanFrame(const Plan& plan) {
  auto payload = EncodePlan(plan);
  EXPECT_TRUE(payload.ok()) << Describe(payload.error());
  return HeaderBytes(wire::Type::kPlan, payload.value().size(), 1) + payload.value();
}

void KeeperHost::SendSignal(int number) {
  wire::Signal signal{number};
  Send(HeaderBytes(wire::Type::kSignal, sizeof signal, 0) +
       std::string(reinterpret_cast<const char*>(&signal), sizeof signal));
}

std::optional<Frame> KeeperHost::Next() {
  for (;;) {
    Frame frame;
    auto status = frames_.Next(control(), &frame);
    EXPECT_TRUE(status.ok()) << Describe(status.error());
    if (!status.ok() || status.value() == FrameReader::Status::kClosed) return std::nullopt;
    if (status.value() == FrameReader::Status::kFrame) return frame;
    pollfd watched{control(), POLLIN, 0};
    if (RetryEintr([&] { return poll(&watched, 1, kPatienceMs); }) != 1) {
      ADD_FAILURE() << "the keeper is silent";
      return std::nullopt;
    }
  }
}

Frame KeeperHost::Expect(wire::Type type) {
  std::optional<Frame> frame = Next();
  if (!frame) {
    ADD_FAILURE() << "the keeper closed instead of sending frame " << static_cast<int>(type);
    return Frame{};
  }
  EXPECT_EQ(static_cast<int>(frame->type), static_cast<int>(type));
  if (frame->type == wire::Type::kFailed && type != wire::Type::kFailed) {
    ADD_FAILURE() << Describe(Error{frame->failed.stage, frame->failed.err, "in the keeper"});
  }
  return *frame;
}

pid_t KeeperHost::Start(const Plan& plan, int slave) {
  SendPlan(plan, slave);
  return Expect(wire::Type::kStarted).started.pid;
}

int KeeperHost::Wait() {
  int status = -1;
  if (pid_ == 0) return status;
  if (!WaitForDeath(pid_)) return status;
  RetryEintr([&] { return waitpid(pid_, &status, 0); });
  pid_ = 0;
  return status;
}

}  // namespace spty
