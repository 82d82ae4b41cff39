// A session behind the gate, in small: a keeper process that answers, and a client process with the filter.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace spty {

inline constexpr uid_t kOtherUid = 65534;

struct GateSetup {
  std::vector<std::string> directories;
  std::vector<std::string> sockets;
  std::vector<std::string> closed;
  bool inet = true;
  bool scoped = false;           // keeper and client in Landlock domains with the scope for abstract sockets
  bool claim_scoped = false;     // tells the gate so, whether or not it is true
  uid_t keeper_uid = 0;          // who the keeper is; ignored unless this process is root
  bool other_uid = false;        // the client is 65534 although the keeper is root
  bool claim_other_uid = false;  // only the gate is told so
  bool drop_capabilities = false;
  bool wait_killable = false;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
  bool threads = true;         // whether the keeper may start any
  bool visible = false;        // the keeper is dumpable, so that a test without privileges can look into it
};

using ClientBody = std::function<std::string()>;

class GateSession {
 public:
  // Returns when the gate answers and the client runs `body`.
  GateSession(const GateSetup& setup, const ClientBody& body);
  ~GateSession();
  GateSession(const GateSession&) = delete;
  GateSession& operator=(const GateSession&) = delete;

  // What the body complained about, once it and everything it started have ended; "" if nothing.
  std::string Wait();
  pid_t keeper() const { return keeper_; }
  pid_t client() const { return client_; }
  int start_error() const { return start_error_; }  // what StartGate said
  uint32_t TurnedAway();

 private:
  pid_t keeper_ = -1;
  pid_t client_ = -1;
  int start_error_ = 0;
  Fd control_;
  Fd report_;
};

// The whole of it: start, run, wait.
std::string InGate(const GateSetup& setup, const ClientBody& body);
// The same body as the same user, without filter and gate: the control for a refusal.
std::string WithoutGate(const GateSetup& setup, const ClientBody& body);

// Becomes `uid` (also as group, without supplementary ones), readable for its like as after an exec.
bool BecomeUser(uid_t uid);
// Of the calling thread; as it is in a session, root's too.
bool DropAllCapabilities();
// The users to run as: root and 65534 if this process is root, else whoever it is.
std::vector<uid_t> TestUsers();
std::string UserName(uid_t uid);

// A listening UNIX socket outside of the session, open for everyone.
class Server {
 public:
  // A path, or a name that begins with '@' for an abstract one.
  explicit Server(const std::string& name, int type = SOCK_STREAM, int backlog = 4096);
  bool Reached();  // whether somebody has connected, whom it forgets
  Fd Accept();     // waits; invalid if nobody comes for a minute
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
};

// 0 or the errno of one attempt to connect a new socket.
int TryConnect(const std::string& name, int type = SOCK_STREAM);
int ConnectTo(int socket, const std::string& name);
// A listening socket bound to `name`; invalid with errno if that failed.
Fd ListenAt(const std::string& name, int type = SOCK_STREAM, int backlog = 64);
// A TCP socket that listens on 127.0.0.1, and its port.
Fd ListenTcp(int backlog, uint16_t* port);
int ConnectTcp(int socket, uint16_t port);
bool LandlockHasScopes();

}  // namespace spty
