#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/block_signals.h"
#include "base/fd.h"
#include "track/proc_files_linux.h"
#include "track/process_reader.h"
#include "uapi/process_files.h"

namespace spty {
namespace {

std::atomic<size_t> all_kept{0};
// Descriptors below this are in the table already. It never shrinks.
std::atomic<int> room{0};
std::atomic<bool> making_room{false};
// Above the host's own.
constexpr int kWantedRoom = 2 * static_cast<int>(ProcessReader::kMostKept);
// Of that, what is left to everybody else.
constexpr int kLeftFree = 128;

rlim_t DescriptorLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

// An open file that counts among all that are kept; empty if there are enough of them.
class KeptFile {
 public:
  KeptFile() = default;
  KeptFile(Fd fd, int below) {
    if (!fd.valid() || fd.get() >= below) return;
    const auto most = static_cast<size_t>(std::min<rlim_t>(ProcessReader::kMostKept, DescriptorLimit() / 8));
    if (all_kept.fetch_add(1) < most)
      fd_ = std::move(fd);
    else
      all_kept.fetch_sub(1);
  }
  KeptFile(KeptFile&& other) noexcept = default;
  KeptFile& operator=(KeptFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~KeptFile() {
    if (fd_.valid()) all_kept.fetch_sub(1);
  }

  bool open() const { return fd_.valid(); }
  std::string Read(size_t limit) const { return ReadWhole(fd_.get(), limit); }

 private:
  Fd fd_;
};

struct KeptProcess {
  KeptFile stat;
  KeptFile children;
  unsigned list = 0;  // the last one that it was in
  // As they were read last, and from where.
  std::vector<std::string> argv;
  std::string name;
  uint64_t argv_begin = 0;
  uint64_t argv_end = 0;
  unsigned argv_good_for = 0;  // how many lists more
};

}  // namespace

struct ProcessReader::Files {
  std::unordered_map<pid_t, KeptProcess> processes;
  unsigned list = 0;
  int below = 0;  // what is kept during this list has a lower descriptor

  KeptProcess* Find(pid_t pid) {
    const auto found = processes.find(pid);
    return found == processes.end() ? nullptr : &found->second;
  }
};

void ProcessReader::MakeRoom() {
  const Fd lowest(open("/proc/self", O_PATH | O_CLOEXEC));
  if (!lowest.valid()) return;
  const rlim_t most = std::min<rlim_t>(DescriptorLimit(), INT_MAX);
  const int wanted = std::min(lowest.get() + kWantedRoom, static_cast<int>(most));
  const Fd highest(fcntl(lowest.get(), F_DUPFD_CLOEXEC, wanted - 1));
  if (highest.valid()) room = wanted;
}

bool ProcessReader::has_room() { return room.load() > 0; }

// If it cannot be made, or there is no thread to be had, the next list tries again.
void ProcessReader::MakeRoomInBackground() {
  if (making_room.exchange(true)) return;
  const BlockAllSignals block;
  pthread_t thread;
  const auto run = [](void*) -> void* {
    MakeRoom();
    making_room = false;
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, run, nullptr) == 0)
    pthread_detach(thread);
  else
    making_room = false;
}

ProcessReader::ProcessReader(Keep keep)
    : files_(keep == Keep::kFiles ? std::make_unique<Files>() : nullptr) {}

ProcessReader::~ProcessReader() = default;

void ProcessReader::Begin() {
  if (files_ == nullptr) return;
  files_->below = room.load() - kLeftFree;
  if (!has_room()) MakeRoomInBackground();
  const unsigned last = files_->list++;
  std::erase_if(files_->processes, [last](const auto& kept) { return kept.second.list != last; });
}

void ProcessReader::Forget() {
  if (files_ != nullptr) files_->processes.clear();
}

std::optional<ProcessInfo> ProcessReader::Read(pid_t pid) {
  if (files_ == nullptr) return ReadProcess(pid);
  if (KeptProcess* const kept = files_->Find(pid)) {
    kept->list = files_->list;
    if (auto info = ParseStat(pid, kept->stat.Read(kLongestStat))) return info;
    // It has ended; somebody else may have its number.
    files_->processes.erase(pid);
  }
  Fd fd(open(ProcPath(kStatFile, pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  auto info = ParseStat(pid, ReadWhole(fd.get(), kLongestStat));
  if (!info) return std::nullopt;
  if (KeptFile stat(std::move(fd), files_->below); stat.open()) {
    KeptProcess& kept = files_->processes[pid];
    kept.stat = std::move(stat);
    kept.list = files_->list;
  }
  return info;
}

std::vector<ProcessInfo> ProcessReader::DescendantsOf(pid_t pid) {
  const auto take_children = [this](const ProcessInfo& process, std::vector<pid_t>* children) {
    // Most have one thread, which is named like the process.
    if (process.threads != 1) return TakeChildrenOfThreads(process.pid, children);
    KeptProcess* const kept = files_ == nullptr ? nullptr : files_->Find(process.pid);
    if (kept != nullptr && kept->children.open())
      return ParseChildren(kept->children.Read(kLongestChildren), children);
    Fd fd(open(ProcPath(kChildrenFile, process.pid).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return;
    ParseChildren(ReadWhole(fd.get(), kLongestChildren), children);
    if (kept != nullptr) kept->children = KeptFile(std::move(fd), files_->below);
  };
  std::vector<ProcessInfo> found;
  std::vector<pid_t> pids;
  // The number of its threads is not worth another look.
  TakeChildrenOfThreads(pid, &pids);
  for (size_t i = 0; i < pids.size(); ++i) {
    auto info = Read(pids[i]);
    if (!info) continue;  // ended since; what it left is its parent's, or the keeper's by the next time
    take_children(*info, &pids);
    found.push_back(std::move(*info));
  }
  return found;
}

std::vector<std::string> ProcessReader::ArgumentsOf(const ProcessInfo& process) {
  KeptProcess* const kept = files_ == nullptr ? nullptr : files_->Find(process.pid);
  if (kept == nullptr) return spty::ArgumentsOf(process);
  // A new program lies elsewhere: the kernel puts the arguments somewhere else at each exec. Where that is
  // turned off it may still have another name. Of whom we may not know where they are, nothing is remembered.
  const bool same = process.argv_begin != 0 && kept->argv_begin == process.argv_begin &&
                    kept->argv_end == process.argv_end && kept->name == process.name;
  if (!same || kept->argv_good_for == 0) {
    kept->argv = spty::ArgumentsOf(process);
    kept->name = process.name;
    kept->argv_begin = process.argv_begin;
    kept->argv_end = process.argv_end;
    // Nothing: it has ended, or this host has no descriptor to spare at the moment.
    kept->argv_good_for = kept->argv.empty() ? 1 : kArgumentsEvery;
  }
  --kept->argv_good_for;
  return kept->argv;
}

size_t KillDescendantsOf(pid_t pid) {
  size_t alive = 0;
  for (const ProcessInfo& process : ProcessReader(ProcessReader::Keep::kNothing).DescendantsOf(pid)) {
    if (process.state == 'Z') continue;
    ++alive;
    // Held before it is looked at again: whoever is signalled through it is the one that was found.
    const Fd held(static_cast<int>(syscall(uapi::kSysPidfdOpen, process.pid, 0)));
    if (held.valid() && StartTimeOf(process.pid) == process.start_ticks)
      syscall(uapi::kSysPidfdSendSignal, held.get(), SIGKILL, nullptr, 0);
  }
  return alive;
}

}  // namespace spty
