#include "track/mark_table_macos.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/eintr.h"
#include "uapi/seatbelt.h"

namespace spty {
namespace {

constexpr int kListAttempts = 8;

// The number that the kernel gives to a process now: that of a child which ends at once. 0 if there is none
// to be had. XNU gives numbers out in order, and passes over those that are in use.
int32_t NumberOfNow() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  if (pid == -1) return 0;
  int status = 0;
  RetryEintr([&] { return waitpid(pid, &status, 0); });
  return pid;
}

// 0, 1 or -1, as sandbox_check says.
int MayRead(pid_t pid, const char* path) {
  return sandbox_check(pid, "file-read-data", seatbelt::kFilterPath | seatbelt::kNoReport, path);
}

}  // namespace

MarkTable::MarkTable(const char* mark) {
  const int allow = snprintf(allow_, sizeof allow_, "%s/allow", mark);
  const int deny = snprintf(deny_, sizeof deny_, "%s/deny", mark);
  marked_ =
      mark[0] != '\0' && allow < static_cast<int>(sizeof allow_) && deny < static_cast<int>(sizeof deny_);
}

void MarkTable::Free() {
  if (buffer_ != nullptr) munmap(buffer_, buffer_size_);
  buffer_ = nullptr;
  buffer_size_ = 0;
}

bool MarkTable::StartWatch() {
  watch_began_ = NumberOfNow();
  return watch_began_ != 0;
}

// A number in between that was in use, or the start of a new round, looks like a birth: then we look again.
bool MarkTable::NobodyBorn() { return watch_began_ != 0 && NumberOfNow() == watch_began_ + 1; }

int32_t MarkTable::Newest() { return NumberOfNow(); }

bool MarkTable::Grow(size_t bytes) {
  if (bytes <= buffer_size_) return true;
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  if (pages == MAP_FAILED) return false;
  if (buffer_ != nullptr) munmap(buffer_, buffer_size_);
  buffer_ = pages;
  buffer_size_ = bytes;
  return true;
}

// Everybody, not only this user's (KERN_PROC_UID goes by the effective one): a stray may have become root.
int MarkTable::List(ListedProcess** list, size_t* count) {
  int name[4] = {CTL_KERN, KERN_PROC, KERN_PROC_ALL, 0};
  const uid_t own = geteuid();
  for (int attempt = 0; attempt < kListAttempts; ++attempt) {
    size_t size = 0;
    if (sysctl(name, 4, nullptr, &size, nullptr, 0) == -1) return errno;
    // Room for those who come before the second call.
    if (!Grow(size + size / 4 + 32 * sizeof(kinfo_proc))) return ENOMEM;
    size = buffer_size_;
    if (sysctl(name, 4, buffer_, &size, nullptr, 0) == -1) {
      if (errno == ENOMEM) continue;
      return errno;
    }
    // In place, from the front: an entry of ours is smaller than one of the kernel's.
    static_assert(sizeof(ListedProcess) <= sizeof(kinfo_proc));
    const auto* entries = static_cast<const kinfo_proc*>(buffer_);
    auto* listed = static_cast<ListedProcess*>(buffer_);
    const size_t found = size / sizeof(kinfo_proc);
    size_t kept = 0;
    for (size_t i = 0; i < found; ++i) {
      const kinfo_proc entry = entries[i];
      // The kernel itself, which has no profile that could be asked about, and launchd.
      if (entry.kp_proc.p_pid <= 1) continue;
      ListedProcess process;
      process.pid = entry.kp_proc.p_pid;
      process.parent = entry.kp_eproc.e_ppid;
      process.started = static_cast<uint64_t>(entry.kp_proc.p_starttime.tv_sec) * 1'000'000 +
                        static_cast<uint64_t>(entry.kp_proc.p_starttime.tv_usec);
      process.zombie = entry.kp_proc.p_stat == SZOMB;
      // As kill(2) sees it: the real or the effective user is ours, or we are root.
      process.foreign =
          own != 0 && entry.kp_eproc.e_ucred.cr_uid != own && entry.kp_eproc.e_pcred.p_ruid != own;
      listed[kept++] = process;
    }
    *list = listed;
    *count = kept;
    return 0;
  }
  return ENOMEM;
}

MarkProbe MarkTable::Probe(int32_t pid) {
  const int allow = MayRead(pid, allow_);
  if (allow == -1) return errno == ESRCH ? MarkProbe::kGone : MarkProbe::kUnknown;
  if (allow != 0) return MarkProbe::kStranger;
  const int deny = MayRead(pid, deny_);
  if (deny == -1) return errno == ESRCH ? MarkProbe::kGone : MarkProbe::kUnknown;
  return deny != 0 ? MarkProbe::kMember : MarkProbe::kStranger;
}

// EPERM (it has become another user's) and ESRCH cannot be helped here; the caller goes on until nobody is
// left.
void MarkTable::Kill(int32_t pid) {
  if (pid > 1) kill(pid, SIGKILL);
}

}  // namespace spty
