#include "session/keeper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/eintr.h"
#include "base/socket.h"
#include "session/leftovers.h"
#include "session/spawn_attributes.h"

namespace spty {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr int kSliceMs = 50;

Error KeeperError(int err, std::string subject) { return Error{Stage::kKeeper, err, std::move(subject)}; }

}  // namespace

Result<KeeperProcess> KeeperProcess::Start(const std::string& path) {
  ReapLeftovers();
  int ends[2];
  if (int failed = OpenStreamPair(ends); failed != 0) return KeeperError(failed, "socketpair");
  Fd ours = AboveStdio(Fd(ends[0]));
  Fd theirs = AboveStdio(Fd(ends[1]));
  if (!ours.valid() || !theirs.valid()) return KeeperError(errno, "socketpair");
  TRY_ASSIGN(SpawnAttributes attributes, SpawnAttributes::ForKeeper(theirs.get()));
  char* argv[] = {const_cast<char*>(wire::kKeeperName), nullptr};
  char* env[] = {nullptr};
  pid_t pid = 0;
  int err = posix_spawn(&pid, path.c_str(), attributes.actions(), attributes.attributes(), argv, env);
  if (err != 0) return KeeperError(err, path);
  return KeeperProcess(std::move(ours), pid);
}

KeeperProcess::KeeperProcess(KeeperProcess&& other) noexcept
    : ended_(other.ended_),
      ended_at_(other.ended_at_),
      pid_(other.pid_),
      control_(std::move(other.control_)),
      frames_(other.frames_),
      arounds_(other.arounds_) {
  other.pid_ = 0;
}

KeeperProcess::~KeeperProcess() {
  if (TryReap()) return;
  EndSession();
  control_.Reset();
  // Keepers end at once, unless something in their session does not die. All that are left when an
  // environment goes were told so at about the same time, so that together they delay it by a second at most.
  while (Clock::now() < ended_at_ + kEndPatience) {
    if (TryReap()) return;
    timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
    SignalKeeper(SIGCONT);
  }
  // It is left to its work: killing it would free what it guards.
  ReapLater();
}

Result<void> KeeperProcess::Reserve(const Reservation& reservation, int place) {
  TRY_ASSIGN(const std::string payload, EncodeReservation(reservation));
  return Send(wire::Type::kReserve, payload, std::span(&place, place >= 0 ? 1 : 0));
}

Result<void> KeeperProcess::Complete(const RulesAround& around) {
  // The keeper would refuse, and could not say of what it was too much.
  if (++arounds_ > wire::kMaxArounds)
    return Error{Stage::kConfinement, E2BIG,
                 "more than " + std::to_string(wire::kMaxArounds) +
                     " granted directories have something protected in them"};
  TRY_ASSIGN(const std::string payload, EncodeAround(around));
  auto sent = Send(wire::Type::kAround, payload, std::span(&around.directory, 1));
  if (!sent.ok() && (sent.error().err == EPIPE || sent.error().err == ECONNRESET)) return {};
  return sent;
}

Result<void> KeeperProcess::SendPlan(const std::string& plan, std::span<const int> fds) {
  return Send(wire::Type::kPlan, plan, fds);
}

Result<wire::Features> KeeperProcess::Probe() {
  TRY(Send(wire::Type::kProbe, "", {}));
  TRY_ASSIGN(Frame answer, Await());
  if (answer.type == wire::Type::kFailed) return Error{answer.failed.stage, answer.failed.err, ""};
  if (answer.type != wire::Type::kFeatures) return KeeperError(EPROTO, "no features from the keeper");
  return answer.features;
}

// Waits until the socket is ready; an error if that takes longer than anything but a stopped keeper would.
// One that its own shell has stopped, before it could tell of it, is made to go on.
Result<void> KeeperProcess::WaitFor(short events) {
  for (int waited = 0; waited < kPatienceMs; waited += kSliceMs) {
    pollfd watched{control_.get(), events, 0};
    const int ready = RetryEintr([&] { return poll(&watched, 1, kSliceMs); });
    if (ready == -1) return KeeperError(errno, "poll");
    if (ready > 0) return {};
    SignalKeeper(SIGCONT);
  }
  return KeeperError(ETIMEDOUT, "the keeper does not answer");
}

