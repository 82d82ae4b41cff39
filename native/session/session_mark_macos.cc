#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "confine/seatbelt_profile.h"
#include "session/session_plan.h"
#include "track/mark_table_macos.h"
#include "track/session_mark.h"
#include "track/set_id_programs.h"

namespace spty {
namespace {

constexpr int kLooks = 50;
constexpr const char* kProgramDirectories[] = {
    "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/local/bin", "/opt/homebrew/bin"};

// 0 or the errno of the process table.
int FindMarked(const std::string& mark, std::vector<pid_t>* found) {
  MarkTable table(mark.c_str());
  ListedProcess* list = nullptr;
  size_t count = 0;
  if (!table.marked()) return 0;
  if (int err = table.List(&list, &count); err != 0) return err;
  for (size_t i = 0; i < count; ++i) {
    if (!list[i].zombie && table.Probe(list[i].pid) == MarkProbe::kMember) found->push_back(list[i].pid);
  }
  table.Free();
  return 0;
}

// Of a session whose host and keeper are gone. Whoever forks faster than we look keeps its mark, for the next
// one who looks.
bool EndOrphans(const std::string& mark) {
  for (int look = 0; look < kLooks; ++look) {
    std::vector<pid_t> found;
    if (FindMarked(mark, &found) != 0) return false;
    if (found.empty()) return true;
    for (const pid_t pid : found) kill(pid, SIGKILL);
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
  return false;
}

// Once per process: what becomes setuid later does not run in a tracked session.
const std::vector<std::string>& UnmarkedPrograms() {
  static const std::vector<std::string> programs = [] {
    std::vector<std::string> found = SetIdPrograms(kProgramDirectories);
    found.emplace_back(kSandboxExec);
    return found;
  }();
  return programs;
}

}  // namespace

Result<void> MarkSession(const SpawnRequest& request, const Enforcement& enforcement, const Fd& slave,
                         Plan& plan) {
  // What predecessors have left, once per process, as the place for cgroups does it on Linux.
  [[maybe_unused]] static const size_t swept = SweepMarks("/tmp", EndOrphans);
  TRY_ASSIGN(plan.mark, NewSessionMark());
  if (!enforcement.confined) {
    TRY_ASSIGN(plan.profile, TrackingProfile(plan.mark, UnmarkedPrograms()));
    return {};
  }
  char terminal[PATH_MAX];
  if (int err = ttyname_r(slave.get(), terminal, sizeof terminal); err != 0)
    return Error{Stage::kConfinement, err, "ttyname_r"};
  TRY_ASSIGN(plan.profile, SeatbeltProfile(*request.policy, {plan.mark, terminal, 0}));
  return {};
}

std::vector<pid_t> MarkedProcesses(const std::string& mark) {
  std::vector<pid_t> found;
  (void)FindMarked(mark, &found);
  return found;
}

size_t KillMarked(const std::string& mark) {
  size_t killed = 0;
  for (const pid_t pid : MarkedProcesses(mark)) killed += kill(pid, SIGKILL) == 0 ? 1U : 0U;
  return killed;
}

}  // namespace spty
