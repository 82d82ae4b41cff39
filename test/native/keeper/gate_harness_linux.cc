#include "keeper/gate_harness_linux.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/eintr.h"
#include "keeper/gate.h"
#include "support/processes_linux.h"

namespace spty {
namespace {

constexpr int kPatienceMs = 60'000;
constexpr unsigned kWaitKillableRecv = 1U << 5;

socklen_t Fill(const std::string& name, sockaddr_un* address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, name.data(), std::min(name.size(), sizeof address->sun_path));
  size_t size = offsetof(sockaddr_un, sun_path) + name.size();
  if (name[0] == '@') {
    address->sun_path[0] = '\0';
  } else {
    ++size;
  }
  return static_cast<socklen_t>(std::min(size, sizeof *address));
}

int InstallFilter(bool wait_killable) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_listen, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{5, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1) return -1;
  unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | (wait_killable ? kWaitKillableRecv : 0);
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

// Also of the calling process only: its children exist already.
bool RefuseThreads() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{5, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

bool EnterScope() {
  struct {
    uint64_t fs, net, scoped;
  } attributes{0, 0, 1};
  Fd ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  return ruleset.valid() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
}

bool SendFd(int through, int fd) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return RetryEintr([&] { return sendmsg(through, &message, 0); }) == 1;
}

Fd ReceiveFd(int through) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  if (RetryEintr([&] { return recvmsg(through, &message, MSG_CMSG_CLOEXEC); }) != 1) return Fd();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr) return Fd();
  int fd = -1;
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return Fd(fd);
}

void Report(int fd, const std::string& text) { (void)!write(fd, text.data(), text.size()); }

[[noreturn]] void RunClient(const GateSetup& setup, const ClientBody& body, int keeper, int report) {
  std::string complaint;
  if (setup.scoped && !EnterScope()) complaint = "no scope for the client";
  if (setup.other_uid && !BecomeUser(kOtherUid)) complaint = "cannot become the other user";
  if (complaint.empty()) {
    int listener = InstallFilter(setup.wait_killable);
    if (listener == -1 || !SendFd(keeper, listener)) complaint = "no filter";
    if (listener != -1) close(listener);
  }
  char go = 0;
  if (complaint.empty() && RetryEintr([&] { return read(keeper, &go, 1); }) != 1) complaint = "no gate";
  // Until it has closed its end: from here on the keeper's descriptors are the gate's doing.
  if (complaint.empty() && RetryEintr([&] { return read(keeper, &go, 1); }) != 0) complaint = "gate?";
  close(keeper);
  if (complaint.empty()) complaint = body();
  Report(report, complaint);
  _exit(0);
}

char** Table(const std::vector<std::string>& texts) {
  auto** table = new char*[texts.size() + 1]();
  for (size_t i = 0; i < texts.size(); ++i) table[i] = strdup(texts[i].c_str());
  return table;
}

struct Greeting {
  pid_t client;
  int error;
};

// The test's own sockets came with the fork. They must end when the test closes them, and would be counted.
void CloseSocketsBut(int control) {
  for (const auto& [fd, target] : OwnDescriptors()) {
    if (fd != control && target.starts_with("socket:")) close(fd);
  }
}

[[noreturn]] void RunKeeper(const GateSetup& setup, const ClientBody& body, int control, int report) {
  CloseSocketsBut(control);
  if (getuid() == 0 && setup.keeper_uid != 0 && !BecomeUser(setup.keeper_uid)) _exit(3);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  int pair[2];
  if (setup.scoped && !EnterScope()) _exit(4);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1) _exit(5);
  pid_t client = fork();
  if (client == 0) {
    close(pair[0]);
    close(control);
    RunClient(setup, body, pair[1], report);
  }
  close(pair[1]);
  close(report);
  if (!setup.threads && !RefuseThreads()) _exit(7);
  Fd listener = ReceiveFd(pair[0]);
  GateRules rules;
  rules.closed = Table(setup.closed);
  rules.directories = Table(setup.directories);
  rules.sockets = Table(setup.sockets);
  rules.inet = setup.inet;
  rules.abstract_scoped = setup.scoped || setup.claim_scoped;
  rules.drop_capabilities = setup.drop_capabilities;
  if (setup.other_uid || setup.claim_other_uid) {
    rules.set_ids = rules.set_groups = true;
    rules.uid = rules.gid = kOtherUid;
  }
  Greeting greeting{client, StartGate(static_cast<Fd&&>(listener), rules)};
  if (setup.visible) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  (void)!write(pair[0], "g", 1);
  close(pair[0]);
  (void)!write(control, &greeting, sizeof greeting);
  for (;;) {
    pollfd watched[2] = {{control, POLLIN, 0}, {GateToWatch(), POLLIN, 0}};
    if (RetryEintr([&] { return poll(watched, 2, -1); }) == -1) _exit(6);
    if (watched[1].revents != 0) {
      OnGateReady();
      if (setup.visible) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // its first thread has hidden us again
    }
    char question = 0;
    if (watched[0].revents == 0) continue;
    if (RetryEintr([&] { return read(control, &question, 1); }) != 1) _exit(0);
    uint32_t answer = GateTurnedAway();
    (void)!write(control, &answer, sizeof answer);
  }
}

}  // namespace

