#include "escape/harness.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "session/host_probe.h"

namespace spty {
namespace {

constexpr int kExitAbsent = 77;
constexpr int kOldestAbi = 3;         // with which a strict session starts
constexpr int kOlderAbis[] = {5, 3};  // without scopes; without rights for ioctls and the network
constexpr char kMark[] = "attempt: ";

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// A short text may have come in any of several lines; the last verdict counts.
std::string VerdictOf(const std::string& output) {
  const size_t at = output.rfind(kMark);
  if (at == std::string::npos) return "";
  const size_t begin = at + std::strlen(kMark);
  return output.substr(begin, output.find('\n', begin) - begin);
}

bool Leaked(const EscapeOutcome& outcome) { return outcome.output.find(kSecret) != std::string::npos; }

// What the kernel says about a facility that it was built or set up without.
bool IsLacking(int err) {
  return err == EAFNOSUPPORT || err == EPROTONOSUPPORT || err == ESOCKTNOSUPPORT || err == EOPNOTSUPP ||
         err == ENOSYS;
}

SpawnRequest Base(const World& world, const std::vector<std::string>& command) {
  SpawnRequest request;
  request.file = std::string(SPTY_PROBE_DIR) + "/" + command.front() + "_linux";
  for (size_t i = 1; i < command.size(); ++i) request.args.push_back(world.Fill(command[i]));
  request.env = {"PATH=/usr/bin:/bin"};
  request.cwd = world.scratch().project();
  request.keeper_path = SPTY_KEEPER_PATH;
  return request;
}

}  // namespace

Attempt ForRoot(Attempt attempt) {
  attempt.root = true;
  return attempt;
}

Attempt SinceAbi(int abi, Attempt attempt) {
  attempt.since_abi = abi;
  return attempt;
}

void PrintTo(const Attempt& attempt, std::ostream* out) { *out << Join(attempt.command); }

std::string ToString(const EscapeOutcome& outcome) {
  switch (outcome.kind) {
    case EscapeOutcome::Kind::kDone:
      return "done; output: " + outcome.output;
    case EscapeOutcome::Kind::kRefused:
      return "refused with " + std::string(ErrnoName(outcome.err)) + "; output: " + outcome.output;
    case EscapeOutcome::Kind::kAbsent:
      return outcome.reason;
    case EscapeOutcome::Kind::kKilled:
      return "ended by signal " + std::to_string(outcome.signal);
    case EscapeOutcome::Kind::kNotStarted:
      return "not started: " + outcome.output;
    case EscapeOutcome::Kind::kBroken:
      break;
  }
  return "broken; output: " + outcome.output;
}

std::string SettingsText(const World& world, const std::string& members) {
  return world.Fill(R"({"enabled": true, "additional_executable_paths": ["{probes}"], )" + members + "}");
}

SpawnRequest RequestOutside(const World& world, const std::vector<std::string>& command) {
  return Base(world, command);
}

SpawnRequest RequestInside(const World& world, const std::vector<std::string>& command,
                           const std::string& members) {
  SpawnRequest request = Base(world, command);
  PolicyInput input = world.scratch().Input(SettingsText(world, members));
  input.env = {{"PATH", "/usr/bin:/bin"}};
  request.policy = world.scratch().Resolve(std::move(input));
  return request;
}

EscapeOutcome Perform(const SpawnRequest& request) {
  EscapeOutcome outcome;
  LiveSession session(request);
  if (!session.ok()) {
    outcome.kind = EscapeOutcome::Kind::kNotStarted;
    outcome.output = Describe(session.error());
    return outcome;
  }
  const Session::End end = session.ReadToEnd(&outcome.output);
  const std::string verdict = VerdictOf(outcome.output);
  if (end.signal != 0) {
    outcome.kind = EscapeOutcome::Kind::kKilled;
    outcome.signal = end.signal;
  } else if (end.code == 0 && verdict == "ok") {
    outcome.kind = EscapeOutcome::Kind::kDone;
  } else if (end.code == 1 && verdict.starts_with("refused ")) {
    outcome.kind = EscapeOutcome::Kind::kRefused;
    outcome.err = std::stoi(verdict.substr(std::strlen("refused ")));
  } else if (end.code == kExitAbsent && verdict.starts_with("absent: ")) {
    outcome.kind = EscapeOutcome::Kind::kAbsent;
    outcome.reason = verdict.substr(std::strlen("absent: "));
  }
  return outcome;
}

void Escape::SetUp() {
  auto features = ProbeHost(SPTY_KEEPER_PATH);
  ASSERT_TRUE(features.ok()) << Describe(features.error());
  abi_ = features.value().landlock_abi;
  if (abi_ < kOldestAbi) GTEST_SKIP() << "needs Landlock (Linux 6.2)";
  if (features.value().notify_err != 0) GTEST_SKIP() << "needs seccomp notifications";
}

// False if this machine cannot show anything.
bool Escape::TryOutside(const Attempt& attempt) {
  // Lambdas, since the macro returns.
  if (attempt.root && geteuid() != 0) {
    [] { GTEST_SKIP() << "needs root"; }();
    return false;
  }
  World world;
  if (Join(attempt.command).find("{cgroup}") != std::string::npos && world.cgroup().empty()) {
    [] { GTEST_SKIP() << "needs a writable cgroup"; }();
    return false;
  }
  const EscapeOutcome outside = Perform(RequestOutside(world, attempt.command));
  if (outside.kind == EscapeOutcome::Kind::kAbsent) {
    [&] { GTEST_SKIP() << outside.reason; }();
    return false;
  }
  if (attempt.outside_err == 0 && outside.kind == EscapeOutcome::Kind::kRefused && IsLacking(outside.err)) {
    [&] { GTEST_SKIP() << "this kernel lacks it (" << ErrnoName(outside.err) << ")"; }();
    return false;
  }
  if (attempt.outside_err == 0) {
    EXPECT_EQ(outside.kind, EscapeOutcome::Kind::kDone)
        << "void, since it does not even succeed outside: " << ToString(outside);
  } else {
    EXPECT_EQ(outside.kind, EscapeOutcome::Kind::kRefused) << ToString(outside);
    EXPECT_EQ(ErrnoName(outside.err), ErrnoName(attempt.outside_err)) << ToString(outside);
  }
  return true;
}

void Escape::TryInside(const Attempt& attempt, int abi) {
  SCOPED_TRACE("with Landlock's ABI " + std::to_string(abi));
  World world;
  const std::string before = world.Picture();
  SpawnRequest request = RequestInside(world, attempt.command, attempt.settings);
  request.feature_limits.landlock_abi = abi;
  const EscapeOutcome inside = Perform(request);
  if (attempt.grant == kNotPromised || abi < attempt.since_abi) {
    EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kDone)
        << "a known limitation is gone: promise it, in the documentation and here; " << ToString(inside);
    return;
  }
  if (attempt.signal != 0) {
    EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kKilled) << "ESCAPED: " << ToString(inside);
    EXPECT_EQ(inside.signal, attempt.signal);
  } else {
    EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kRefused) << "ESCAPED: " << ToString(inside);
    EXPECT_EQ(ErrnoName(inside.err), ErrnoName(attempt.err)) << ToString(inside);
  }
  EXPECT_FALSE(Leaked(inside)) << inside.output;
  EXPECT_EQ(world.Picture(), before);
  const World::Visits& visits = world.CountVisits();
  EXPECT_TRUE(visits.alive) << "the outsider is gone";
  EXPECT_EQ(visits.visitors, 0) << "somebody reached the outsider's sockets";
  EXPECT_EQ(visits.signals, 0) << "somebody signalled the outsider";
  EXPECT_FALSE(visits.changed) << "somebody changed the outsider";
  EXPECT_EQ(visits.connections, 0) << "somebody reached the network";
}

void Escape::TryGranted(const Attempt& attempt) {
  World world;
  const std::string members = attempt.settings + (attempt.grant.empty() ? "" : ", ") + attempt.grant;
  const EscapeOutcome granted = Perform(RequestInside(world, attempt.command, members));
  EXPECT_EQ(granted.kind, EscapeOutcome::Kind::kDone)
      << "with " << attempt.grant << ": " << ToString(granted);
}

void Escape::Try(const Attempt& attempt) {
  if (!TryOutside(attempt)) return;
  TryInside(attempt, abi_);
  for (const int abi : kOlderAbis) {
    if (abi < abi_) TryInside(attempt, abi);
  }
  if (attempt.grant != kNever && attempt.grant != kNotPromised) TryGranted(attempt);
}

std::string NameOfAttempt(const ::testing::TestParamInfo<Attempt>& info) { return info.param.name; }

}  // namespace spty
