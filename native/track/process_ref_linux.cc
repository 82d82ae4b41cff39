#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <mutex>
#include <string_view>

#include "track/proc_files_linux.h"
#include "track/process_ref.h"

namespace spty {
namespace {

std::vector<std::string> SplitArguments(std::string_view text) {
  std::vector<std::string> argv;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\0', at);
    argv.emplace_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return argv;
}

// FNV-1a.
std::string Digest(const std::string& text) {
  uint32_t hash = 0x811c9dc5;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193;
  char digits[9];
  snprintf(digits, sizeof digits, "%08x", hash);
  return digits;
}

// Which namespace of a kind we are in; empty where the kernel has none of that kind.
std::optional<std::string> OwnNamespace(const char* link) {
  char name[64];
  const ssize_t size = readlink(link, name, sizeof name);
  if (size > 0) return std::string(name, static_cast<size_t>(size));
  return errno == ENOENT ? std::optional<std::string>("") : std::nullopt;
}

std::string ReadPlace() {
  const auto pid = OwnNamespace("/proc/self/ns/pid");
  // Start times are told by the clock of the reader's (Linux 5.6).
  const auto time = OwnNamespace("/proc/self/ns/time");
  const std::string boot = ReadWhole("/proc/sys/kernel/random/boot_id", 64);
  if (!pid || pid->empty() || !time || boot.empty()) return kNoPlace;
  return Digest(*pid + *time + boot);
}

constexpr size_t kLongestArguments = 1 << 16;
constexpr size_t kArgumentsAtOnce = 4096;

// What /proc/<pid>/cmdline would say, in one system call instead of three. 0 where that is to be asked: if we
// may not look into the process, if it has too many arguments, or has written another title over them.
size_t CopyArguments(const ProcessInfo& process, char (&text)[kArgumentsAtOnce]) {
  const uint64_t size = process.argv_end - process.argv_begin;
  if (process.argv_end <= process.argv_begin || size > sizeof text) return 0;
  const iovec to{text, size};
  const iovec from{reinterpret_cast<void*>(process.argv_begin), size};
  const ssize_t got = process_vm_readv(process.pid, &to, 1, &from, 1, 0);
  return got == static_cast<ssize_t>(size) && text[size - 1] == '\0' ? size : 0;
}

}  // namespace

std::optional<ProcessInfo> ReadProcess(pid_t pid) {
  return ParseStat(pid, ReadWhole(ProcPath(kStatFile, pid).c_str(), kLongestStat));
}

std::vector<std::string> ArgumentsOf(const ProcessInfo& process) {
  char text[kArgumentsAtOnce];
  if (const size_t size = CopyArguments(process, text); size > 0)
    return SplitArguments(std::string_view(text, size));
  return SplitArguments(ReadWhole(ProcPath("/proc/%d/cmdline", process.pid).c_str(), kLongestArguments));
}

std::string OwnerPlace() {
  static std::mutex mutex;
  static std::string known;
  std::lock_guard lock(mutex);
  // A shortage of the moment is not to be remembered.
  if (known.empty() || known == kNoPlace) known = ReadPlace();
  return known;
}

uint64_t StartTimeOf(pid_t pid) {
  const auto info = ReadProcess(pid);
  return info ? info->start_ticks : 0;
}

}  // namespace spty
