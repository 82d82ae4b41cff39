// What the filter means on the running kernel beyond single refusals: what it kills, what it asks the keeper
// about, the holes that it closes, and what must go on working.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/fd.h"
#include "confine/seccomp_trial_linux.h"

namespace spty {
namespace {

constexpr SeccompOptions kOpen = {true, UnixSockets::kKernel};
constexpr int kBroken = 200;  // an act's own set-up failed

// The same act inside and outside, as everybody.
void ExpectAnswers(const std::function<int()>& act, const SeccompOptions& options, const Outcome& inside,
                   const Outcome& outside) {
  for (uid_t uid : UidsToTry()) {
    SCOPED_TRACE("as uid " + std::to_string(uid));
    EXPECT_EQ(Try({uid, false, std::nullopt}, act), outside) << "outside";
    EXPECT_EQ(Try({uid, false, options}, act), inside) << "inside";
  }
}

void ExpectWorks(const std::function<int()>& act) {
  for (UnixSockets sockets : {UnixSockets::kKernel, UnixSockets::kGate, UnixSockets::kRefuse}) {
    SCOPED_TRACE(static_cast<int>(sockets));
    ExpectAnswers(act, {true, sockets}, Answered(0), Answered(0));
  }
}

sockaddr_in Loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A listening TCP socket and its address; invalid, with errno set, if there is none.
Fd Listen(sockaddr_in& address) {
  Fd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!server.valid()) return server;
  address = Loopback();
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(server.get(), generic, size) != 0 || listen(server.get(), 4) != 0 ||
      getsockname(server.get(), generic, &size) != 0) {
    return Fd();
  }
  return server;
}

class SeccompKernel : public testing::Test {
 protected:
  void SetUp() override {
    if (!NativeArchitecture()) GTEST_SKIP() << "no filter for this architecture";
  }
};

TEST_F(SeccompKernel, TakesEveryFilter) {
  for (bool inet : {false, true}) {
    for (UnixSockets sockets : {UnixSockets::kKernel, UnixSockets::kGate, UnixSockets::kRefuse}) {
      for (uid_t uid : UidsToTry())
        EXPECT_EQ(Try({uid, false, {{inet, sockets}}}, [] { return 0; }), Answered(0));
    }
  }
}

#if defined(__x86_64__)

TEST_F(SeccompKernel, KillsX32) {
  auto act = [] {
    long result = syscall(0x40000000 + SYS_getpid);
    return result > 0 ? 0 : ErrnoOf(result);
  };
  for (uid_t uid : UidsToTry()) {
    EXPECT_EQ(Try({uid, false, std::nullopt}, act).kind, Outcome::Kind::kAnswered);
    EXPECT_EQ(Try({uid, false, kOpen}, act), Killed(SIGSYS));
  }
}

// getpid by the way that i386 programs take.
int GetPidByInterrupt() {
  long result = 20;
  asm volatile("int $0x80" : "+a"(result) : : "r8", "r9", "r10", "r11", "memory", "cc");
  return result == getpid() ? 0 : ENOSYS;
}

TEST_F(SeccompKernel, KillsInterrupt80) {
  for (uid_t uid : UidsToTry()) {
    EXPECT_EQ(Try({uid, false, kOpen}, GetPidByInterrupt).kind, Outcome::Kind::kKilled);
    if (Try({uid, false, std::nullopt}, GetPidByInterrupt) != Answered(0)) {
      GTEST_SKIP() << "void: this kernel runs no i386 programs";
    }
    EXPECT_EQ(Try({uid, false, kOpen}, GetPidByInterrupt), Killed(SIGSYS));
  }
}

TEST_F(SeccompKernel, KillsAllThreadsOfTheProcess) {
  auto act = [] {
    std::thread thread([] { GetPidByInterrupt(); });
    thread.join();
    return 0;
  };
  if (Try({UidsToTry()[0], false, std::nullopt}, act) != Answered(0)) {
    GTEST_SKIP() << "void: this kernel runs no i386 programs";
  }
  ExpectAnswers(act, kOpen, Killed(SIGSYS), Answered(0));
}

#endif

// strace's fault injection makes a call number -1, which also has the x32 bit.
TEST_F(SeccompKernel, LetsATracerSkipACall) {
  ExpectAnswers([] { return ErrnoOf(syscall(-1)); }, kOpen, Answered(ENOSYS), Answered(ENOSYS));
}

