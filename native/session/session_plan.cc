#include "session/session_plan.h"

#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <cstring>

#include "keeper/plan.h"
#include "session/exec_check.h"
#include "session/host_probe.h"
#include "session/identity.h"
#include "session/path_search.h"
#include "session/stdio_check.h"

namespace spty {
namespace {

constexpr int kLastSignal = 64;

// The calling thread's mask, for the shell to start with.
uint64_t CurrentSignalMask() {
  sigset_t set;
  sigemptyset(&set);
  pthread_sigmask(SIG_SETMASK, nullptr, &set);
  uint64_t mask = 0;
  for (int number = 1; number <= kLastSignal; ++number) {
    if (sigismember(&set, number) == 1) mask |= uint64_t{1} << (number - 1);
  }
  return mask;
}

std::vector<std::string> EnvironmentOf(const SpawnRequest& request) {
  if (request.policy == nullptr) return request.env;
  std::vector<std::string> env;
  env.reserve(request.policy->environment().size());
  for (const EnvVar& var : request.policy->environment()) env.push_back(var.name + "=" + var.value);
  return env;
}

HostFeatures Limited(HostFeatures features, const SpawnRequest::FeatureLimits& limits) {
  if (limits.landlock_abi < features.landlock_abi) features.landlock_abi = limits.landlock_abi;
  if (features.landlock_abi == 0 && features.landlock_err == 0) features.landlock_err = ENOSYS;
  if (!limits.seccomp && features.seccomp_err == 0) features.seccomp_err = ENOSYS;
  if (!limits.notify && features.notify_err == 0) features.notify_err = ENOSYS;
  return features;
}

void Take(Confinement confinement, Plan& plan, SessionPlan& session) {
  plan.confined = true;
  plan.inner_domain = confinement.inner.valid();
  plan.outer_domain = confinement.outer.valid();
  plan.filter = std::move(confinement.filter);
  plan.gate = confinement.gate;
  plan.gate_inet = confinement.gate_inet;
  plan.gate_directories = std::move(confinement.gate_directories);
  plan.gate_sockets = std::move(confinement.gate_sockets);
  plan.gate_closed = std::move(confinement.gate_closed);
  session.inner_domain = std::move(confinement.inner);
  session.outer_domain = std::move(confinement.outer);
}

Result<void> LendStdio(const SpawnRequest& request, Plan& plan, SessionPlan& session) {
  for (uint32_t i = 0; i < request.stdio.size(); ++i) {
    if (request.stdio[i] < 0) continue;
    TRY(CheckStdio(request.stdio[i]));
    plan.stdio |= 1U << i;
    session.stdio.push_back(request.stdio[i]);
  }
  return {};
}

CgroupLimits LimitsOf(const Policy& policy) {
  const Limits wanted = policy.limits();
  CgroupLimits limits;
  if (wanted.processes) limits.processes = wanted.processes->value;
  if (wanted.memory_bytes) limits.memory_bytes = wanted.memory_bytes->value;
  if (wanted.cpu_percent) limits.cpu_percent = wanted.cpu_percent->value;
  return limits;
}

// Those that are enforced: the report has said so, or why not.
CgroupLimits LimitsOf(const Enforcement& enforcement, const SpawnRequest& request) {
  const bool kept = enforcement.applied && enforcement.features.no_limits.empty();
  return kept ? LimitsOf(*request.policy) : CgroupLimits{};
}

std::string WhyNoLimits(const SpawnRequest& request) {
  const CgroupLimits limits = LimitsOf(*request.policy);
  if (!limits.any()) return "";
  if (!request.use_cgroup) return "the session has no cgroup";
  const auto place = CgroupPlace::Own(limits);
  return place.ok() ? "" : "limits are kept by cgroup controllers: " + Describe(place.error());
}

// A leaf where one can be made. None is no error, but for limits: the session is then tracked by its keeper
// alone, and says so. Not for a shortage of the moment, which is no reason to track a session less well.
Result<void> JoinCgroup(const SpawnRequest& request, const CgroupLimits& limits, KeeperProcess& keeper,
                        Plan& plan, SessionPlan& session) {
  if (!request.use_cgroup) {
    session.no_cgroup = "not wanted";
    return {};
  }
  auto place = CgroupPlace::Own(limits);
  if (!place.ok()) {
    if (limits.any() || IsShortage(place.error().err)) return place.error();
    session.no_cgroup = Describe(place.error());
    return {};
  }
  std::string name = CgroupLeaf::NewName();
  // A keeper that does not hear this will not hear the plan either; that is where it is found out why.
  (void)keeper.Reserve({"", name}, place.value()->dir());
  auto leaf = CgroupLeaf::Create(place.value(), limits, std::move(name), request.feature_limits.cgroup_kill);
  if (!leaf.ok()) {
    if (limits.any() || IsShortage(leaf.error().err)) return leaf.error();
    session.no_cgroup = Describe(leaf.error());
    return {};
  }
  session.cgroup = std::move(leaf).value();
  plan.cgroup = true;
  plan.cgroup_kill = session.cgroup->kill() >= 0;
  if (!plan.cgroup_kill) session.no_cgroup = "this kernel has no cgroup.kill, which came with Linux 5.14";
  plan.cgroup_name = session.cgroup->name();
  return {};
}

}  // namespace

std::vector<int> SessionPlan::Descriptors() const {
  std::vector<int> fds = {slave.get()};
  if (inner_domain.valid()) fds.push_back(inner_domain.get());
  if (outer_domain.valid()) fds.push_back(outer_domain.get());
  if (cgroup) {
    fds.insert(fds.end(), {cgroup->directory(), cgroup->events(), cgroup->place_dir()});
    if (cgroup->kill() >= 0) fds.push_back(cgroup->kill());
  }
  fds.insert(fds.end(), stdio.begin(), stdio.end());
  return fds;
}

Result<Enforcement> DecideEnforcement(const SpawnRequest& request) {
  if (request.policy == nullptr) {
    Enforcement none;
    none.reason = "no settings were given";
    return none;
  }
  const Policy& policy = *request.policy;
  if (!policy.confined()) return PlanEnforcement(policy, HostFeatures{});
  TRY_ASSIGN(const HostFeatures probed, ProbeHost(request.keeper_path));
  HostFeatures features = Limited(probed, request.feature_limits);
  features.no_limits = WhyNoLimits(request);
  Enforcement enforcement = PlanEnforcement(policy, features);
  if (std::string refusal = RefusalOf(policy, enforcement); !refusal.empty())
    return Error{Stage::kConfinement, ENOTSUP, std::move(refusal)};
  return enforcement;
}

Result<SessionPlan> MakeSessionPlan(const SpawnRequest& request, const Enforcement& enforcement, Fd slave,
                                    KeeperProcess& keeper) {
  SessionPlan session;
  Plan plan;
  plan.signal_mask = CurrentSignalMask();
  if (request.ids) {
    plan.set_ids = true;
    TRY_ASSIGN(plan.identity, ResolveIdentity(*request.ids));
  }
  plan.cwd = request.cwd;
  plan.temp_dir = request.temp_dir;
  plan.env = EnvironmentOf(request);
  plan.candidates = ProgramCandidates(request.file, plan.env);
  plan.argv.reserve(request.args.size() + 1);
  plan.argv.push_back(request.file);
  plan.argv.insert(plan.argv.end(), request.args.begin(), request.args.end());
  session.wait_for_exec =
      request.wait_for_exec &&
      !(request.unless_sure && WillExecute(request, plan.candidates, plan.argv, plan.env));
  // Also where Spawn does not wait: who asks for the pid gets that of the program and not of a keeper's
  // child.
  plan.started_means_running = request.wait_for_exec;
  if (enforcement.applied) {
    TRY_ASSIGN(Confinement confinement,
               PrepareConfinement(*request.policy, enforcement, slave, keeper.pid(),
                                  [&](const RulesAround& around) { return keeper.Complete(around); }));
    Take(std::move(confinement), plan, session);
  }
  TRY(LendStdio(request, plan, session));
  TRY(JoinCgroup(request, LimitsOf(enforcement, request), keeper, plan, session));
  TRY(MarkSession(request, enforcement, slave, plan));
  session.mark = plan.mark;
  TRY_ASSIGN(session.encoded, EncodePlan(plan));
  session.candidates = std::move(plan.candidates);
  session.slave = std::move(slave);
  return session;
}

std::string TextOf(const wire::Failed& failed) {
  return {failed.text, strnlen(failed.text, sizeof failed.text)};
}

StartSubjects::StartSubjects(const SpawnRequest& request, std::vector<std::string> places)
    : file(request.file), cwd(request.cwd) {
  if (request.policy != nullptr) candidates = std::move(places);
}

Error ToError(const wire::Failed& failed, const StartSubjects& subjects) {
  if (failed.stage == Stage::kCwd) return Error{failed.stage, failed.err, subjects.cwd};
  if (failed.stage == Stage::kSeatbelt || failed.stage == Stage::kConfinement)
    return Error{failed.stage, failed.err, TextOf(failed)};
  if (failed.stage != Stage::kExec) return Error{failed.stage, failed.err, ""};
  // Under a policy the place matters, not the name: it decides which setting is to be changed.
  const bool place = failed.err == EACCES && failed.candidate < subjects.candidates.size();
  return Error{failed.stage, failed.err, place ? subjects.candidates[failed.candidate] : subjects.file};
}

}  // namespace spty
