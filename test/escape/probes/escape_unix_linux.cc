// Ways to sockets of others.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>

#include "probes/attempt.h"
#include "probes/ring_linux.h"

namespace {

using namespace attempt;

struct Name {
  sockaddr_un address{};
  socklen_t size = 0;

  explicit Name(const std::string& path) {
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, path.data(), path.size());
    if (path[0] == '@') address.sun_path[0] = '\0';
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

int TypeOf(const std::string& name) {
  return name == "dgram"    ? SOCK_DGRAM
         : name == "raw"    ? SOCK_RAW
         : name == "stream" ? SOCK_STREAM
                            : SOCK_SEQPACKET;
}

// Connected is not enough: somebody must answer.
int Greet(int fd) {
  char text[128] = {};
  if (read(fd, text, sizeof text - 1) <= 0) return Refused();
  printf("read: %s\n", text);
  return Ok();
}

int ConnectTo(const std::string& type, const std::string& path) {
  const int fd = socket(AF_UNIX, TypeOf(type) | SOCK_CLOEXEC, 0);
  if (fd == -1) return Refused();
  const Name name(path);
  if (connect(fd, name.get(), name.size) == -1) return Refused();
  return Greet(fd);
}

int Connect(const Arguments& a) { return ConnectTo(a[0], a[1]); }

int SendTo(const Arguments& a) {
  const int fd = socket(AF_UNIX, TypeOf(a[0]) | SOCK_CLOEXEC, 0);
  if (fd == -1) return Refused();
  const Name name(a[1]);
  return sendto(fd, "x", 1, 0, name.get(), name.size) == 1 ? Ok() : Refused();
}

// The address may be in a message, or in several.
ssize_t SendByMessage(int fd, const std::string& way, const Name& name) {
  iovec part{const_cast<char*>("x"), 1};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_un*>(&name.address);
  message.msg_namelen = name.size;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  mmsghdr several{message, 0};
  return way == "sendmsg" ? sendmsg(fd, &message, 0) : sendmmsg(fd, &several, 1, 0);
}
int SendMessage(const Arguments& a) {
  const int fd = socket(AF_UNIX, TypeOf(a[1]) | SOCK_CLOEXEC, 0);
  if (fd == -1) return Refused();
  return SendByMessage(fd, a[0], Name(a[2])) == 1 ? Ok() : Refused();
}

// One end of a pair can send to anybody.
int PairSendTo(const Arguments& a) {
  int ends[2];
  if (socketpair(AF_UNIX, TypeOf(a[0]) | SOCK_CLOEXEC, 0, ends) == -1) return Refused();
  const Name name(a[1]);
  return sendto(ends[0], "x", 1, 0, name.get(), name.size) == 1 ? Ok() : Refused();
}
int PairSendMessage(const Arguments& a) {
  int ends[2];
  if (socketpair(AF_UNIX, TypeOf(a[1]) | SOCK_CLOEXEC, 0, ends) == -1) return Refused();
  return SendByMessage(ends[0], a[0], Name(a[2])) == 1 ? Ok() : Refused();
}
// And of datagrams, be connected to somebody else.
int PairConnect(const Arguments& a) {
  int ends[2];
  if (socketpair(AF_UNIX, TypeOf(a[0]) | SOCK_CLOEXEC, 0, ends) == -1) return Refused();
  const Name name(a[1]);
  if (connect(ends[0], name.get(), name.size) == -1) return Refused();
  return send(ends[0], "x", 1, 0) == 1 ? Ok() : Refused();
}

int RunCommand(const Arguments& a) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Name name(a[0]);
  if (fd == -1 || connect(fd, name.get(), name.size) == -1) return Refused();
  const std::string request = "run " + a[1];
  char text[128] = {};
  if (read(fd, text, sizeof text) <= 0) return Refused();
  if (write(fd, request.data(), request.size()) == -1) return Refused();
  return read(fd, text, sizeof text) > 0 ? Ok() : Refused();
}

// Each of these gives the socket another name first.
int LinkAndConnect(const Arguments& a) {
  if (link(a[0].c_str(), a[1].c_str()) == -1) return Broken("link");
  const int result = ConnectTo("stream", a[1]);
  unlink(a[1].c_str());
  return result;
}
int SymlinkAndConnect(const Arguments& a) {
  if (symlink(a[0].c_str(), a[1].c_str()) == -1) return Broken("symlink");
  return ConnectTo("stream", a[1]);
}
int RenameAndConnect(const Arguments& a) {
  if (rename(a[0].c_str(), a[1].c_str()) == -1) return Broken("rename");
  const int result = ConnectTo("stream", a[2]);
  if (rename(a[1].c_str(), a[0].c_str()) == -1) return Broken("rename back");
  return result;
}
// The old name leads to the new place, so that who asks for the old one finds the socket in the project.
int RenameAndLeaveLink(const Arguments& a) {
  if (rename(a[0].c_str(), a[1].c_str()) == -1) return Broken("rename");
  if (symlink(a[1].c_str(), a[0].c_str()) == -1) return Broken("symlink");
  const int result = ConnectTo("stream", a[1]);
  unlink(a[0].c_str());
  if (rename(a[1].c_str(), a[0].c_str()) == -1) return Broken("rename back");
  return result;
}
int ChrootAndConnect(const Arguments& a) {
  if (chroot(a[0].c_str()) == -1) return Broken("chroot");
  return ConnectTo("stream", a[1]);
}
int ChdirAndConnect(const Arguments& a) {
  if (chdir(a[0].c_str()) == -1) return Broken("chdir");
  return ConnectTo("stream", a[1]);
}
// The working directory is in the new root, unlike before.
int ChrootAndConnectBelow(const Arguments& a) {
  if (chroot(a[0].c_str()) == -1 || chdir("/") == -1) return Broken("chroot");
  return ConnectTo("stream", a[1]);
}
int BindAt(const Arguments& a) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Name name(a[0]);
  return fd == -1 || bind(fd, name.get(), name.size) == -1 ? Refused() : Ok();
}