TEST_F(SeccompKernel, AsksTheListenerAboutConnectAndListen) {
  // The listener belongs to a thread without the filter, the calls come from one with it.
  auto act = [] {
    int ends[2];
    if (pipe(ends) != 0) return kBroken;
    int seen[2] = {0, 0};
    std::thread filtered([&] {
      int listener = -1;
      if (!InstallFilter({true, UnixSockets::kGate}, &listener)) listener = -1;
      if (write(ends[1], &listener, sizeof listener) != sizeof listener || listener == -1) return;
      sockaddr_in address = Loopback();
      seen[0] = ErrnoOf(connect(7, reinterpret_cast<sockaddr*>(&address), 12345));
      seen[1] = ErrnoOf(listen(7, 4711));
    });
    int listener = -1;
    ssize_t got = read(ends[0], &listener, sizeof listener);
    bool right = got == sizeof listener && listener >= 0;
    const struct {
      long number;
      uint64_t argument;
      size_t at;
    } calls[] = {{SYS_connect, 12345, 2}, {SYS_listen, 4711, 1}};
    for (const auto& call : calls) {
      seccomp_notif request{};
      if (!right || ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) _exit(kBroken);
      right = request.data.nr == call.number && request.data.args[0] == 7 &&
              request.data.args[call.at] == call.argument;
      seccomp_notif_resp response{request.id, 0, call.number == SYS_connect ? -EXDEV : -ENOTEMPTY, 0};
      if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response) != 0) _exit(kBroken);
    }
    filtered.join();
    return right && seen[0] == EXDEV && seen[1] == ENOTEMPTY ? 0 : 1;
  };
  for (uid_t uid : UidsToTry()) EXPECT_EQ(Try({uid, false, std::nullopt}, act), Answered(0));
}

// The holes themselves, not only the call that opens them.

TEST_F(SeccompKernel, ClosesTheWayThroughADatagramPair) {
  // An end of a datagram pair can send to any pathname socket.
  auto act = [] {
    char directory[] = "/tmp/spty-seccomp-XXXXXX";
    if (mkdtemp(directory) == nullptr) return kBroken;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", directory);
    int ends[2] = {-1, -1};
    int err = ErrnoOf(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
    if (err == 0) {
      Fd server(socket(AF_UNIX, SOCK_DGRAM, 0));
      auto* generic = reinterpret_cast<sockaddr*>(&address);
      err = bind(server.get(), generic, sizeof address) != 0 ? kBroken : 0;
      char byte = 'x';
      if (err == 0) err = ErrnoOf(sendto(ends[0], &byte, 1, 0, generic, sizeof address));
      if (err == 0 && recv(server.get(), &byte, 1, MSG_DONTWAIT) != 1) err = kBroken;
      unlink(address.sun_path);
    }
    rmdir(directory);
    return err;
  };
  ExpectAnswers(act, {true, UnixSockets::kGate}, Answered(EACCES), Answered(0));
  ExpectAnswers(act, {true, UnixSockets::kRefuse}, Answered(EACCES), Answered(0));
}

TEST_F(SeccompKernel, ClosesTheWayThroughFastOpen) {
  // A send that connects; the client needs bit 0 of net.ipv4.tcp_fastopen, which is the kernel's default.
  auto act = [] {
    sockaddr_in address;
    Fd server = Listen(address);
    if (!server.valid()) return kBroken;
    Fd client(socket(AF_INET, SOCK_STREAM, 0));
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    return ErrnoOf(sendto(client.get(), "x", 1, 0x20000000 | MSG_NOSIGNAL, generic, sizeof address));
  };
  if (Try({UidsToTry()[0], false, std::nullopt}, act) == Answered(EOPNOTSUPP)) {
    GTEST_SKIP() << "void: net.ipv4.tcp_fastopen is off";
  }
  ExpectAnswers(act, kOpen, Answered(EOPNOTSUPP), Answered(0));
}

TEST_F(SeccompKernel, ClosesTerminalInjection) {
  auto act = [](unsigned long request) {
    signal(SIGHUP, SIG_IGN);  // closing the master hangs up on the leader of the session
    Fd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master.valid() || grantpt(master.get()) != 0 || unlockpt(master.get()) != 0 || setsid() == -1)
      return kBroken;
    Fd terminal(ioctl(master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY));
    if (!terminal.valid() || ioctl(terminal.get(), TIOCSCTTY, 0) != 0) return kBroken;
    char key = '\n';
    int err = ErrnoOf(syscall(SYS_ioctl, terminal.get(), request, &key));
    int waiting = 0;
    if (err == 0 && (ioctl(terminal.get(), FIONREAD, &waiting) != 0 || waiting != 1)) return kBroken;
    return err;
  };
  for (unsigned long request : {TIOCSTI + 0ul, TIOCSTI | 0xdead'beef'0000'0000ul}) {
    auto inject = [&] { return act(request); };
    for (uid_t uid : UidsToTry()) {
      // Where dev.tty.legacy_tiocsti is 0 it is EIO without privileges.
      Outcome outside = Try({uid, false, std::nullopt}, inject);
      EXPECT_TRUE(outside == Answered(0) || outside == Answered(EIO)) << outside;
      EXPECT_EQ(Try({uid, false, kOpen}, inject), Answered(EPERM));
    }
  }
}

TEST_F(SeccompKernel, LeavesOtherTerminalRequests) {
  ExpectWorks([] {
    Fd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    winsize size{};
    size.ws_col = 90;
    if (ioctl(master.get(), TIOCSWINSZ, &size) != 0) return errno;
    size = {};
    if (ioctl(master.get(), TIOCGWINSZ, &size) != 0) return errno;
    return size.ws_col == 90 ? 0 : kBroken;
  });
}

TEST_F(SeccompKernel, LeavesRoutes) {
  ExpectWorks([] {
    Fd netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    struct {
      nlmsghdr header;
      rtgenmsg message;
    } request{};
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof(rtgenmsg));
    request.header.nlmsg_type = RTM_GETLINK;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (send(netlink.get(), &request, request.header.nlmsg_len, 0) == -1) return errno;
    alignas(nlmsghdr) char answer[32768];
    if (recv(netlink.get(), answer, sizeof answer, 0) < static_cast<ssize_t>(sizeof(nlmsghdr)))
      return kBroken;
    return reinterpret_cast<nlmsghdr*>(answer)->nlmsg_type == RTM_NEWLINK ? 0 : kBroken;
  });
}

