// Everybody below a process, once or again and again.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "track/process_ref.h"

namespace spty {

// Who shows a session's processes every second asks for the same ones each time, and most of what that costs
// is opening their files in /proc. A reader that keeps them open is done in half the time. Such a file
// belongs to one process for good: if that has ended, reading it fails, also if another has its number by
// then.
//
// One thread at a time.
class ProcessReader {
 public:
  // kFiles: from the first list on that finds room for them; of all readers of this process together at most
  // kMostKept, and no more than an eighth of the descriptors that it may have. Who comes later is read anew
  // each time.
  enum class Keep { kNothing, kFiles };
  static constexpr size_t kMostKept = 512;
  // The table of descriptors grows by doubling, and a process with threads waits 5 to 20 ms for that each
  // time (Linux 6.18: for a grace period of RCU). This does the waiting, on a thread of its own if a list
  // finds no room; nothing is kept for which the table would have to grow, nor so much that whoever opens a
  // file next would have to wait.
  static void MakeRoom();
  static bool has_room();

  explicit ProcessReader(Keep keep);
  ~ProcessReader();
  ProcessReader(const ProcessReader&) = delete;
  ProcessReader& operator=(const ProcessReader&) = delete;

  // Begins a list: whoever was not in the one before is not kept any longer.
  void Begin();
  // Nothing if there is no such process (any more).
  std::optional<ProcessInfo> Read(pid_t pid);
  // Everybody below it, parents first.
  std::vector<ProcessInfo> DescendantsOf(pid_t pid);
  // Its command line, after Read(); may wait for the process. Of a process whose files are kept it is read
  // again after exec, and else only every kArgumentsEvery times: a title that was written over it shows up
  // late (docs/decisions/process-list.md).
  std::vector<std::string> ArgumentsOf(const ProcessInfo& process);
  static constexpr unsigned kArgumentsEvery = 4;
  // Closes all files.
  void Forget();

 private:
  struct Files;
  static void MakeRoomInBackground();
  const std::unique_ptr<Files> files_;  // null: kNothing
};

// SIGKILL to everybody below it. How many were seen alive: once there is none, there will be none any more,
// unless the process itself makes one.
size_t KillDescendantsOf(pid_t pid);

}  // namespace spty
