// What a caller wants to run, already checked for type and range by whoever made it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pty/window_size.h"

namespace spty {

struct SpawnRequest {
  struct Ids {
    uint32_t uid = 0;
    uint32_t gid = 0;
  };

  std::string file;  // a path, or a name to look up in the child's PATH
  std::vector<std::string> args;
  std::vector<std::string> env;  // NAME=value; the child's whole environment
  std::string cwd;               // absolute
  WindowSize size;
  bool utf8 = true;  // sets IUTF8
  std::optional<Ids> ids;
  std::string keeper_path;
  // True: a program or directory that cannot be used is an error of Spawn. False, as node-pty: Spawn returns
  // as soon as there is a pid, and the failure shows up later as a line of output and exit code 1.
  bool wait_for_exec = true;
};

}  // namespace spty
