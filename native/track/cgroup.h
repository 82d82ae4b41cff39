// Control groups (v2): a fresh leaf per session. Whatever a process of the session does, short of leaving for
// a cgroup that its user may write to, it stays in the leaf, and one write kills all of it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "track/cgroup_limits.h"

namespace spty {

// A directory in which leaves can be made.
class CgroupPlace {
 public:
  // The nearest one to where this process is; an error (ENOENT, EACCES, ...) if there is none. Tried out.
  // With limits: the nearest one that can keep them.
  static Result<std::shared_ptr<const CgroupPlace>> Find(const std::string& mountinfo, const std::string& own,
                                                         const CgroupLimits& limits = {});
  // Of this process, found once for each kind of limits, and again if it was removed. When it is found, what
  // predecessors that have died left there is swept, in the background. Any thread.
  static Result<std::shared_ptr<const CgroupPlace>> Own(const CgroupLimits& limits = {});

  CgroupPlace(Fd dir, std::string path) : dir_(std::move(dir)), path_(std::move(path)) {}
  int dir() const { return dir_.get(); }
  const std::string& path() const { return path_; }

  bool Exists() const;
  // Names of leaves whose owners no longer exist.
  std::vector<std::string> Orphans() const;
  // Ends and removes them, as far as that takes no longer than half a second. How many.
  size_t Sweep() const;

 private:
  Fd dir_;
  std::string path_;
};

class CgroupLeaf {
 public:
  // A name that was never used, and never will be again.
  static std::string NewName();
  // {cgroup, err, path}; ENOTSUP if a limit's controller is not available there. `use_kill`: cgroup.kill,
  // where the kernel has it.
  static Result<CgroupLeaf> Create(std::shared_ptr<const CgroupPlace> place, const CgroupLimits& limits,
                                   std::string name = NewName(), bool use_kill = true);
  CgroupLeaf(CgroupLeaf&&) = default;
  CgroupLeaf& operator=(CgroupLeaf&&) = default;
  // Removes it if it is empty; whoever is in it then is somebody else's business by now.
  ~CgroupLeaf();

  const std::string& name() const { return name_; }
  std::string path() const { return place_->path() + "/" + name_; }
  int place_dir() const { return place_->dir(); }
  // The directory itself, to start the first process in; only until ForgetDirectory.
  int directory() const { return dir_.get(); }
  void ForgetDirectory() { dir_.Reset(); }
  // Opened before anything ran in it: the session could change the files' modes.
  int procs() const { return procs_.get(); }
  int kill() const { return kill_.get(); }  // -1 before Linux 5.14
  int events() const { return events_.get(); }

  // Files that change when a limit is hit, as far as there are limits; else -1.
  int pids_events() const { return pids_events_.get(); }
  int memory_events() const { return memory_events_.get(); }
  LimitHits Hits() const;

  // SIGKILL to everybody in it, atomically if the kernel can.
  Result<void> Kill() const;
  // Whether nobody is in it: the kernel's own word.
  Result<bool> Empty() const;
  std::vector<pid_t> Members() const;
  // With a few attempts: the last process may still be on its way out.
  Result<void> Remove();
  // One attempt; EBUSY: somebody is in it, or was a moment ago.
  Result<void> TryRemove();

 private:
  CgroupLeaf() = default;
  std::shared_ptr<const CgroupPlace> place_;
  std::string name_;
  bool made_ = false;  // and not removed yet
  Fd dir_;
  Fd procs_;
  Fd kill_;
  Fd freeze_;  // only without kill_
  Fd events_;
  Fd pids_events_;
  Fd memory_events_;
};

}  // namespace spty
