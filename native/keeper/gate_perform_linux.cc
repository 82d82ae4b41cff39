#include "keeper/gate_perform_linux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper/gate_caller_linux.h"
#include "keeper/gate_requests_linux.h"
#include "keeper/gate_sockets_linux.h"
#include "keeper/gate_text_linux.h"
#include "keeper/gate_unix_linux.h"

namespace spty {
namespace {

// What is to be connected, and to where: all of it ours.
struct Connection {
  Fd socket;
  CallerAddress address;
  Fd pinned;  // the UNIX socket's file, which then stands for the address
};

int SocketOption(const Fd& socket, int option, int* value) {
  socklen_t size = sizeof *value;
  return getsockopt(socket.get(), SOL_SOCKET, option, value, &size) == -1 ? errno : 0;
}

int PrepareUnixConnection(int listener, const uapi::SeccompNotif& request, const GateRules& rules,
                          Connection* connection) {
  int type = 0;
  if (int err = SocketOption(connection->socket, SO_TYPE, &type); err != 0) return err;
  if (type != SOCK_STREAM && type != SOCK_SEQPACKET) return EACCES;
  UnixTarget target;
  if (int err = PrepareUnix(request, connection->address, &target); err != 0) return err;
  if (!StillWaiting(listener, request.id)) return EACCES;
  return JudgeUnix(target, rules, &connection->pinned);
}

// Everything up to the connect itself. 0 or what the caller is to be told. Errors come in the kernel's own
// order.
int PrepareConnection(int listener, const uapi::SeccompNotif& request, const GateRules& rules,
                      Connection* connection) {
  const uint64_t* args = request.data.args;
  if (int err = TakeDescriptor(request, static_cast<int>(args[0]), &connection->socket); err != 0) return err;
  if (int err = TakeAddress(request, args[1], static_cast<int>(args[2]), &connection->address); err != 0)
    return err;
  // The socket's own word, never the address': that only the kernel believes.
  int domain = 0;
  if (int err = SocketOption(connection->socket, SO_DOMAIN, &domain); err != 0) return err;
  if (domain == AF_UNIX) return PrepareUnixConnection(listener, request, rules, connection);
  bool allowed = domain == AF_NETLINK || ((domain == AF_INET || domain == AF_INET6) && rules.inet);
  return allowed && StillWaiting(listener, request.id) ? 0 : EACCES;
}

int ConnectOnce(const Connection& connection) {
  if (!connection.pinned.valid()) {
    return connect(connection.socket.get(), reinterpret_cast<const sockaddr*>(connection.address.bytes),
                   static_cast<socklen_t>(connection.address.length));
  }
  ShortPath path("/proc/self/fd/", static_cast<uint64_t>(connection.pinned.get()), "");
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  memcpy(name.sun_path, path.text(), path.size());
  return connect(connection.socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name);
}

int Connect(int listener, uint64_t id, const Connection& connection) {
  while (ConnectOnce(connection) == -1) {
    if (errno != EINTR) return errno;
    // For a caller that still waits we go on waiting: to connect again is to wait for the first attempt.
    if (!StillWaiting(listener, id)) return EINTR;
  }
  return 0;
}

void PerformConnect(int listener, const uapi::SeccompNotif& request, const GateRules& rules, int place) {
  Connection connection;
  uint64_t cookie = 0;
  int err = PrepareConnection(listener, request, rules, &connection);
  if (err == 0) err = CookieOf(connection.socket.get(), &cookie);
  if (err != 0) {
    AnswerRequest(listener, request.id, err);
    return;
  }
  UnderWay under_way(place, request.id, cookie);
  err = under_way.error();
  if (err == 0) err = under_way.Answer(Connect(listener, request.id, connection));
  // Before the answer: a caller that closes its socket next expects the connection to end there and then.
  connection.socket.Reset();
  connection.pinned.Reset();
  if (!AnswerRequest(listener, request.id, err)) under_way.Keep(err);
}

// Where the socket is bound; an empty target if it is not, or not to a path.
int TakeOwnName(const uapi::SeccompNotif& request, const Fd& socket, UnixTarget* target) {
  CallerAddress address{};
  socklen_t length = sizeof address.bytes;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(address.bytes), &length) == -1) return errno;
  address.length = static_cast<int>(length);
  // A terminated path of full length is one more than the kernel takes.
  if (length > sizeof(sockaddr_un)) address.length = sizeof(sockaddr_un);
  int err = PrepareUnix(request, address, target);
  return err == EINVAL ? 0 : err;
}

int PerformListen(int listener, const uapi::SeccompNotif& request) {
  Fd socket;
  if (int err = TakeDescriptor(request, static_cast<int>(request.data.args[0]), &socket); err != 0)
    return err;
  int domain = 0;
  uint64_t cookie = 0;
  UnixTarget name;
  if (int err = SocketOption(socket, SO_DOMAIN, &domain); err != 0) return err;
  if (int err = CookieOf(socket.get(), &cookie); err != 0) return err;
  if (domain == AF_UNIX) {
    if (int err = TakeOwnName(request, socket, &name); err != 0) return err;
  }
  if (!StillWaiting(listener, request.id)) return EACCES;
  if (domain == AF_UNIX) {
    // Before it listens: its first client may be faster than we are.
    if (int err = RememberListener(cookie, name); err != 0) return err;
  }
  return listen(socket.get(), static_cast<int>(request.data.args[1])) == -1 ? errno : 0;
}

}  // namespace

bool AnswerRequest(int listener, uint64_t id, int err) {
  uapi::SeccompNotifResp response{id, 0, -err, 0};
  return syscall(SYS_ioctl, listener, uapi::kSeccompNotifSend, &response) == 0;
}

void PerformRequest(int listener, const uapi::SeccompNotif& request, const GateRules& rules, int place) {
  bool known = request.data.arch == uapi::kNativeAuditArch && request.pid != 0;
  if (known && request.data.nr == SYS_connect) {
    PerformConnect(listener, request, rules, place);
  } else if (known && request.data.nr == SYS_listen) {
    AnswerRequest(listener, request.id, PerformListen(listener, request));
  } else {
    AnswerRequest(listener, request.id, EACCES);
  }
}

}  // namespace spty
