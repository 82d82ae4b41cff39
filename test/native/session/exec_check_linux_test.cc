// What is said to run beforehand does run, and whatever is doubtful is left to be seen.
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "policy/scratch.h"
#include "session/exec_check.h"
#include "session/path_search.h"
#include "support/cached_lookup_linux.h"
#include "support/in_child.h"
#include "uapi/faccessat2.h"
#include "uapi/openat2.h"

namespace spty {
namespace {

namespace fs = std::filesystem;

SpawnRequest RequestFor(const std::string& file) {
  SpawnRequest request;
  request.file = file;
  request.cwd = "/";
  return request;
}

// A link that was followed no later than it was made has to be marked as followed the next time, which takes
// more than a lookup. Once it is older, that is once a day.
void LetItBeOlder(const std::string& link) {
  const timespec times[] = {{time(nullptr) + 60, 0}, {0, UTIME_OMIT}};
  EXPECT_EQ(utimensat(AT_FDCWD, link.c_str(), times, AT_SYMLINK_NOFOLLOW), 0) << link;
}

bool Sure(const SpawnRequest& request, const std::vector<std::string>& args = {"x"},
          const std::vector<std::string>& env = {"PATH=/usr/bin:/bin"}) {
  // So that the kernel knows them by heart, as after any start before.
  const std::vector<std::string> candidates = ProgramCandidates(request.file, env);
  struct stat ignored {};
  for (const std::string& path : candidates) {
    if (path.starts_with(fs::temp_directory_path().string()) && fs::is_symlink(path)) LetItBeOlder(path);
    (void)stat(path.c_str(), &ignored);
  }
  (void)stat(request.cwd.c_str(), &ignored);
  // Whoever mounts or renames something meanwhile may keep it from telling; that must not make it say yes,
  // either.
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    if (WillExecute(request, candidates, args, env)) return true;
  }
  return false;
}

bool SureOf(const std::string& file) { return Sure(RequestFor(file)); }

// A native program that needs no loader and ends at once.
std::string CopyOf(const Scratch& scratch, const std::string& name,
                   const std::string& original = "/bin/true") {
  const std::string path = scratch.Path(name);
  fs::create_directories(fs::path(path).parent_path());
  fs::copy_file(original, path, fs::copy_options::overwrite_existing);
  fs::permissions(path, fs::perms(0755));
  return path;
}

void Overwrite(const std::string& path, size_t at, const void* bytes, size_t size) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(pwrite(file.get(), bytes, size, static_cast<off_t>(at)), static_cast<ssize_t>(size));
}

// Whether the kernel executes it: under a tracer, so that it stops before its first instruction.
bool Executes(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    char* argv[] = {const_cast<char*>("x"), nullptr};
    char* env[] = {nullptr};
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) execve(path.c_str(), argv, env);
    _exit(1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (!WIFSTOPPED(status)) return false;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return true;
}

class WillExecuteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasCachedLookups()) GTEST_SKIP() << "needs Linux 5.12";
  }
};

TEST_F(WillExecuteTest, APlainProgramByPathAndByName) {
  EXPECT_TRUE(SureOf("/bin/true"));
  EXPECT_TRUE(SureOf("true"));
  SpawnRequest request = RequestFor("true");
  EXPECT_TRUE(Sure(request, {"true"}, {"PATH=/nowhere:/usr/bin"}));
  EXPECT_FALSE(Sure(request, {"true"}, {"PATH=/nowhere"}));
}

// Each beside what would be sure.
TEST_F(WillExecuteTest, NotWhatTheKernelMayRefuse) {
  Scratch scratch;
  const std::string program = CopyOf(scratch, "program");
  ASSERT_TRUE(SureOf(program));
  EXPECT_FALSE(SureOf(scratch.Path("missing")));
  EXPECT_FALSE(SureOf(scratch.home()));
  EXPECT_FALSE(SureOf("/dev/null"));
  EXPECT_FALSE(SureOf("program"));
  EXPECT_FALSE(SureOf(scratch.File("text", "hello")));
  const std::string script = scratch.File("script", "#!/bin/sh\n");
  fs::permissions(script, fs::perms(0755));
  EXPECT_FALSE(SureOf(script));
  const std::string fifo = scratch.Path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0755), 0);
  EXPECT_FALSE(SureOf(fifo));
  fs::permissions(program, fs::perms(0644));
  EXPECT_FALSE(SureOf(program));
}