TEST_F(SeccompKernel, LeavesConnectedPairs) {
  ExpectWorks([] {
    for (int type : {SOCK_STREAM | 0, SOCK_SEQPACKET | 0, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}) {
      int ends[2];
      char byte = 'x';
      if (socketpair(AF_UNIX, type, 0, ends) != 0) return errno;
      if (send(ends[0], &byte, 1, MSG_NOSIGNAL) != 1 || recv(ends[1], &byte, 1, 0) != 1) return kBroken;
    }
    return 0;
  });
}

TEST_F(SeccompKernel, LeavesUnixSocketsThatTheGateCanSee) {
  auto act = [] {
    Fd stream(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!stream.valid()) return errno;
    Fd seqpacket(socket(AF_UNIX, SOCK_SEQPACKET, 0));
    return seqpacket.valid() ? 0 : errno;
  };
  ExpectAnswers(act, {false, UnixSockets::kGate}, Answered(0), Answered(0));
  ExpectAnswers(act, {false, UnixSockets::kKernel}, Answered(0), Answered(0));
  ExpectAnswers([] { return ErrnoOf(socket(AF_UNIX, SOCK_DGRAM, 0)); }, {false, UnixSockets::kKernel},
                Answered(0), Answered(0));
}

TEST_F(SeccompKernel, LeavesInetSocketsIfAllowed) {
  auto act = [] {
    sockaddr_in address;
    Fd server = Listen(address);
    if (!server.valid()) return errno;
    Fd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (connect(client.get(), generic, sizeof address) != 0) return errno;
    char byte = 'x';
    Fd accepted(accept(server.get(), nullptr, nullptr));
    iovec part{&byte, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (sendmsg(client.get(), &message, MSG_NOSIGNAL) != 1 || recv(accepted.get(), &byte, 1, 0) != 1)
      return kBroken;
    Fd udp(socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP));
    if (sendto(udp.get(), &byte, 1, 0, generic, sizeof address) != 1) return errno;
    mmsghdr many{message, 0};
    many.msg_hdr.msg_name = &address;
    many.msg_hdr.msg_namelen = sizeof address;
    return sendmmsg(udp.get(), &many, 1, 0) == 1 || errno == ECONNREFUSED ? 0 : errno;
  };
  ExpectAnswers(act, {true, UnixSockets::kKernel}, Answered(0), Answered(0));
  ExpectAnswers(act, {true, UnixSockets::kRefuse}, Answered(0), Answered(0));
  ExpectAnswers(act, {false, UnixSockets::kKernel}, Answered(EACCES), Answered(0));
}

TEST_F(SeccompKernel, LeavesTracing) {
  ExpectWorks([] {
    static volatile long value = 42;
    pid_t child = fork();
    if (child == 0) {
      value = 43;
      ptrace(PTRACE_TRACEME, 0, 0, 0);
      raise(SIGSTOP);
      _exit(7);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return kBroken;
    long copy = 0;
    iovec local{&copy, sizeof copy};
    iovec remote{const_cast<long*>(&value), sizeof value};
    if (process_vm_readv(child, &local, 1, &remote, 1, 0) != sizeof copy) return errno;
    copy = 44;
    if (process_vm_writev(child, &local, 1, &remote, 1, 0) != sizeof copy) return errno;
    if (ptrace(PTRACE_PEEKDATA, child, const_cast<long*>(&value), 0) != 44) return kBroken;
    if (ptrace(PTRACE_CONT, child, 0, 0) != 0 || waitpid(child, &status, 0) != child) return kBroken;
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : kBroken;
  });
}

TEST_F(SeccompKernel, LeavesNamespaces) {
  auto act = [] { return ErrnoOf(unshare(CLONE_NEWUSER)); };
  for (uid_t uid : UidsToTry()) {
    Outcome outside = Try({uid, false, std::nullopt}, act);
    EXPECT_EQ(Try({uid, false, kOpen}, act), outside);
    if (outside != Answered(0)) GTEST_SKIP() << "void: no user namespaces here";
  }
}

}  // namespace
}  // namespace spty
