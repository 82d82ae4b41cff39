// Files beside the project: every way to them that we know.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "escape/harness.h"

namespace spty {
namespace {

constexpr char kRead[] = R"("additional_read_only_paths": ["{private}"])";
constexpr char kWrite[] = R"("additional_read_write_paths": ["{private}"])";
constexpr char kWriteShared[] = R"("additional_read_write_paths": ["{shared}"])";
constexpr char kTerminals[] = R"("nested_pty": "shared")";
constexpr char kFiles[] = "escape_files";

const Attempt kByPath[] = {
    {"Read", {kFiles, "read", "{private}/secret"}, EACCES, kRead},
    {"List", {kFiles, "list", "{private}"}, EACCES, kRead},
    {"Write", {kFiles, "write", "{private}/secret"}, EACCES, kWrite},
    {"ReadAndWrite", {kFiles, "open-both", "{private}/secret"}, EACCES, kWrite},
    {"OpenTruncating", {kFiles, "open-truncating", "{private}/secret"}, EACCES, kWrite},
    {"Truncate", {kFiles, "truncate", "{private}/secret"}, EACCES, kWrite},
    {"Create", {kFiles, "create", "{private}/new"}, EACCES, kWrite},
    {"MakeDirectory", {kFiles, "mkdir", "{private}/new"}, EACCES, kWrite},
    {"MakeFifo", {kFiles, "mkfifo", "{private}/new"}, EACCES, kWrite},
    {"MakeLink", {kFiles, "symlink", "/", "{private}/new"}, EACCES, kWrite},
    {"Unlink", {kFiles, "unlink", "{private}/secret"}, EACCES, kWrite},
    {"RemoveDirectory", {kFiles, "rmdir", "{private}/empty"}, EACCES, kWrite},
    {"RenameWithin", {kFiles, "rename", "{private}/secret", "{private}/moved"}, EACCES, kWrite},
    {"RenameInto", {kFiles, "rename", "{private}/secret", "{project}/moved"}, EACCES, kWrite},
    {"RenameOutOf", {kFiles, "rename", "{project}/own", "{private}/own"}, EACCES, kWrite},
    {"RenameDirectory", {kFiles, "rename", "{shared}/user", "{project}/moved"}, EACCES, kWriteShared},
    // The grant would be its parent, the home, which is never granted but around the credentials in it.
    {"RenameDirectoryOfHome", {kFiles, "rename", "{private}", "{project}/moved"}, EACCES, kNever},
    // No grant allows it: it takes no more than reading, and everybody who opens the file has to wait.
    {"Lease", {kFiles, "lease", "{project}/own"}, EACCES, kNever},
    {"Exchange", {kFiles, "exchange", "{project}/own", "{private}/secret"}, EACCES, kWrite},
    {"HardLink", {kFiles, "link-read", "{private}/secret", "{project}/linked"}, EXDEV, kWrite},
    {"HardLinkOfDescriptor", {kFiles, "link-fd-read", "{private}/secret", "{project}/linked"}, EXDEV, kWrite},
    {"HardLinkThroughProc",
     {kFiles, "link-proc-read", "{private}/secret", "{project}/linked"},
     EXDEV,
     kWrite},
    {"TemporaryFile", {kFiles, "tmpfile", "{private}"}, EACCES, kWrite},
    {"Fifo", {kFiles, "write", "{private}/fifo"}, EACCES, kWrite},
    {"Execute", {kFiles, "exec", "{private}/program"}, EACCES, kWrite},
};

const Attempt kByDetour[] = {
    {"Symlink", {kFiles, "read", "{project}/to-secret"}, EACCES, kRead},
    {"SymlinkedDirectory", {kFiles, "read", "{project}/to-private/secret"}, EACCES, kRead},
    {"RelativeSymlink", {kFiles, "read", "{project}/upwards"}, EACCES, kRead},
    {"OwnSymlink", {kFiles, "symlink-read", "{private}/secret", "{project}/mine"}, EACCES, kRead},
    {"WriteThroughSymlink", {kFiles, "write", "{project}/to-secret"}, EACCES, kWrite},
    {"DotDot", {kFiles, "read", "{project}/../private/secret"}, EACCES, kRead},
    {"RelativeDotDot", {kFiles, "read", "../private/secret"}, EACCES, kRead},
    {"WorkingDirectory", {kFiles, "chdir-read", "{private}", "secret"}, EACCES, kRead},
    {"DirectoryDescriptor", {kFiles, "directory-read", "{private}", "secret"}, EACCES, kRead},
    {"ReopenedDescriptor", {kFiles, "reopen", "{private}/secret"}, EACCES, kRead},
    {"ProcSelfRoot", {kFiles, "read", "/proc/self/root{private}/secret"}, EACCES, kRead},
    {"ProcSelfCwd", {kFiles, "read", "/proc/self/cwd/../private/secret"}, EACCES, kRead},
    ForRoot({"Handle", {kFiles, "handle", "{private}/secret", "{project}"}, EPERM, kNever}),
    {"BindMount", {kFiles, "bind", "{private}", "{project}/mount", "secret"}, EPERM, kNever},
    {"Chroot", {kFiles, "userns", "chroot", "{private}", "/secret"}, EACCES, kRead},
    {"Ring", {kFiles, "ring-read", "{private}/secret"}, ENOSYS, kNever},
    {"RingWrite", {kFiles, "ring-write", "{private}/secret"}, ENOSYS, kNever},
    {"Daemon", {kFiles, "daemon", "read", "{private}/secret"}, EACCES, kRead},
    {"Thread", {kFiles, "thread", "read", "{private}/secret"}, EACCES, kRead},
    {"UserNamespace", {kFiles, "userns", "read", "{private}/secret"}, EACCES, kRead},
    {"SecondExec", {kFiles, "again", "read", "{private}/secret"}, EACCES, kRead},
    {"DaemonInUserNamespaceAfterExec",
     {kFiles, "daemon", "userns", "again", "read", "{private}/secret"},
     EACCES,
     kRead},
    {"ProgramInMemory", {kFiles, "memory", "read", "{private}/secret"}, EACCES, kRead},
};

// With the same user's processes outside. What the kernel shows of them to everybody (status, arguments) is
// not promised to be hidden.
const Attempt kThroughOutsiders[] = {
    {"Root", {kFiles, "read", "/proc/{outsider}/root{private}/secret"}, EACCES, kNever},
    {"WorkingDirectory", {kFiles, "read", "/proc/{outsider}/cwd/secret"}, EACCES, kNever},
    {"Descriptor", {kFiles, "read", "/proc/{outsider}/fd/9"}, EACCES, kNever},
    {"Environment", {kFiles, "read", "/proc/{outsider}/environ"}, EACCES, kNever},
    {"Memory", {kFiles, "open-both", "/proc/{outsider}/mem"}, EACCES, kNever},
    {"Maps", {kFiles, "read", "/proc/{outsider}/maps"}, EACCES, kNever},
    {"LinkOfProgram", {kFiles, "readlink", "/proc/{outsider}/exe"}, EACCES, kNever},
    {"LinkOfDescriptor", {kFiles, "readlink", "/proc/{outsider}/fd/9"}, EACCES, kNever},
    {"OomScore", {kFiles, "write", "/proc/{outsider}/oom_score_adj", "1000"}, EACCES, kNever},
    {"HostEnvironment", {kFiles, "read", "/proc/{host}/environ"}, EACCES, kNever},
    {"HostMemory", {kFiles, "open-both", "/proc/{host}/mem"}, EACCES, kNever},
    {"HostRoot", {kFiles, "read", "/proc/{host}/root{private}/secret"}, EACCES, kNever},
    {"KeeperEnvironment", {kFiles, "read", "/proc/{keeper}/environ"}, EACCES, kNever},
    {"KeeperMemory", {kFiles, "open-both", "/proc/{keeper}/mem"}, EACCES, kNever},
    {"KeeperRoot", {kFiles, "read", "/proc/{keeper}/root{private}/secret"}, EACCES, kNever},
    {"KeeperDescriptor", {kFiles, "readlink", "/proc/{keeper}/fd/3"}, EACCES, kNever},
    // The gate's listener is one of them.
    {"KeeperDescriptors", {kFiles, "open-descriptors", "{keeper}"}, EACCES, kNever},
    {"Arguments", {kFiles, "read", "/proc/{outsider}/cmdline"}, 0, kNotPromised},
};

const Attempt kTerminalsOfOthers[] = {
    {"Write", {kFiles, "write", "{pts}"}, EACCES, kTerminals},
    {"ReadAndWrite", {kFiles, "open-both", "{pts}"}, EACCES, kTerminals},
    {"List", {kFiles, "list", "/dev/pts"}, EACCES, kTerminals},
    {"NewOne", {kFiles, "open-both", "/dev/ptmx"}, EACCES, kTerminals},
};

// Metadata, execution of what can be read, and memory with a name: documented as not promised.
const Attempt kKnownLimits[] = {
    {"Stat", {kFiles, "stat", "{private}/secret"}, 0, kNotPromised},
    {"Chmod", {kFiles, "chmod", "{private}/secret"}, 0, kNotPromised},
    {"Utimes", {kFiles, "utimes", "{private}/secret"}, 0, kNotPromised},
    {"WatchNames", {kFiles, "watch", "{private}"}, 0, kNotPromised},
    {"SharedMemoryFile", {kFiles, "read", "/dev/shm/{abstract}"}, 0, kNotPromised},
    {"Keys", {kFiles, "read", "/proc/keys"}, 0, kNotPromised},
    {"ExecuteFromMemory", {kFiles, "memory", "nothing"}, 0, kNotPromised},
};

class FileEscape : public Escape {};
TEST_P(FileEscape, IsRefused) { Try(GetParam()); }
INSTANTIATE_TEST_SUITE_P(ByPath, FileEscape, ::testing::ValuesIn(kByPath), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(ByDetour, FileEscape, ::testing::ValuesIn(kByDetour), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(ThroughOutsiders, FileEscape, ::testing::ValuesIn(kThroughOutsiders), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(Terminals, FileEscape, ::testing::ValuesIn(kTerminalsOfOthers), NameOfAttempt);
INSTANTIATE_TEST_SUITE_P(KnownLimits, FileEscape, ::testing::ValuesIn(kKnownLimits), NameOfAttempt);

}  // namespace
}  // namespace spty
