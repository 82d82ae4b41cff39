// What surrounds an attempt: a project, things beside it that the session was not given, an outsider of the
// same user, and servers. Made anew for each run, since an attempt that succeeds changes it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "policy/scratch.h"

namespace spty {

inline constexpr char kSecret[] = "the-secret";

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Scratch& scratch() const { return scratch_; }
  std::string private_dir() const { return scratch_.Home("private"); }
  std::string shared_dir() const { return scratch_.Path("shared"); }
  pid_t outsider() const { return outsider_; }
  // Where the session's settings do not reach but the test program may write: "" if there is none.
  const std::string& cgroup() const { return cgroup_; }

  // Replaces {project}, {private}, {shared}, {root}, {probes}, {outsider}, {host}, {address}, {memory},
  // {pts}, {tcp}, {tcp6}, {udp}, {udp6}, {abstract} and {cgroup}.
  std::string Fill(std::string text) const;
  // Names, types, modes and contents of everything that is not the session's.
  std::string Picture() const;

  // What happened to the outsider and to the servers. Ends the outsider; asking again gives the same answer.
  struct Visits {
    bool alive = false;  // the outsider was still there to tell
    int visitors = 0;
    int signals = 0;
    bool changed = false;
    int connections = 0;  // of the internet servers, datagrams included
  };
  const Visits& CountVisits();

 private:
  void MakeFiles();
  void MakeServers();
  void MakeTerminal();
  void MakeCgroup();
  void StartOutsider();
  int CountConnections() const;

  Scratch scratch_;
  std::string abstract_;
  pid_t outsider_ = -1;
  Fd to_outsider_;
  Fd from_outsider_;
  std::string address_;
  std::string memory_;
  std::string pts_;
  Fd master_;
  Fd fifo_;
  Fd tcp_;
  Fd tcp6_;
  Fd udp_;
  Fd udp6_;
  std::string cgroup_;
  bool counted_ = false;
  Visits visits_;
};

}  // namespace spty
