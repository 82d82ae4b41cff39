// A process table that is made up, and the worst neighbours one can think of, for FingerprintTracker. Time
// passes with every question: between any two of them processes fork, exit, hop, leave their group, are
// reaped or stay zombies, strangers come and take numbers that have become free. Who is being forked has its
// number for a while before anybody can see it, but not for longer than its parent lives; who was killed
// finishes what it is doing in the kernel, and then dies.
#pragma once

#include <cerrno>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "track/fingerprint_tracker.h"

namespace spty {

class ModelTable {
 public:
  // Everything that happens follows from the seed.
  explicit ModelTable(uint64_t seed) : random_(seed) {
    hop_percent_ = Below(60);
    fork_percent_ = Below(30);
    stranger_percent_ = Below(40);
    unknown_percent_ = Below(4) == 0 ? Below(30) : 0;
    list_error_percent_ = Below(4) == 0 ? Below(40) : 0;
    most_members_ = 1 + Below(12);
    zombies_answer_ = Below(2) == 0;
    for (unsigned i = Below(6); i > 0; --i) Born(false, false);
    // One stranger in a few tables never answers.
    if (Below(200) == 0) processes_[Born(false, false)].mute = true;
    shell_ = processes_[Born(true, Below(4) == 0)].pid;
    for (unsigned i = Below(most_members_); i > 0; --i) Born(true, Below(3) == 0);
  }

  // ---- what the tracker asks ----
  bool StartWatch() {
    Pass();
    births_seen_ = births_;
    return Below(50) != 0;
  }

  bool NobodyBorn() {
    Pass();
    return births_ == births_seen_;
  }

  // As the kernel does it: first all numbers at once, then one by one what is still there.
  int List(ListedProcess** list, size_t* count) {
    if (Percent(list_error_percent_)) return ENOMEM;  // the table has grown since its size was asked
    std::vector<int32_t> numbers;
    for (const Process& process : processes_) {
      if (!process.forming) numbers.push_back(process.pid);
    }
    listed_.clear();
    for (const int32_t pid : numbers) {
      if (Below(4) == 0) Pass();
      if (const Process* process = Find(pid); process != nullptr && !process->forming)
        listed_.push_back({pid, process->parent, process->started, process->zombie, false, false});
    }
    *list = listed_.data();
    *count = listed_.size();
    return 0;
  }

  MarkProbe Probe(int32_t pid) {
    Pass();
    held_ = pid;
    const Process* process = Find(pid);
    if (process == nullptr || process->forming) return MarkProbe::kGone;
    if (process->zombie && !zombies_answer_) return MarkProbe::kGone;
    if (process->mute || Percent(unknown_percent_)) return MarkProbe::kUnknown;
    return process->member ? MarkProbe::kMember : MarkProbe::kStranger;
  }

  // The number just asked about cannot be somebody else's already: that would take the kernel a whole round
  // of numbers.
  void Kill(int32_t pid) {
    Pass();
    held_ = 0;
    Process* process = Find(pid);
    if (process == nullptr) return;
    if (!process->member) innocent_killed_ = true;
    Doom(*process);
  }

  void KillGroup() {
    if (Process* shell = Find(shell_); shell == nullptr || !shell->member) return;
    for (Process& process : processes_) {
      if (process.in_group && !process.zombie && !process.forming) Doom(process);
    }
  }

  int32_t Newest() {
    Pass();
    return last_pid_;
  }

  bool Wait(uint32_t) {
    Pass();
    return Below(2) == 0;
  }

  // ---- what the test wants to know ----
  size_t live_members() const {
    size_t count = 0;
    for (const Process& process : processes_) count += process.member && !process.zombie ? 1U : 0U;
    return count;
  }
  bool innocent_killed() const { return innocent_killed_; }
  bool has_mute() const {
    for (const Process& process : processes_) {
      if (process.mute) return true;
    }
    return false;
  }