TEST_F(WillExecuteTest, NotWhatIsForAnotherMachineOrDamaged) {
  Scratch scratch;
  const std::string program = CopyOf(scratch, "program");
  const Elf64_Half machine = EM_S390;
  const Elf64_Half type = ET_CORE;
  const unsigned char wide = ELFCLASS32;
  const Elf64_Off far = 1 << 30;
  const char mark[] = {'A', 'I', 2};  // AppImages, which somebody may be registered for
  const struct {
    size_t at;
    const void* bytes;
    size_t size;
  } changes[] = {{offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine},
                 {offsetof(Elf64_Ehdr, e_type), &type, sizeof type},
                 {EI_CLASS, &wide, sizeof wide},
                 {EI_ABIVERSION, mark, sizeof mark},
                 {offsetof(Elf64_Ehdr, e_phoff), &far, sizeof far},
                 {0, "XELF", 4}};
  for (const auto& change : changes) {
    const std::string changed = CopyOf(scratch, "changed");
    ASSERT_TRUE(SureOf(changed));
    Overwrite(changed, change.at, change.bytes, change.size);
    EXPECT_FALSE(SureOf(changed)) << change.at;
  }
  for (const off_t size : {off_t{0}, off_t{20}, off_t{64}, off_t{200}}) {
    const std::string cut = CopyOf(scratch, "cut");
    ASSERT_EQ(truncate(cut.c_str(), size), 0);
    EXPECT_FALSE(SureOf(cut)) << size;
  }
}

