// The terminal, keyrings, cgroups, privileges, the environment, and other tables of system calls.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "escape/harness.h"

namespace spty {
namespace {

constexpr char kMachine[] = "escape_machine";
constexpr char kConsole[] = R"("profile": "workspace", "additional_read_write_paths": ["/dev/tty0"])";
constexpr uid_t kNobody = 65534;

Attempt Killed(std::string name, const char* command) {
  Attempt attempt;
  attempt.name = std::move(name);
  attempt.command = {kMachine, command};
  attempt.grant = kNever;
  attempt.signal = SIGSYS;
  return attempt;
}

const Attempt kTable[] = {
    {"PushInput", {kMachine, "push-input", "plain"}, EPERM, kNever},
    {"PushInputHighHalf", {kMachine, "push-input", "high"}, EPERM, kNever},
    {"PushInputAfterSecondExec", {kMachine, "again", "push-input", "high"}, EPERM, kNever},
    // A terminal of ours is no console: outside, the driver says so.
    {"Console", {kMachine, "console", "plain"}, EPERM, kNever, kWorkspace, ENOTTY},
    {"ConsoleHighHalf", {kMachine, "console", "high"}, EPERM, kNever, kWorkspace, ENOTTY},
    // Granted as a file: still not for this.
    ForRoot({"GrantedConsole", {kMachine, "console", "plain", "/dev/tty0"}, EPERM, kNever, kConsole}),
    ForRoot({"GrantedConsoleHighHalf", {kMachine, "console", "high", "/dev/tty0"}, EPERM, kNever, kConsole}),
    {"LineDiscipline", {kMachine, "line-discipline"}, EPERM, kNever},
    {"Keyctl", {kMachine, "keyctl"}, EPERM, kNever},
    {"AddKey", {kMachine, "add-key"}, EPERM, kNever},
    {"RequestKey", {kMachine, "request-key"}, EPERM, kNever},
    {"JoinCgroup", {kMachine, "cgroup-join", "{cgroup}"}, EACCES, kNever},
    {"MakeCgroup", {kMachine, "cgroup-make", "{cgroup}"}, EACCES, kNever},
    // However wide the grant: writing there is not writing files.
    {"JoinGrantedCgroup",
     {kMachine, "cgroup-join", "{cgroup}"},
     EACCES,
     kNever,
     R"("profile": "workspace", "additional_read_write_paths": ["{cgroup}"])"},
    {"JoinCgroupWithEverythingWritable",
     {kMachine, "cgroup-join", "{cgroup}"},
     EACCES,
     kNever,
     R"("profile": "workspace", "allow_fs_write_all": true)"},
    ForRoot({"KernelSetting",
             {"escape_files", "open-both", "/proc/sys/kernel/hostname"},
             EACCES,
             kNever,
             R"("profile": "workspace", "allow_fs_write_all": true)"}),
    {"CloneIntoCgroup", {kMachine, "cgroup-clone", "{cgroup}"}, ENOSYS, kNever},
    {"CloneIntoCgroupFromDaemon", {kMachine, "daemon", "cgroup-clone", "{cgroup}"}, ENOSYS, kNever},
    {"MessageQueue", {kMachine, "message-queue", "{abstract}"}, ENOSYS, kNever},
    {"CoreFile", {kMachine, "core", "{private}"}, EACCES, R"("additional_read_write_paths": ["{private}"])"},
    Killed("EntryOfI386", "entry-i386"),
    Killed("EntryOfX32", "entry-x32"),
};

class MachineEscape : public Escape {
 protected:
  // As another user, who can gain something by a setuid program. Only root can be two users.
  static SpawnRequest AsNobody(SpawnRequest request) {
    if (geteuid() == 0) request.ids = SpawnRequest::Ids{kNobody, kNobody};
    return request;
  }
};

TEST_P(MachineEscape, IsRefused) { Try(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, MachineEscape, ::testing::ValuesIn(kTable), NameOfAttempt);

TEST_F(MachineEscape, ASetuidCopyOfOursGainsNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  World world;
  const std::string copy = world.scratch().Path("shared/copy");
  std::filesystem::copy_file(std::string(SPTY_PROBE_DIR) + "/" + kMachine + "_linux", copy);
  ASSERT_EQ(chmod(copy.c_str(), 04755), 0);
  const std::vector<std::string> command = {kMachine, "setuid", copy};
  const EscapeOutcome outside = Perform(AsNobody(RequestOutside(world, command)));
  if (outside.kind == EscapeOutcome::Kind::kRefused)
    GTEST_SKIP() << "needs a temporary directory without nosuid";
  ASSERT_EQ(outside.kind, EscapeOutcome::Kind::kDone) << ToString(outside);
  const EscapeOutcome inside = Perform(AsNobody(RequestInside(world, command, kShared)));
  EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kRefused) << ToString(inside);
}

TEST_F(MachineEscape, ASetuidProgramOfTheSystemGainsNothing) {
  World world;
  const std::vector<std::string> command = {kMachine, "system-setuid"};
  const EscapeOutcome outside = Perform(AsNobody(RequestOutside(world, command)));
  if (outside.kind == EscapeOutcome::Kind::kAbsent) GTEST_SKIP() << outside.reason;
  ASSERT_EQ(outside.kind, EscapeOutcome::Kind::kDone) << ToString(outside);
  const EscapeOutcome inside = Perform(AsNobody(RequestInside(world, command, kWorkspace)));
  EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kRefused) << ToString(inside);
}

TEST_F(MachineEscape, TheHostsEnvironmentStaysOutside) {
  for (const char* command : {"environment", "initial-environment"}) {
    World world;
    const std::vector<std::string> words = {kMachine, command, "SPTY_HOST_SECRET"};
    SpawnRequest outside = RequestOutside(world, words);
    outside.env.push_back(std::string("SPTY_HOST_SECRET=") + kSecret);
    EXPECT_EQ(Perform(outside).kind, EscapeOutcome::Kind::kDone) << command;

    const auto request = [&](const std::string& members) {
      PolicyInput input = world.scratch().Input(SettingsText(world, members));
      input.env = {{"PATH", "/usr/bin:/bin"}, {"SPTY_HOST_SECRET", kSecret}};
      SpawnRequest inside = RequestInside(world, words, members);
      inside.env = outside.env;
      inside.policy = world.scratch().Resolve(std::move(input));
      return inside;
    };
    const EscapeOutcome inside = Perform(request(kWorkspace));
    EXPECT_EQ(inside.kind, EscapeOutcome::Kind::kRefused) << command << ": " << ToString(inside);
    EXPECT_EQ(inside.output.find(kSecret), std::string::npos) << inside.output;
    const EscapeOutcome granted =
        Perform(request(std::string(kWorkspace) + R"(, "allowed_env_vars": ["PATH", "SPTY_HOST_*"])"));
    EXPECT_EQ(granted.kind, EscapeOutcome::Kind::kDone) << command << ": " << ToString(granted);
  }
}

// The keeper removes the session's temporary directory, and nobody confines the keeper. A session that may
// write beside it puts links in it, and then one in its place.
TEST_F(MachineEscape, TheKeeperRemovesNothingButTheTemporaryDirectory) {
  for (const bool replace : {false, true}) {
    World world;
    const std::string before = world.Picture();
    const std::string temp = world.scratch().Dir("temps/session");
    const std::string secret = world.private_dir();
    PolicyInput input = world.scratch().Input(SettingsText(
        world, std::string(kWorkspace) + R"(, "additional_read_write_paths": ["{root}/temps"])"));
    input.env = {{"PATH", "/usr/bin:/bin"}};
    input.temp_dir = temp;
    SpawnRequest request = ShellRequest(
        "cd " + temp + " && ln -s " + secret + " dir && ln -s " + secret +
        "/secret file && mkdir deep && ln -s / deep/root; cd /; " +
        (replace ? "mv " + temp + " " + temp + ".old && ln -s " + secret + " " + temp + " && echo replaced"
                 : std::string("echo linked")));
    request.policy = world.scratch().Resolve(std::move(input));
    request.cwd = world.scratch().project();
    request.temp_dir = temp;
    std::string output;
    {
      LiveSession session(request);
      ASSERT_TRUE(session.ok()) << Describe(session.error());
      session.ReadToEnd(&output);
    }
    EXPECT_NE(output.find(replace ? "replaced" : "linked"), std::string::npos) << "void: " << output;
    EXPECT_EQ(world.Picture(), before);
    EXPECT_EQ(std::filesystem::is_directory(temp), replace);  // through the link
  }
}

// A descriptor without close-on-exec under a certain number; what was there before comes back.
class Leak {
 public:
  Leak(const Fd& what, int number) : number_(number), before_(fcntl(number, F_DUPFD_CLOEXEC, 300)) {
    if (before_.valid()) flags_ = fcntl(number, F_GETFD);
    EXPECT_EQ(dup2(what.get(), number), number);
  }
  ~Leak() {
    if (before_.valid()) {
      EXPECT_EQ(dup3(before_.get(), number_, (flags_ & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0), number_);
    } else {
      Fd owned(number_);
    }
  }
  Leak(const Leak&) = delete;
  Leak& operator=(const Leak&) = delete;

 private:
  int number_;
  Fd before_;
  int flags_ = 0;
};

// What the host forgot to mark close-on-exec. The control is a plain exec: even a session without a policy
// gets only its terminal.
TEST_F(MachineEscape, DescriptorsOfTheHostStayOutside) {
  World world;
  for (int number : {20, 251}) {
    const Fd secret(open((world.private_dir() + "/secret").c_str(), O_RDONLY | O_CLOEXEC));
    const Leak leak(secret, number);
    const std::string text = std::to_string(number);
    const std::string probe = std::string(SPTY_PROBE_DIR) + "/escape_files_linux";
    const int control = system((probe + " read-fd " + text + " > /dev/null").c_str());
    EXPECT_EQ(control, 0) << "void: a plain child does not get it either";
    const std::vector<std::string> command = {"escape_files", "read-fd", text};
    for (const SpawnRequest& request :
         {RequestOutside(world, command), RequestInside(world, command, kWorkspace)}) {
      const EscapeOutcome outcome = Perform(request);
      EXPECT_EQ(outcome.kind, EscapeOutcome::Kind::kRefused) << ToString(outcome);
      EXPECT_EQ(outcome.err, EBADF);
    }
    // With the grant: the caller hands it over as the program's input.
    SpawnRequest granted = RequestInside(world, {"escape_files", "read-fd", "0"}, kWorkspace);
    // Opened anew: the other one has been read to its end.
    const Fd input(open((world.private_dir() + "/secret").c_str(), O_RDONLY | O_CLOEXEC));
    granted.stdio[0] = input.get();
    const EscapeOutcome read = Perform(granted);
    EXPECT_EQ(read.kind, EscapeOutcome::Kind::kDone) << ToString(read);
    EXPECT_NE(read.output.find(kSecret), std::string::npos) << read.output;
  }
}

}  // namespace
}  // namespace spty
