// UNIX sockets of others where the keeper cannot be asked: inside another sandbox that uses notifications
// itself. From Landlock's ABI 9 on (Linux 7.1) the kernel decides; before that there are none.
#include <gtest/gtest.h>

#include <cerrno>

#include "escape/harness.h"

namespace spty {
namespace {

constexpr char kUnix[] = "escape_unix";
constexpr char kStream[] = R"("unix_sockets": ["{shared}/stream"])";
constexpr char kBus[] = R"("unix_sockets": ["{shared}/user/bus"])";
constexpr char kSeqpacket[] = R"("unix_sockets": ["{shared}/seqpacket"])";
constexpr char kHidden[] = R"("unix_sockets": ["{private}/stream"])";

const Attempt kForTheKernel[] = {
    {"Stream", {kUnix, "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    {"UserBus", {kUnix, "connect", "stream", "{shared}/user/bus"}, EACCES, kBus, kShared},
    {"Seqpacket", {kUnix, "connect", "seqpacket", "{shared}/seqpacket"}, EACCES, kSeqpacket, kShared},
    {"Hidden", {kUnix, "connect", "stream", "{private}/stream"}, EACCES, kHidden},
    {"Relative", {kUnix, "chdir-connect", "{shared}", "stream"}, EACCES, kStream, kShared},
    {"Symlink", {kUnix, "symlink-connect", "{shared}/stream", "{project}/other"}, EACCES, kStream, kShared},
    {"Daemon", {kUnix, "daemon", "run", "{shared}/user/bus", "true"}, EACCES, kBus, kShared},
    {"UserNamespace", {kUnix, "userns", "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    {"Datagram", {kUnix, "sendto", "dgram", "{shared}/dgram"}, EACCES, kNever, kShared},
    {"EndOfAPair", {kUnix, "pair-sendto", "dgram", "{shared}/dgram"}, EACCES, kNever, kShared},
    {"Ring", {kUnix, "ring-connect", "{shared}/stream"}, ENOSYS, kNever, kShared},
};

const Attempt kAbstractForTheKernel[] = {
    {"Abstract", {kUnix, "connect", "stream", "@{abstract}"}, EPERM, kNever},
};

// Where there is none: not even for the session itself, but for pairs, which are connected already.
const Attempt kWithoutSockets[] = {
    {"Abstract", {kUnix, "connect", "stream", "@{abstract}"}, EACCES, kNever},
    {"AbstractDatagram", {kUnix, "sendto", "dgram", "@{abstract}-dgram"}, EACCES, kNever},
    {"RawIsDatagram", {kUnix, "sendto", "raw", "{shared}/dgram"}, EACCES, kNever, kShared},
    {"PidNamespace", {kUnix, "pidns", "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    {"OwnAnswer", {kUnix, "own-answer-connect", "{shared}/stream"}, EACCES, kNever, kShared},
    {"Bind", {kUnix, "bind", "{private}/new"}, EACCES, R"("additional_read_write_paths": ["{private}"])"},
    {"BindOfOwn", {kUnix, "bind", "{project}/new"}, EACCES, ""},
    {"ConnectOfAStreamPair",
     {kUnix, "pair-connect", "stream", "{shared}/stream"},
     EISCONN,
     kNever,
     kShared,
     EISCONN},
};

class SocketEscapeWithoutGate : public Escape {
 protected:
  void SetUp() override {
    Escape::SetUp();
    if (!IsSkipped() && !HasUnixSockets()) GTEST_SKIP() << "needs Landlock ABI 9";
  }
  static EscapeOutcome Inside(const World& world, const std::vector<std::string>& command,
                              const std::string& settings) {
    SpawnRequest request = RequestInside(world, command, settings);
    request.feature_limits.notify = false;
    return Perform(request);
  }
};

TEST_P(SocketEscapeWithoutGate, IsRefused) {
  const Attempt& attempt = GetParam();
  World world;
  const EscapeOutcome outside = Perform(RequestOutside(world, attempt.command));
  ASSERT_EQ(outside.kind, EscapeOutcome::Kind::kDone) << "void: " << ToString(outside);
  World fresh;
  const EscapeOutcome inside = Inside(fresh, attempt.command, attempt.settings);
  EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kRefused) << ToString(inside);
  EXPECT_EQ(inside.err, attempt.err) << ToString(inside);
  EXPECT_EQ(fresh.CountVisits().visitors, 0);
  if (attempt.grant == kNever) return;
  World granted;
  const EscapeOutcome with_grant = Inside(granted, attempt.command, attempt.settings + ", " + attempt.grant);
  EXPECT_EQ(with_grant.kind, EscapeOutcome::Kind::kDone) << ToString(with_grant);
}
INSTANTIATE_TEST_SUITE_P(ForTheKernel, SocketEscapeWithoutGate, ::testing::ValuesIn(kForTheKernel),
                         NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(AbstractForTheKernel, SocketEscapeWithoutGate,
                         ::testing::ValuesIn(kAbstractForTheKernel), NameOfAttempt);

// The same place, but a socket of the session's own.
TEST_F(SocketEscapeWithoutGate, ItsOwnSocketsCanBeConnectedTo) {
  World world;
  const EscapeOutcome own = Inside(world, {kUnix, "own-connect", "{shared}/own"}, kShared);
  EXPECT_EQ(own.kind, EscapeOutcome::Kind::kDone) << ToString(own);
}

// Neither gate nor kernel: seccomp lets nobody have a UNIX socket, whatever the settings say.
class SocketEscapeWithoutSockets : public Escape {
 protected:
  static EscapeOutcome Inside(const World& world, const std::string& settings, bool notify) {
    constexpr int kBeforeUnixSockets = 8;
    SpawnRequest request = RequestInside(world, GetParam().command, settings);
    request.feature_limits.landlock_abi = kBeforeUnixSockets;
    request.feature_limits.notify = notify;
    return Perform(request);
  }
};

TEST_P(SocketEscapeWithoutSockets, IsRefused) {
  const Attempt& attempt = GetParam();
  World world;
  const EscapeOutcome outside = Perform(RequestOutside(world, attempt.command));
  if (outside.kind == EscapeOutcome::Kind::kAbsent) GTEST_SKIP() << outside.reason;
  EXPECT_EQ(outside.kind,
            attempt.outside_err == 0 ? EscapeOutcome::Kind::kDone : EscapeOutcome::Kind::kRefused)
      << "void: " << ToString(outside);
  EXPECT_EQ(ErrnoName(outside.err), ErrnoName(attempt.outside_err)) << ToString(outside);
  const bool has_grant = attempt.grant != kNever;
  const std::string with_grant = attempt.settings + (attempt.grant.empty() ? "" : ", ") + attempt.grant;
  for (const std::string& settings : {attempt.settings, has_grant ? with_grant : attempt.settings}) {
    SCOPED_TRACE(settings);
    World fresh;
    const EscapeOutcome inside = Inside(fresh, settings, false);
    EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kRefused) << "ESCAPED: " << ToString(inside);
    EXPECT_EQ(ErrnoName(inside.err), ErrnoName(attempt.err)) << ToString(inside);
    EXPECT_EQ(fresh.CountVisits().visitors, 0);
  }
  if (!has_grant) return;
  World granted;
  const EscapeOutcome gated = Inside(granted, with_grant, true);
  EXPECT_EQ(gated.kind, EscapeOutcome::Kind::kDone) << ToString(gated);
}
INSTANTIATE_TEST_SUITE_P(AsForTheKernel, SocketEscapeWithoutSockets, ::testing::ValuesIn(kForTheKernel),
                         NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(ByWhatever, SocketEscapeWithoutSockets, ::testing::ValuesIn(kWithoutSockets),
                         NameOfAttempt);

}  // namespace
}  // namespace spty