// Where in the file the loader's name is.
size_t LoaderAt(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Elf64_Ehdr header;
  EXPECT_EQ(pread(file.get(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const auto at = static_cast<off_t>(header.e_phoff + i * sizeof part);
    EXPECT_EQ(pread(file.get(), &part, sizeof part, at), static_cast<ssize_t>(sizeof part));
    if (part.p_type == PT_INTERP) return part.p_offset;
  }
  return 0;
}

TEST_F(WillExecuteTest, NotWithoutTheLoader) {
  Scratch scratch;
  const std::string program = CopyOf(scratch, "program");
  const size_t at = LoaderAt(program);
  if (at == 0) GTEST_SKIP() << "/bin/true needs no loader here";
  ASSERT_TRUE(SureOf(program));
  ASSERT_TRUE(Executes(program));
  Overwrite(program, at, "/no", 3);
  EXPECT_FALSE(Executes(program));
  EXPECT_FALSE(SureOf(program));
}

// Where there is one, it is loaded by nobody itself.
TEST_F(WillExecuteTest, NotWithALoaderThatIsNone) {
  Scratch scratch;
  const std::string program = CopyOf(scratch, "program");
  const size_t at = LoaderAt(program);
  if (at == 0) GTEST_SKIP() << "/bin/true needs no loader here";
  // A name of the same length or shorter, for what is a copy of the true one, and what is a script.
  const std::string short_name = "/tmp/l" + std::to_string(getpid() % 1000);
  const std::string loader = scratch.File("script", "#!/bin/sh\n");
  fs::permissions(loader, fs::perms(0755));
  std::string old(64, '\0');
  {
    const Fd file(open(program.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_GT(pread(file.get(), old.data(), old.size() - 1, static_cast<off_t>(at)), 0);
  }
  old = old.c_str();
  for (const bool native : {true, false}) {
    fs::create_symlink(native ? old : loader, short_name);
    LetItBeOlder(short_name);
    Overwrite(program, at, short_name.c_str(), short_name.size() + 1);
    EXPECT_EQ(Executes(program), native);
    EXPECT_EQ(SureOf(program), native);
    fs::remove(short_name);
  }
}

// It does not keep the host waiting: whoever has it is told, and may take his time.
TEST_F(WillExecuteTest, NotWhileItIsLeased) {
  Scratch scratch;
  const std::string program = CopyOf(scratch, "program");
  ASSERT_TRUE(SureOf(program));
  const Fd holder(open(program.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(signal(SIGIO, SIG_IGN), SIG_DFL);
  ASSERT_EQ(fcntl(holder.get(), F_SETLEASE, F_WRLCK), 0);
  EXPECT_FALSE(SureOf(program));
  ASSERT_EQ(fcntl(holder.get(), F_SETLEASE, F_UNLCK), 0);
  signal(SIGIO, SIG_DFL);
}

// It gives what a session cannot have.
TEST_F(WillExecuteTest, NotWithCapabilitiesOfItsOwn) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Scratch scratch;
  const std::string program = CopyOf(scratch, "program");
  ASSERT_TRUE(SureOf(program));
  // struct vfs_cap_data, version 2: cap_net_raw, permitted and effective.
  const uint32_t net_raw[5] = {0x02000001, 1U << 13, 0, 0, 0};
  ASSERT_EQ(setxattr(program.c_str(), "security.capability", net_raw, sizeof net_raw, 0), 0);
  EXPECT_FALSE(SureOf(program));
}

// Names that lead somewhere else for each process, and file systems that belong to somebody else.
TEST_F(WillExecuteTest, NotThroughProc) {
  Scratch scratch;
  const std::string program = CopyOf(scratch, "program");
  const Fd fd(open(program.c_str(), O_PATH | O_CLOEXEC));
  const std::string name = "/proc/self/fd/" + std::to_string(fd.get());
  ASSERT_TRUE(SureOf(program));
  EXPECT_FALSE(SureOf(name));
  EXPECT_FALSE(SureOf("/proc/self/exe"));
  EXPECT_FALSE(SureOf(scratch.Link("link", name)));
  EXPECT_TRUE(SureOf(scratch.Link("plain", program)));
  SpawnRequest request = RequestFor("/bin/true");
  request.cwd = "/proc/self/cwd";
  EXPECT_FALSE(Sure(request));
  request.cwd = "/proc";
  EXPECT_FALSE(Sure(request));
}

// Answers `call` with an error from now on.
bool Refuse(int call, int err) {
  const sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(err)),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{std::size(code), const_cast<sock_filter*>(code)};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Older kernels, and containers that do not let us ask.
TEST_F(WillExecuteTest, NotIfTheKernelCannotBeAsked) {
  for (const long call : {uapi::kSysOpenat2, uapi::kSysFaccessat2}) {
    for (const int err : {EINVAL, EPERM, ENOSYS}) {
      const std::string complaint = InChild([&]() -> std::string {
        CHILD_CHECK(SureOf("/bin/true"));
        CHILD_CHECK(Refuse(static_cast<int>(call), err));
        CHILD_CHECK(!SureOf("/bin/true") && Executes("/bin/true"));
        return "";
      });
      EXPECT_EQ(complaint, "") << call << " " << err;
    }
  }
}

// Nobody but the session's own process enters the kernel's exec, not even to ask: see MayExecuteOrSearch.
TEST_F(WillExecuteTest, WithoutExec) {
  for (const int call : {SYS_execve, SYS_execveat}) {
    const std::string complaint = InChild([&]() -> std::string {
      CHILD_CHECK(Refuse(call, EPERM));
      CHILD_CHECK(SureOf("/bin/true"));
      return "";
    });
    EXPECT_EQ(complaint, "") << call;
  }
}

// A disk, and all the more a server or a process that does not answer, is not waited for.
TEST_F(WillExecuteTest, NotWhatTheKernelHasToLookUp) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Scratch scratch;
  CopyOf(scratch, "lower/program");
  const std::string options = "lowerdir=" + scratch.Path("lower") + ":" + scratch.Dir("other");
  const std::string place = scratch.Dir("place");
  const std::string program = place + "/program";
  const std::string complaint = InChild([&]() -> std::string {
    CHILD_CHECK(unshare(CLONE_NEWNS) == 0);
    CHILD_CHECK(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
    CHILD_CHECK(mount("none", place.c_str(), "overlay", 0, options.c_str()) == 0);
    const SpawnRequest request = RequestFor(program);
    CHILD_CHECK(!WillExecute(request, {program}, {"x"}, {}));
    CHILD_CHECK(access(program.c_str(), X_OK) == 0);
    CHILD_CHECK(WillExecute(request, {program}, {"x"}, {}));
    return "";
  });
  EXPECT_EQ(complaint, "");
}

TEST_F(WillExecuteTest, NotWithADirectoryThatCannotBeEntered) {
  Scratch scratch;
  SpawnRequest request = RequestFor("/bin/true");
  request.cwd = scratch.Dir("here");
  EXPECT_TRUE(Sure(request));
  request.cwd = scratch.Path("missing");
  EXPECT_FALSE(Sure(request));
  request.cwd = scratch.File("file");
  EXPECT_FALSE(Sure(request));
  if (geteuid() == 0) return;
  request.cwd = scratch.Dir("closed");
  fs::permissions(request.cwd, fs::perms(0600));
  EXPECT_FALSE(Sure(request));
}

TEST_F(WillExecuteTest, NotAsAnotherUserNorWithMoreThanAlwaysFits) {
  SpawnRequest request = RequestFor("/bin/true");
  EXPECT_TRUE(Sure(request));
  EXPECT_FALSE(Sure(request, {"x", std::string(200'000, 'a')}));
  EXPECT_FALSE(Sure(request, std::vector<std::string>(20'000, "a")));
  EXPECT_FALSE(Sure(request, {"x"}, {"PATH=/usr/bin:/bin", "A=" + std::string(200'000, 'a')}));
  request.ids = SpawnRequest::Ids{getuid(), getgid()};
  EXPECT_FALSE(Sure(request));
}

// execvp(3) remembers what it may not execute, and goes on.
TEST_F(WillExecuteTest, NotIfAnEarlierPlaceHasSomethingOfThatName) {
  Scratch scratch;
  const std::string before = scratch.Dir("before");
  const std::vector<std::string> env = {"PATH=" + before + ":/usr/bin:/bin"};
  EXPECT_TRUE(Sure(RequestFor("true"), {"true"}, env));
  scratch.File("before/true", "");
  EXPECT_FALSE(Sure(RequestFor("true"), {"true"}, env));
  EXPECT_FALSE(Sure(RequestFor("true"), {"true"}, {"PATH=:/usr/bin:/bin"}));
}

class UnderAPolicy : public WillExecuteTest {
 protected:
  bool SureWith(const std::string& file, const std::string& settings) {
    SpawnRequest request = RequestFor(file);
    PolicyInput input = scratch_.Input(settings);
    input.is_root = geteuid() == 0;
    request.policy = scratch_.Resolve(std::move(input));
    return Sure(request);
  }
  std::string With(const std::string& list, const std::string& path) const {
    return R"({"enabled": true, ")" + list + R"(": [")" + path + R"("]})";
  }

  Scratch scratch_;
};

TEST_F(UnderAPolicy, TheProgramHasToBeGranted) {
  // Everybody may search what is above it: this is about the policy.
  const std::string program = CopyOf(scratch_, "elsewhere/program");
  fs::permissions(scratch_.Path(""), fs::perms(0755));
  EXPECT_TRUE(SureWith("/bin/true", R"({"enabled": true})"));
  EXPECT_FALSE(SureWith(program, R"({"enabled": true})"));
  EXPECT_FALSE(SureWith(program, With("additional_read_only_paths", scratch_.Path("elsewhere"))));
  EXPECT_TRUE(SureWith(program, With("additional_executable_paths", scratch_.Path("elsewhere"))));
  // A link in a granted place leads no further than the grant.
  const std::string link = scratch_.Link("home/me/project/link", program);
  EXPECT_FALSE(SureWith(link, R"({"enabled": true})"));
  EXPECT_TRUE(SureWith(link, With("additional_executable_paths", scratch_.Path("elsewhere"))));
  EXPECT_TRUE(SureOf(link));
}

TEST_F(UnderAPolicy, SoHasTheLoader) {
  const std::string program = CopyOf(scratch_, "home/me/project/program");
  fs::permissions(scratch_.Path(""), fs::perms(0755));
  if (LoaderAt(program) == 0) GTEST_SKIP() << "/bin/true needs no loader here";
  EXPECT_TRUE(SureWith(program, R"({"enabled": true})"));
  EXPECT_FALSE(
      SureWith(program, R"({"enabled": true, "system_paths": {"executable": [], "read_only": []}})"));
}

// A confined session of root has none of root's capabilities: what counts is what an owner may, and of what
// is somebody else's an access list may say anything.
TEST_F(UnderAPolicy, RootCountsOnWhatItOwns) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string program = CopyOf(scratch_, "home/me/project/program");
  const char* settings = R"({"enabled": true})";
  EXPECT_TRUE(SureWith(program, settings));
  for (const std::string& path : {program, scratch_.project()}) {
    fs::permissions(path, fs::perms(0700));
    EXPECT_TRUE(SureWith(program, settings)) << path;
    fs::permissions(path, fs::perms(0077));
    EXPECT_FALSE(SureWith(program, settings)) << path;
    fs::permissions(path, fs::perms(0755));
    ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(SureWith(program, settings)) << path;
    EXPECT_TRUE(SureOf(program)) << path;
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
    EXPECT_TRUE(SureWith(program, settings)) << path;
  }
}

TEST_F(WillExecuteTest, NotFromAFileSystemThatExecutesNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Scratch scratch;
  const std::string place = scratch.Dir("place");
  const std::string complaint = InChild([&]() -> std::string {
    CHILD_CHECK(unshare(CLONE_NEWNS) == 0);
    CHILD_CHECK(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
    for (const bool executes : {true, false}) {
      CHILD_CHECK(mount("none", place.c_str(), "tmpfs", executes ? 0 : MS_NOEXEC, nullptr) == 0);
      const std::string program = CopyOf(scratch, "place/program");
      CHILD_CHECK(SureOf(program) == executes);
      CHILD_CHECK(Executes(program) == executes);
    }
    return "";
  });
  EXPECT_EQ(complaint, "");
}

// What is not listed is not granted.
TEST_F(UnderAPolicy, NotBesideWhatIsProtected) {
  const std::string program = CopyOf(scratch_, "opt/program");
  fs::permissions(scratch_.Path(""), fs::perms(0755));
  const std::string opt = scratch_.Path("opt");
  const std::string granted = R"({"enabled": true, "additional_executable_paths": [")" + opt + R"("])";
  EXPECT_TRUE(SureWith(program, granted + "}"));
  EXPECT_FALSE(SureWith(program, granted + R"(, "denied_read_paths": [")" + opt + R"(/blind/key"]})"));
}

// Everything that is here to be executed, and all else that lies beside it.
TEST_F(WillExecuteTest, IsNeverWrong) {
  size_t sure = 0;
  size_t doubtful = 0;
  for (const char* place : {"/usr/bin", "/usr/sbin", "/etc"}) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored)) {
      const std::string path = entry.path().string();
      if (!SureOf(path)) {
        ++doubtful;
        continue;
      }
      ++sure;
      EXPECT_TRUE(Executes(path)) << path;
    }
  }
  EXPECT_GT(sure, 20U);
  EXPECT_GT(doubtful, 20U);
}

}  // namespace
}  // namespace spty
