// UNIX sockets of others where the keeper cannot be asked: inside another sandbox that uses notifications
// itself. From Landlock's ABI 9 on (Linux 7.1) the kernel decides.
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
    {"Abstract", {kUnix, "connect", "stream", "@{abstract}"}, EPERM, kNever},
    {"Ring", {kUnix, "ring-connect", "{shared}/stream"}, ENOSYS, kNever, kShared},
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

// The same place, but a socket of the session's own.
TEST_F(SocketEscapeWithoutGate, ItsOwnSocketsCanBeConnectedTo) {
  World world;
  const EscapeOutcome own = Inside(world, {kUnix, "own-connect", "{shared}/own"}, kShared);
  EXPECT_EQ(own.kind, EscapeOutcome::Kind::kDone) << ToString(own);
}

}  // namespace
}  // namespace spty