 private:
  struct Process {
    int32_t pid = 0;
    int32_t parent = 1;
    uint64_t started = 0;
    bool member = false;
    bool forming = false;  // has a number, and is on no list yet
    bool doomed = false;   // killed: does nothing new
    bool hops = false;
    bool in_group = false;
    bool zombie = false;
    bool never_reaped = false;
    bool mute = false;
  };
  static constexpr int32_t kLastPid = 300;  // few numbers: they come back soon

  unsigned Below(unsigned limit) { return limit == 0 ? 0 : static_cast<unsigned>(random_() % limit); }
  bool Percent(unsigned percent) { return Below(100) < percent; }

  Process* Find(int32_t pid) {
    for (Process& process : processes_) {
      if (process.pid == pid) return &process;
    }
    return nullptr;
  }

  size_t Born(bool member, bool hops) {
    do {
      last_pid_ = last_pid_ >= kLastPid ? 2 : last_pid_ + 1;
    } while (Find(last_pid_) != nullptr || last_pid_ == held_);
    Process process;
    process.pid = last_pid_;
    process.member = member;
    process.hops = hops;
    process.in_group = member && Below(2) == 0;
    process.never_reaped = Below(10) == 0;
    processes_.push_back(process);
    processes_.back().started = ++births_;
    return processes_.size() - 1;
  }

  // By a parent that takes a while for it.
  void Fork(size_t parent, bool hops) {
    const int32_t number = processes_[parent].pid;
    Process& child = processes_[Born(true, hops)];
    child.parent = number;
    child.forming = Below(2) == 0;
  }

  void Doom(Process& process) {
    process.doomed = true;
    if (Below(2) == 0) Die(process);
  }

  // A process dies on its way out of the kernel: what it was forking is there by then.
  void Die(Process& process) {
    process.zombie = true;
    process.in_group = false;
    for (Process& child : processes_) {
      if (child.parent != process.pid) continue;
      child.forming = false;
      child.parent = 1;
    }
  }

  // A little time: somebody does something.
  void Pass() {
    if (processes_.empty()) return;
    const size_t at = Below(static_cast<unsigned>(processes_.size()));
    const Process process = processes_[at];
    if (process.forming) {
      processes_[at].forming = Below(3) != 0;
    } else if (process.zombie) {
      if (!process.never_reaped && Below(3) == 0)
        processes_.erase(processes_.begin() + static_cast<long>(at));
    } else if (process.doomed) {
      if (Below(3) == 0) Die(processes_[at]);
    } else if (process.member && process.hops && Percent(hop_percent_)) {
      Fork(at, true);
      Die(processes_[at]);
    } else if (process.member && Percent(fork_percent_) && live_members() < most_members_) {
      Fork(at, Below(4) == 0);
    } else if (process.member && Below(30) == 0) {
      processes_[at].in_group = false;  // setsid, or setpgid
    } else if (process.member && Below(30) == 0) {
      Die(processes_[at]);
    }
    if (!Percent(stranger_percent_)) return;
    if (processes_.size() < 30 && Below(2) == 0) {
      Born(false, false);
    } else if (Process& other = processes_[Below(static_cast<unsigned>(processes_.size()))];
               !other.member && !other.mute) {
      Die(other);
    }
  }

  std::mt19937_64 random_;
  std::vector<Process> processes_;
  std::vector<ListedProcess> listed_;
  unsigned hop_percent_ = 0;
  unsigned fork_percent_ = 0;
  unsigned stranger_percent_ = 0;
  unsigned unknown_percent_ = 0;
  unsigned list_error_percent_ = 0;
  unsigned most_members_ = 0;
  bool zombies_answer_ = false;
  int32_t shell_ = 0;
  int32_t last_pid_ = 1;
  int32_t held_ = 0;
  uint64_t births_ = 0;
  uint64_t births_seen_ = 0;
  bool innocent_killed_ = false;
};

}  // namespace spty
