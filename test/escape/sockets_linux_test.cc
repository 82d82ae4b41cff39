// UNIX sockets of others: whoever serves there may do anything for a caller, and outside the session.
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "escape/harness.h"
#include "support/processes.h"

namespace spty {
namespace {

constexpr char kUnix[] = "escape_unix";
constexpr char kStream[] = R"("unix_sockets": ["{shared}/stream"])";
constexpr char kBus[] = R"("unix_sockets": ["{shared}/user/bus"])";
constexpr char kSeqpacket[] = R"("unix_sockets": ["{shared}/seqpacket"])";
constexpr char kHidden[] = R"("unix_sockets": ["{private}/stream"])";

// {shared} is granted for reading and writing, as /tmp and /run/user are in a terminal. That is not enough.
const Attempt kByName[] = {
    {"Stream", {kUnix, "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    {"UserBus", {kUnix, "connect", "stream", "{shared}/user/bus"}, EACCES, kBus, kShared},
    {"Seqpacket", {kUnix, "connect", "seqpacket", "{shared}/seqpacket"}, EACCES, kSeqpacket, kShared},
    {"Hidden", {kUnix, "connect", "stream", "{private}/stream"}, EACCES, kHidden},
    {"Relative", {kUnix, "chdir-connect", "{shared}", "stream"}, EACCES, kStream, kShared},
    {"DotDot", {kUnix, "connect", "stream", "../private/stream"}, EACCES, kHidden},
    // No setting allows datagrams: who gets one cannot be told beforehand.
    {"Datagram", {kUnix, "sendto", "dgram", "{shared}/dgram"}, EACCES, kNever, kShared},
    {"RawIsDatagram", {kUnix, "sendto", "raw", "{shared}/dgram"}, EACCES, kNever, kShared},
    {"EndOfAPair", {kUnix, "pair-sendto", "dgram", "{shared}/dgram"}, EACCES, kNever, kShared},
    {"Message", {kUnix, "send-message", "sendmsg", "dgram", "{shared}/dgram"}, EACCES, kNever, kShared},
    {"Messages", {kUnix, "send-message", "sendmmsg", "dgram", "{shared}/dgram"}, EACCES, kNever, kShared},
    {"MessageOfAPair",
     {kUnix, "pair-send-message", "sendmsg", "dgram", "{shared}/dgram"},
     EACCES,
     kNever,
     kShared},
    {"MessagesOfAPair",
     {kUnix, "pair-send-message", "sendmmsg", "dgram", "{shared}/dgram"},
     EACCES,
     kNever,
     kShared},
    {"ConnectOfAPair", {kUnix, "pair-connect", "dgram", "{shared}/dgram"}, EACCES, kNever, kShared},
    // Those are connected already. Inside, the gate looks at the address before the kernel looks at the
    // socket.
    {"ConnectOfAStreamPair",
     {kUnix, "pair-connect", "stream", "{shared}/stream"},
     EACCES,
     kNever,
     kShared,
     EISCONN},
    {"ConnectOfASeqpacketPair",
     {kUnix, "pair-connect", "seqpacket", "{shared}/seqpacket"},
     EACCES,
     kNever,
     kShared,
     EISCONN},
    {"AbstractSeqpacket", {kUnix, "connect", "seqpacket", "@{abstract}-seqpacket"}, EPERM, kNever},
    {"Abstract", {kUnix, "connect", "stream", "@{abstract}"}, EPERM, kNever},
    {"AbstractDatagram", {kUnix, "sendto", "dgram", "@{abstract}-dgram"}, EACCES, kNever},
    {"Ring", {kUnix, "ring-connect", "{shared}/stream"}, ENOSYS, kNever, kShared},
    {"Bind", {kUnix, "bind", "{private}/new"}, EACCES, R"("additional_read_write_paths": ["{private}"])"},
};

const Attempt kByAnotherName[] = {
    {"Symlink", {kUnix, "symlink-connect", "{shared}/stream", "{project}/other"}, EACCES, kStream, kShared},
    {"HardLink", {kUnix, "link-connect", "{shared}/stream", "{project}/other"}, EACCES, kStream, kShared},
    // Its bound name leads to a renamed one no more, and no setting allows sockets by another.
    {"Rename",
     {kUnix, "rename-connect", "{shared}/stream", "{project}/other", "{project}/other"},
     EACCES,
     kNever,
     kShared},
    {"RenamedDirectory",
     {kUnix, "rename-connect", "{shared}/user", "{project}/user", "{project}/user/bus"},
     EACCES,
     kNever,
     kShared},
    {"RenameWithLinkLeftBehind",
     {kUnix, "rename-link-connect", "{shared}/stream", "{project}/other"},
     EACCES,
     kNever,
     kShared},
    {"ProcSelfRoot", {kUnix, "connect", "stream", "/proc/self/root{shared}/stream"}, ELOOP, kNever, kShared},
    {"Chroot", {kUnix, "userns", "chroot-connect", "{shared}", "/stream"}, EACCES, kStream, kShared},
    // With another root than the keeper's a relative name is not resolved at all.
    {"RelativeInChroot",
     {kUnix, "userns", "chroot-chdir-connect", "{shared}", "stream"},
     EACCES,
     kNever,
     kShared},
    {"RelativeWithOwnMounts",
     {kUnix, "mountns", "chdir-connect", "{shared}", "stream"},
     EACCES,
     kNever,
     kShared},
    {"OwnMounts", {kUnix, "mountns", "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
};

// A server that runs commands for whoever connects: what it starts is not the session's child.
const Attempt kByWhom[] = {
    {"Command", {kUnix, "run", "{shared}/user/bus", "true"}, EACCES, kBus, kShared},
    {"Daemon", {kUnix, "daemon", "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    {"DaemonWithCommand", {kUnix, "daemon", "run", "{shared}/user/bus", "true"}, EACCES, kBus, kShared},
    {"Thread", {kUnix, "thread", "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    {"SecondExec", {kUnix, "again", "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    {"UserNamespace", {kUnix, "userns", "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    // There the caller has another number than in the keeper's eyes.
    {"PidNamespace", {kUnix, "pidns", "connect", "stream", "{shared}/stream"}, EACCES, kStream, kShared},
    {"CommandFromPidNamespace", {kUnix, "pidns", "run", "{shared}/user/bus", "true"}, EACCES, kBus, kShared},
    {"OwnAnswer", {kUnix, "own-answer-connect", "{shared}/stream"}, EBUSY, kNever, kShared},
    {"AbstractFromUserNamespace", {kUnix, "userns", "connect", "stream", "@{abstract}"}, EPERM, kNever},
};

class SocketEscape : public Escape {};
TEST_P(SocketEscape, IsRefused) { Try(GetParam()); }
INSTANTIATE_TEST_SUITE_P(ByName, SocketEscape, ::testing::ValuesIn(kByName), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(ByAnotherName, SocketEscape, ::testing::ValuesIn(kByAnotherName), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(ByWhom, SocketEscape, ::testing::ValuesIn(kByWhom), NameOfAttempt);

TEST_F(SocketEscape, ItsOwnSocketsCanBeConnectedToFromAPidNamespace) {
  World world;
  const std::vector<std::string> command = {kUnix, "pidns", "own-connect", "{shared}/own"};
  const EscapeOutcome own = Perform(RequestInside(world, command, kShared));
  if (own.kind == EscapeOutcome::Kind::kAbsent) GTEST_SKIP() << own.reason;
  EXPECT_EQ(own.kind, EscapeOutcome::Kind::kDone) << ToString(own);
}

// Before ABI 6 a session can kill its keeper. Then nobody answers for it, and it must not be able to answer
// for itself. Without a cgroup: by that the host would end the session at once.
TEST_F(SocketEscape, ADeadKeeperIsNoPermission) {
  constexpr int kBeforeScopes = 5;
  for (const bool confined : {false, true}) {
    SCOPED_TRACE(confined ? "inside" : "outside");
    World world;
    const std::string verdict = world.scratch().project() + "/verdict";
    const std::vector<std::string> command = {kUnix, "kill-keeper-connect", "{shared}/stream", verdict};
    SpawnRequest request = confined ? RequestInside(world, command, kShared) : RequestOutside(world, command);
    request.use_cgroup = false;
    request.feature_limits.landlock_abi = kBeforeScopes;
    {
      LiveSession session(request);
      ASSERT_TRUE(session.ok()) << Describe(session.error());
      session->Write("\n");
      session.ReadToEnd();
      ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(verdict); })) << "void: no verdict";
    }
    std::ostringstream text;
    text << std::ifstream(verdict).rdbuf();
    const std::string expected =
        confined ? "attempt: refused " + std::to_string(EBUSY) : std::string("attempt: ok");
    EXPECT_NE(text.str().find(expected), std::string::npos) << text.str();
    EXPECT_EQ(world.CountVisits().visitors > 0, !confined);
  }
}

}  // namespace
}  // namespace spty
