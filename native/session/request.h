// What a caller wants to run, already checked for type and range by whoever made it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "pty/window_size.h"

namespace spty {

struct SpawnRequest {
  struct Ids {
    uint32_t uid = 0;
    uint32_t gid = 0;
  };

  std::string file;  // a path, or a name to look up in the child's PATH
  std::vector<std::string> args;
  // NAME=value; the child's whole environment, unless a policy brings its own.
  std::vector<std::string> env;
  std::string cwd;  // absolute
  WindowSize size;
  bool utf8 = true;  // sets IUTF8
  std::optional<Ids> ids;
  // The program's descriptors 0, 1 and 2, lent; -1: the terminal.
  std::array<int, 3> stdio = {-1, -1, -1};
  std::string keeper_path;
  // True: a program or directory that cannot be used is an error of Spawn. False, as node-pty: Spawn returns
  // before there is a process, and the failure shows up later as a line of output and exit code 1.
  bool wait_for_exec = true;
  // With wait_for_exec: Spawn waits only where it cannot be told beforehand that both can be used
  // (exec_check.h). What nobody can know beforehand then shows up later, as above.
  bool unless_sure = false;
  // What the session may do; null: it is tracked, and nothing is restricted.
  std::shared_ptr<const Policy> policy;
  // How hard to try for a cgroup of the session's own: it is used where one can be made.
  bool use_cgroup = true;
  // What the shell leaves running stays when it ends, until the session is disposed of.
  bool keep_alive_after_exit = false;
  // The session's private temporary directory. Belongs to the session once it runs: the keeper removes it.
  std::string temp_dir;
  // For tests of older kernels: the host is taken to offer no more than this.
  struct FeatureLimits {
    int landlock_abi = 1000;
    bool seccomp = true;
    bool notify = true;
    bool cgroup_kill = true;
  };
  FeatureLimits feature_limits;
};

}  // namespace spty