// To a socket of its own, which is no way out.
int ConnectToOwn(const Arguments& a) {
  const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Name name(a[0]);
  if (server == -1 || client == -1 || bind(server, name.get(), name.size) == -1 || listen(server, 1) == -1)
    return Broken("own socket");
  return connect(client, name.get(), name.size) == -1 ? Refused() : Ok();
}

int RingConnect(const Arguments& a) {
  Ring ring;
  if (const int err = ring.Open(); err != 0) return Refused(err);
  RingRequest request{};
  request.opcode = kRingSocket;
  request.fd = AF_UNIX;
  request.offset = SOCK_STREAM;
  const int fd = ring.Do(request);
  if (fd < 0) return fd == -EINVAL ? Absent("needs sockets by io_uring (Linux 5.19)") : Refused(-fd);
  const Name name(a[0]);
  request = {};
  request.opcode = kRingConnect;
  request.fd = fd;
  request.address = reinterpret_cast<uint64_t>(name.get());
  request.offset = name.size;
  const int result = ring.Do(request);
  return result < 0 ? Refused(-result) : Greet(fd);
}

// A filter of our own that asks us about connect(2), and a thread that says "go on" to everything.
int AnswerForOurselves() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const auto listener = static_cast<int>(
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
  if (listener == -1) return -1;
  std::thread([listener] {
    for (;;) {
      seccomp_notif request{};
      if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) == -1) return;
      seccomp_notif_resp response{request.id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE};
      ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
    }
  }).detach();
  return 0;
}

int ConnectByOwnAnswer(const Arguments& a) {
  if (AnswerForOurselves() == -1) return Refused();
  return ConnectTo("stream", a[0]);
}

// The same once the keeper is dead. The terminal dies with it, so the verdict goes to a file.
int KillKeeperAndConnect(const Arguments& a) {
  signal(SIGHUP, SIG_IGN);
  char line = 0;
  if (read(STDIN_FILENO, &line, 1) != 1) return Broken("read");  // not before the host knows that we run
  if (kill(getppid(), SIGKILL) == -1) return Refused();
  if (freopen((a[1] + ".new").c_str(), "w", stdout) == nullptr) return Broken("freopen");
  const Name name(a[0]);
  // Until its last thread has closed the listener: then it is ENOSYS inside. Outside it succeeds.
  errno = 0;
  for (int result = -1; result == -1 && errno != ENOSYS;) {
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd == -1) return Broken("socket");
    result = connect(fd, name.get(), name.size);
    const int err = errno;
    close(fd);
    errno = err;
  }
  const int result = ConnectByOwnAnswer(a);
  fflush(stdout);
  if (rename((a[1] + ".new").c_str(), a[1].c_str()) == -1) return Broken("rename");
  return result;
}

constexpr Command kCommands[] = {
    {"connect", 2, Connect},
    {"own-answer-connect", 1, ConnectByOwnAnswer},
    {"kill-keeper-connect", 2, KillKeeperAndConnect},
    {"sendto", 2, SendTo},
    {"send-message", 3, SendMessage},
    {"pair-sendto", 2, PairSendTo},
    {"pair-send-message", 3, PairSendMessage},
    {"pair-connect", 2, PairConnect},
    {"run", 2, RunCommand},
    {"link-connect", 2, LinkAndConnect},
    {"symlink-connect", 2, SymlinkAndConnect},
    {"rename-connect", 3, RenameAndConnect},
    {"rename-link-connect", 2, RenameAndLeaveLink},
    {"chroot-connect", 2, ChrootAndConnect},
    {"chroot-chdir-connect", 2, ChrootAndConnectBelow},
    {"chdir-connect", 2, ChdirAndConnect},
    {"bind", 1, BindAt},
    {"own-connect", 1, ConnectToOwn},
    {"ring-connect", 1, RingConnect},
};

}  // namespace

int main(int argc, char** argv) { return attempt::Main(argc, argv, kCommands); }
