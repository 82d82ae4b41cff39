// Processes of the same user outside the session: the host, the keeper, anybody.
#include "support/processes_linux.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "escape/harness.h"

namespace spty {
namespace {

constexpr char kProcess[] = "escape_process";
const std::string kUsr1 = std::to_string(SIGUSR1);

// Nothing but Landlock's scope keeps signals in.
constexpr int kScopes = 6;

const Attempt kSignals[] = {
    SinceAbi(kScopes, {"Kill", {kProcess, "signal", "kill", "{outsider}", kUsr1}, EPERM, kNever}),
    SinceAbi(kScopes, {"Tgkill", {kProcess, "signal", "tgkill", "{outsider}", kUsr1}, EPERM, kNever}),
    SinceAbi(kScopes, {"Sigqueue", {kProcess, "signal", "queue", "{outsider}", kUsr1}, EPERM, kNever}),
    SinceAbi(kScopes, {"Pidfd", {kProcess, "signal", "pidfd", "{outsider}", kUsr1}, EPERM, kNever}),
    SinceAbi(kScopes, {"Host", {kProcess, "signal", "kill", "{host}", "0"}, EPERM, kNever}),
    SinceAbi(kScopes, {"Keeper", {kProcess, "signal", "kill", "{keeper}", "0"}, EPERM, kNever}),
    SinceAbi(kScopes, {"Daemon", {kProcess, "daemon", "signal", "kill", "{outsider}", kUsr1}, EPERM, kNever}),
    SinceAbi(kScopes, {"Thread", {kProcess, "thread", "signal", "kill", "{outsider}", kUsr1}, EPERM, kNever}),
    SinceAbi(kScopes,
             {"SecondExec", {kProcess, "again", "signal", "kill", "{outsider}", kUsr1}, EPERM, kNever}),
    SinceAbi(kScopes,
             {"UserNamespace", {kProcess, "userns", "signal", "kill", "{outsider}", kUsr1}, EPERM, kNever}),
    SinceAbi(
        kScopes,
        {"KeeperFromUserNamespace", {kProcess, "userns", "signal", "kill", "{keeper}", "0"}, EPERM, kNever}),
};

const Attempt kTraces[] = {
    {"Ptrace", {kProcess, "trace", "{outsider}"}, EPERM, kNever},
    {"PtraceHost", {kProcess, "trace", "{host}"}, EPERM, kNever},
    {"PtraceKeeper", {kProcess, "trace", "{keeper}"}, EPERM, kNever},
    {"PtraceByDaemon", {kProcess, "daemon", "trace", "{outsider}"}, EPERM, kNever},
    {"Memory", {kProcess, "read-memory", "{outsider}", "{address}"}, EPERM, kNever},
    {"Descriptor", {kProcess, "take-descriptor", "{outsider}", "9"}, EPERM, kNever},
    {"DescriptorOfHost", {kProcess, "take-descriptor", "{host}", "0"}, EPERM, kNever},
    {"DescriptorOfKeeper", {kProcess, "take-descriptor", "{keeper}", "3"}, EPERM, kNever},
    // The gate's listener is one of them.
    {"DescriptorsOfKeeper", {kProcess, "take-descriptors", "{keeper}"}, EPERM, kNever},
    {"Compare", {kProcess, "compare", "{outsider}"}, EPERM, kNever},
    ForRoot({"Namespace", {kProcess, "enter-namespace", "{outsider}"}, EPERM, kNever}),
};

// A limit kills as surely as a signal: RLIMIT_CPU ends the keeper, and with it all track of the session.
const Attempt kLimits[] = {
    {"Outsider", {kProcess, "limit", "{outsider}"}, EPERM, kNever},
    {"Keeper", {kProcess, "limit", "{keeper}"}, EPERM, kNever},
    {"Daemon", {kProcess, "daemon", "limit", "{outsider}"}, EPERM, kNever},
};

// System V shared memory has only an owner and a mode; a session could be kept from that of others only by
// being kept from all of it, or in a namespace of its own.
const Attempt kKnownLimits[] = {
    {"ReadLimits", {kProcess, "read-limit", "{outsider}"}, 0, kNotPromised},
    {"OwnLimits", {kProcess, "own-limit"}, 0, kNotPromised},
    {"SharedMemory", {kProcess, "shared-memory", "{memory}"}, 0, kNotPromised},
};

class ProcessEscape : public Escape {};
TEST_P(ProcessEscape, IsRefused) { Try(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Signals, ProcessEscape, ::testing::ValuesIn(kSignals), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(Traces, ProcessEscape, ::testing::ValuesIn(kTraces), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(Limits, ProcessEscape, ::testing::ValuesIn(kLimits), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(KnownLimits, ProcessEscape, ::testing::ValuesIn(kKnownLimits), NameOfAttempt);

// The kernel accepts the owner, and then does not send: only the receiver can tell.
TEST_F(ProcessEscape, NoSignalByDescriptor) {
  if (!HasScopes()) GTEST_SKIP() << "needs Landlock's scopes (Linux 6.12)";
  {
    World world;
    const EscapeOutcome outside =
        Perform(RequestOutside(world, {kProcess, "signal-by-descriptor", "{outsider}"}));
    ASSERT_EQ(outside.kind, EscapeOutcome::Kind::kDone) << ToString(outside);
    EXPECT_GE(world.CountVisits().signals, 1);  // another one when the pipe closes
  }
  World world;
  const EscapeOutcome inside =
      Perform(RequestInside(world, {kProcess, "signal-by-descriptor", "{outsider}"}, kWorkspace));
  EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kDone) << ToString(inside);
  EXPECT_EQ(world.CountVisits().signals, 0);
  EXPECT_TRUE(world.CountVisits().alive);
}

// Outside it is tried in a pid namespace: nobody else's processes are ours to signal.
TEST_F(ProcessEscape, KillOfEveryoneReachesTheSessionOnly) {
  if (!HasScopes()) GTEST_SKIP() << "needs Landlock's scopes (Linux 6.12)";
  {
    World world;
    const EscapeOutcome outside = Perform(RequestOutside(world, {kProcess, "pidns", "everyone", "0"}));
    if (outside.kind == EscapeOutcome::Kind::kAbsent) GTEST_SKIP() << outside.reason;
    ASSERT_EQ(outside.kind, EscapeOutcome::Kind::kDone) << ToString(outside);
  }
  World world;
  const EscapeOutcome inside =
      Perform(RequestInside(world, {kProcess, "everyone", "{outsider}"}, kWorkspace));
  EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kDone) << ToString(inside);
  EXPECT_EQ(world.CountVisits().signals, 0);
  EXPECT_TRUE(world.CountVisits().alive);
}

// Another session under the same policy is an outsider like any other.
TEST_F(ProcessEscape, SessionsDoNotReachEachOther) {
  if (!HasScopes()) GTEST_SKIP() << "needs Landlock's scopes (Linux 6.12)";
  World world;
  const auto waiting = [&](bool confined) {
    SpawnRequest request = RequestInside(world, {"escape_files", "nothing"}, kWorkspace);
    request.file = "/bin/sh";
    request.args = {"-c", "echo up; read line"};
    if (!confined) request.policy = nullptr;
    return request;
  };
  for (const char* act : {"signal", "trace", "take-descriptor", "limit"}) {
    SCOPED_TRACE(act);
    for (const bool confined : {false, true}) {
      LiveSession other(waiting(confined));
      ASSERT_TRUE(other.ok()) << Describe(other.error());
      other.ReadUntil("up");
      std::vector<std::string> command = {kProcess, act};
      const std::string pid = std::to_string(other->Pid().value());
      if (act == std::string("signal")) {
        command.insert(command.end(), {"kill", pid, "0"});
      } else {
        command.insert(command.end(), {pid, "0"});
      }
      const EscapeOutcome outside = Perform(RequestOutside(world, command));
      if (outside.kind == EscapeOutcome::Kind::kAbsent) GTEST_SKIP() << outside.reason;
      EXPECT_EQ(outside.kind, EscapeOutcome::Kind::kDone) << ToString(outside);
      const EscapeOutcome inside = Perform(RequestInside(world, command, kWorkspace));
      EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kRefused) << "ESCAPED: " << ToString(inside);
      EXPECT_EQ(ErrnoName(inside.err), ErrnoName(EPERM));
      other->Write("\n");
      EXPECT_EQ(other.ReadToEnd().code, 0);
    }
  }
}

// Whoever may be slowed down by its own user may be slowed down from inside, too; root's processes with
// privileges may not.
TEST_F(ProcessEscape, ThePriorityOfOutsidersIsNotPromised) {
  Attempt attempt;
  attempt.command = {kProcess, "nice", "{outsider}"};
  attempt.err = EPERM;
  attempt.grant = geteuid() == 0 ? kNever : kNotPromised;
  Try(attempt);
}

// A shell that makes the keeper its tracer and stops has not ended: it can still be killed, and its end is
// reported as it was.
TEST_F(ProcessEscape, AStopUnderTheKeeperIsNoEnd) {
  for (bool confined : {false, true}) {
    World world;
    const std::vector<std::string> command = {kProcess, "trace-me"};
    LiveSession session(confined ? RequestInside(world, command, kWorkspace)
                                 : RequestOutside(world, command));
    ASSERT_TRUE(session.ok()) << Describe(session.error());
    const pid_t pid = session.pid();
    session.ReadUntil("orphan ");
    const pid_t orphan = std::stoi(session.ReadUntil("\n"));
    ASSERT_TRUE(Eventually([&] { return StateOf(pid) == 't'; }));
    ASSERT_TRUE(Eventually([&] { return StateOf(orphan) == 0; })) << "not reaped";
    EXPECT_TRUE(session->Signal(SIGKILL));
    EXPECT_TRUE(WaitForDeath(pid));
    EXPECT_EQ(session.ReadToEnd().signal, SIGKILL);
  }
}

}  // namespace
}  // namespace spty