GateSession::GateSession(const GateSetup& setup, const ClientBody& body) {
  int control[2];
  int report[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control), 0);
  EXPECT_EQ(pipe2(report, O_CLOEXEC), 0);
  keeper_ = fork();
  if (keeper_ == 0) {
    close(control[0]);
    close(report[0]);
    RunKeeper(setup, body, control[1], report[1]);
  }
  close(control[1]);
  close(report[1]);
  control_ = Fd(control[0]);
  report_ = Fd(report[0]);
  Greeting greeting{-1, -1};
  ssize_t got = RetryEintr([&] { return read(control_.get(), &greeting, sizeof greeting); });
  EXPECT_EQ(got, ssize_t{sizeof greeting}) << "the keeper did not come up";
  client_ = greeting.client;
  start_error_ = greeting.error;
}

GateSession::~GateSession() {
  control_.Reset();
  report_.Reset();
  RetryEintr([&] { return waitpid(keeper_, nullptr, 0); });
}

std::string GateSession::Wait() {
  std::string complaint;
  for (;;) {
    pollfd watched{report_.get(), POLLIN, 0};
    if (RetryEintr([&] { return poll(&watched, 1, kPatienceMs); }) != 1) {
      if (client_ > 0) kill(client_, SIGKILL);
      return complaint + " (no end after a minute)";
    }
    char bytes[512];
    ssize_t size = RetryEintr([&] { return read(report_.get(), bytes, sizeof bytes); });
    if (size <= 0) return complaint;
    complaint.append(bytes, static_cast<size_t>(size));
  }
}

uint32_t GateSession::TurnedAway() {
  uint32_t answer = 0;
  (void)!write(control_.get(), "?", 1);
  (void)!RetryEintr([&] { return read(control_.get(), &answer, sizeof answer); });
  return answer;
}

std::string InGate(const GateSetup& setup, const ClientBody& body) {
  GateSession session(setup, body);
  EXPECT_EQ(session.start_error(), 0);
  return session.Wait();
}

std::string WithoutGate(const GateSetup& setup, const ClientBody& body) {
  int report[2];
  EXPECT_EQ(pipe2(report, O_CLOEXEC), 0);
  pid_t child = fork();
  if (child == 0) {
    close(report[0]);
    uid_t uid = setup.other_uid ? kOtherUid : setup.keeper_uid;
    bool ready = getuid() != 0 || uid == 0 || BecomeUser(uid);
    Report(report[1], ready ? body() : "cannot become the user");
    _exit(0);
  }
  close(report[1]);
  Fd reading(report[0]);
  std::string complaint;
  char bytes[512];
  ssize_t size;
  while ((size = RetryEintr([&] { return read(reading.get(), bytes, sizeof bytes); })) > 0)
    complaint.append(bytes, static_cast<size_t>(size));
  RetryEintr([&] { return waitpid(child, nullptr, 0); });
  return complaint;
}

bool BecomeUser(uid_t uid) {
  return setgroups(0, nullptr) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0 &&
         prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

bool DropAllCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

std::vector<uid_t> TestUsers() {
  return getuid() == 0 ? std::vector<uid_t>{0, kOtherUid} : std::vector{getuid()};
}

std::string UserName(uid_t uid) { return uid == 0 ? "Root" : "Unprivileged"; }

Server::Server(const std::string& name, int type, int backlog) : fd_(ListenAt(name, type, backlog)) {
  EXPECT_TRUE(fd_.valid()) << name << ": " << strerror(errno);
  bool open_to_all = name[0] == '@' || chmod(name.substr(0, 108).c_str(), 0777) == 0;
  EXPECT_TRUE(open_to_all) << name;
}

bool Server::Reached() {
  pollfd watched{fd_.get(), POLLIN, 0};
  if (poll(&watched, 1, 0) != 1) return false;
  Accept();
  return true;
}

Fd Server::Accept() {
  pollfd watched{fd_.get(), POLLIN, 0};
  if (RetryEintr([&] { return poll(&watched, 1, kPatienceMs); }) != 1) return Fd();
  return Fd(RetryEintr([&] { return accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC); }));
}

int ConnectTo(int socket, const std::string& name) {
  sockaddr_un address;
  socklen_t size = Fill(name, &address);
  return connect(socket, reinterpret_cast<sockaddr*>(&address), size) == 0 ? 0 : errno;
}

int TryConnect(const std::string& name, int type) {
  Fd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  return socket.valid() ? ConnectTo(socket.get(), name) : errno;
}

Fd ListenAt(const std::string& name, int type, int backlog) {
  Fd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
  sockaddr_un address;
  socklen_t size = Fill(name, &address);
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == -1) return Fd();
  if (listen(socket.get(), backlog) == -1) return Fd();
  return socket;
}

Fd ListenTcp(int backlog, uint16_t* port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == -1) return Fd();
  if (listen(socket.get(), backlog) == -1) return Fd();
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == -1) return Fd();
  *port = ntohs(address.sin_port);
  return socket;
}

int ConnectTcp(int socket, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

bool LandlockHasScopes() { return syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) >= 6; }

}  // namespace spty