Result<size_t> KeeperProcess::SendSome(const msghdr& message) {
  for (;;) {
    ssize_t sent = RetryEintr([&] { return sendmsg(control_.get(), &message, kSendQuietly | MSG_DONTWAIT); });
    if (sent >= 0) return static_cast<size_t>(sent);
    if (errno != EAGAIN) return KeeperError(errno, "the keeper ended before it got its plan");
    TRY(WaitFor(POLLOUT));
  }
}

Result<void> KeeperProcess::Send(wire::Type type, const std::string& payload, std::span<const int> fds) {
  if (fds.size() > wire::kMaxPlanFds) return Error{Stage::kPlan, E2BIG, "descriptors"};
  wire::Header header{wire::kMagic, wire::kVersion, type, static_cast<uint32_t>(payload.size()),
                      static_cast<uint32_t>(fds.size())};
  iovec parts[2] = {{&header, sizeof header}, {const_cast<char*>(payload.data()), payload.size()}};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(wire::kMaxPlanFds * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  if (!fds.empty()) {
    message.msg_control = ancillary;
    message.msg_controllen = static_cast<socklen_t>(CMSG_SPACE(fds.size_bytes()));
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = static_cast<socklen_t>(CMSG_LEN(fds.size_bytes()));
    memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  size_t left = sizeof header + payload.size();
  while (left > 0) {
    TRY_ASSIGN(size_t sent, SendSome(message));
    left -= sent;
    // The descriptors went with the first byte. Continue in the payload, or in what is left of the header.
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    for (iovec& part : parts) {
      size_t from_part = sent < part.iov_len ? sent : part.iov_len;
      part.iov_base = static_cast<char*>(part.iov_base) + from_part;
      part.iov_len -= from_part;
      sent -= from_part;
    }
  }
  return {};
}

Result<Frame> KeeperProcess::Await() {
  for (;;) {
    Frame frame;
    TRY_ASSIGN(FrameReader::Status status, frames_.Next(control_.get(), &frame));
    if (status == FrameReader::Status::kFrame && frame.type == wire::Type::kWorking) continue;
    if (status == FrameReader::Status::kFrame) return frame;
    if (status == FrameReader::Status::kClosed)
      return KeeperError(ECONNRESET, "the keeper ended unexpectedly");
    TRY(WaitFor(POLLIN));
  }
}

bool KeeperProcess::SendSignal(int number) {
  std::lock_guard lock(mutex_);
  if (ended_ || !control_.valid()) return false;
  struct {
    wire::Header header;
    wire::Signal signal;
  } frame{{wire::kMagic, wire::kVersion, wire::Type::kSignal, sizeof(wire::Signal), 0}, {number}};
  static_assert(sizeof frame == sizeof(wire::Header) + sizeof(wire::Signal));
  ssize_t sent =
      RetryEintr([&] { return send(control_.get(), &frame, sizeof frame, kSendQuietly | MSG_DONTWAIT); });
  return sent == ssize_t{sizeof frame};
}

bool KeeperProcess::EndSession() {
  std::lock_guard lock(mutex_);
  if (std::exchange(ended_, true)) return false;
  ended_at_ = Clock::now();
  // Fails only with ENOTCONN, if the keeper is gone already.
  if (control_.valid()) shutdown(control_.get(), SHUT_WR);
  SignalKeeperLocked(SIGCONT);
  return true;
}

KeeperProcess::Clock::time_point KeeperProcess::ended_at() const {
  std::lock_guard lock(mutex_);
  return ended_at_;
}

pid_t KeeperProcess::pid() const {
  std::lock_guard lock(mutex_);
  return pid_;
}

void KeeperProcess::SignalKeeper(int number) {
  std::lock_guard lock(mutex_);
  SignalKeeperLocked(number);
}

void KeeperProcess::SignalKeeperLocked(int number) {
  siginfo_t info{};
  // Until we reap it the number is its own; a host that ignores SIGCHLD has it reaped by the kernel, and then
  // it is no child of ours any more.
  if (pid_ > 0 && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0)
    kill(pid_, number);
}

bool KeeperProcess::TryReap() {
  std::lock_guard lock(mutex_);
  if (pid_ > 0 && !spty::TryReap(pid_)) return false;
  pid_ = 0;
  return true;
}

void KeeperProcess::ReapLater() {
  EndSession();
  std::lock_guard lock(mutex_);
  LeaveToReap(std::exchange(pid_, 0));
}

}  // namespace spty
