// openat2 and what is done without it: both must say the same.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/fd.h"
#include "policy/path_pin.h"
#include "policy/path_resolver.h"
#include "policy/scratch.h"
#include "settings/random_settings.h"
#include "support/in_child.h"
#include "uapi/openat2.h"

namespace spty {
namespace {

constexpr uint64_t kResolveBeneath = 0x08;

// From now on this process gets `err` from the system call.
bool Refuse(long number, int err) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(err)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {4, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

std::string Described(const Result<PathLookup>& found) {
  if (!found.ok()) return "error " + std::to_string(found.error().err);
  if (!found.value().pin) return "missing " + found.value().path;
  const PinnedPath& pin = *found.value().pin;
  return "pin " + found.value().path + " = " + pin.path + " " + std::to_string(pin.device) + ":" +
         std::to_string(pin.inode) + " " + std::to_string(static_cast<int>(pin.type));
}

// Skips, with the reason, where a container's filter or an old kernel leaves only the other way.
bool HasOpenat2() { return PinExactly("/").ok(); }
#define REQUIRE_OPENAT2() \
  if (!HasOpenat2()) GTEST_SKIP() << "no openat2 (Linux 5.6) here"

TEST(PathPinLinuxTest, ExactlyMeansWithoutLinksOnTheWay) {
  REQUIRE_OPENAT2();
  const Scratch scratch;
  scratch.File("dir/file");
  scratch.Link("link", "dir");
  scratch.Link("dir/dangling", "none");
  const Result<PinnedPath> pin = PinExactly(scratch.Path("dir/file"));
  ASSERT_TRUE(pin.ok());
  EXPECT_EQ(pin.value().path, scratch.Path("dir/file"));
  EXPECT_EQ(pin.value().type, FileType::kFile);
  EXPECT_EQ(fcntl(pin.value().fd.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(PinExactly(scratch.Path("dir/none/x")).error().err, ENOENT);
  EXPECT_EQ(PinExactly(scratch.Path("dir/file/x")).error().err, ENOTDIR);
  // "Missing" would be a statement about the place; these have to be asked about in the other way.
  for (const char* path : {"link", "link/file", "link/none", "dir/dangling", "dir/dangling/x"})
    EXPECT_FALSE(IsMissing(PinExactly(scratch.Path(path)).error())) << path;
}

TEST(PathPinLinuxTest, OnlyTextThatCanBeAPlaceIsTakenForOne) {
  const Scratch scratch;
  scratch.Dir("dir");
  for (const std::string tail : {"/dir/", "//dir", "/./dir", "/dir/.", "/dir/..", "/../x"})
    EXPECT_EQ(PinExactly(scratch.Path("") + tail).error().err, EINVAL) << tail;
  EXPECT_EQ(PinExactly(scratch.Path("dir") + std::string("\0x", 2)).error().err, EINVAL);
  EXPECT_EQ(PinExactly("").error().err, EINVAL);
  EXPECT_EQ(PinExactly("dir").error().err, EINVAL);
  // What is not plain is still answered, by the kernel's name for it.
  EXPECT_EQ(PinPath(scratch.Path("dir/../dir//.")).value().path, scratch.Path("dir"));
}

TEST(PathPinLinuxTest, NothingIsLookedForBelowADirectoryThatIsNotThere) {
  REQUIRE_OPENAT2();
  const Scratch scratch;
  const std::vector<EnvVar> env;
  PathResolver resolver(scratch.home(), scratch.project(), env);
  EXPECT_EQ(Described(resolver.LookUp(scratch.Home("d/a"))), "missing " + scratch.Home("d/a"));
  // One resolution, one picture of the disk; the next one sees it.
  scratch.File("home/me/d/b");
  scratch.File("home/me/d/e/f/g");
  EXPECT_EQ(Described(resolver.LookUp(scratch.Home("d/b"))), "missing " + scratch.Home("d/b"));
  EXPECT_EQ(Described(resolver.LookUp(scratch.Home("d/e/f/g"))), "missing " + scratch.Home("d/e/f/g"));
  EXPECT_TRUE(PathResolver(scratch.home(), scratch.project(), env).LookUp(scratch.Home("d/b")).value().pin);
  // A directory that was there stays open to look-ups.
  EXPECT_FALSE(resolver.LookUp(scratch.Home("none")).value().pin);
  scratch.File("home/me/later/deep/down");
  EXPECT_TRUE(resolver.LookUp(scratch.Home("later/deep/down")).value().pin);
}

// Whoever follows its links and its ".." may come anywhere; what plants it stays below its root.
class RandomTree {
 public:
  RandomTree(const Scratch& scratch, uint64_t seed)
      : top_(scratch.Dir("t")), root_(open(top_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), random_(seed) {
    for (int i = 0; i < 60; ++i) Plant();
  }

  std::string Path() {
    std::string path = top_;
    for (const std::string& name : Names()) path += "/" + name;
    return path;
  }

 private:
  std::string Name() {
    static constexpr const char* kNames[] = {"a", "b", "c", "d", "none", "..", "."};
    return kNames[random_.Below(random_.Chance(4) ? 7 : 5)];
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names(1 + random_.Below(5));
    for (std::string& name : names) name = Name();
    return names;
  }

  // Invalid where the way leads out of the tree, through an absolute link, or nowhere.
  Fd Below(const std::string& relative) const {
    const uapi::OpenHow how = {O_PATH | O_DIRECTORY | O_CLOEXEC, 0, kResolveBeneath};
    return Fd(static_cast<int>(syscall(uapi::kSysOpenat2, root_.get(), relative.c_str(), &how, sizeof how)));
  }

  void Plant() {
    const std::vector<std::string> names = Names();
    std::string way = ".";
    Fd parent = Below(way);
    for (size_t i = 0; i + 1 < names.size() && parent.valid(); ++i) {
      mkdirat(parent.get(), names[i].c_str(), 0755);
      way += "/" + names[i];
      parent = Below(way);
    }
    if (!parent.valid()) return;
    const char* const name = names.back().c_str();
    const unsigned what = random_.Below(6);
    if (what < 2) mkdirat(parent.get(), name, 0755);
    if (what == 2) Fd(openat(parent.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (what == 3) Link(Path(), parent, name);
    if (what > 3) Link(Name() + (what == 4 ? "" : "/" + Name()), parent, name);
  }
  static void Link(const std::string& target, const Fd& parent, const char* name) {
    // EEXIST is one of the answers that a random name gets.
    EXPECT_TRUE(symlinkat(target.c_str(), parent.get(), name) == 0 || errno == EEXIST) << name;
  }

  std::string top_;
  Fd root_;
  RandomSettings random_;
};

TEST(PathPinLinuxTest, SaysTheSameWithoutOpenat2For25Trees) {
  REQUIRE_OPENAT2();
  const uint64_t seed = TestSeed();
  std::printf("seed: SPTY_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  const std::vector<EnvVar> env;
  for (unsigned tree = 0; tree < 25; ++tree) {
    const Scratch scratch;
    RandomTree random(scratch, seed + tree);
    PathResolver shared(scratch.home(), "", env);
    std::vector<std::pair<std::string, std::string>> expected;
    for (int i = 0; i < 200; ++i) {
      const std::string path = random.Path();
      const std::string alone = Described(PathResolver(scratch.home(), "", env).LookUp(path));
      ASSERT_EQ(Described(shared.LookUp(path)), alone) << path << ", tree " << tree;
      expected.emplace_back(path, alone);
    }
    const std::string complaint = InChild([&]() -> std::string {
      CHILD_CHECK(Refuse(uapi::kSysOpenat2, ENOSYS));
      CHILD_CHECK(PinExactly("/").error().err == ENOSYS);
      PathResolver resolver(scratch.home(), "", env);
      for (const auto& [path, with] : expected) {
        const std::string without = Described(resolver.LookUp(path));
        if (without != with) return path + ": " + with + ", but without openat2 " + without;
      }
      return "";
    });
    ASSERT_EQ(complaint, "") << "tree " << tree;
  }
}

TEST(PathPinLinuxTest, WithoutProcWhatIsThereIsNotMissing) {
  const Scratch scratch;
  const std::string path = scratch.Link("link", "home/me");
  EXPECT_TRUE(PinPath(path).ok());
  const std::string complaint = InChild([&]() -> std::string {
#ifdef SYS_readlink
    CHILD_CHECK(Refuse(SYS_readlink, ENOENT));
#endif
    CHILD_CHECK(Refuse(SYS_readlinkat, ENOENT));
    const std::vector<EnvVar> env;
    CHILD_CHECK(PinPath(path).error().err == ENOTSUP);
    CHILD_CHECK(PathResolver(scratch.home(), "", env).LookUp(path).error().err == ENOTSUP);
    return "";
  });
  EXPECT_EQ(complaint, "");
}

TEST(PathPinLinuxTest, ARemovedNameIsNoPlaceEvenIfTheFileHasOthers) {
  const Scratch scratch;
  const std::string name = scratch.File("name");
  std::filesystem::create_hard_link(name, scratch.Path("other"));
  const Fd held(open(name.c_str(), O_PATH | O_CLOEXEC));
  ASSERT_TRUE(held.valid());
  const std::string through = "/proc/self/fd/" + std::to_string(held.get());
  EXPECT_EQ(PinPath(through).value().path, name);
  std::filesystem::remove(name);
  EXPECT_EQ(PinPath(through).error().err, ESTALE);
  // A file that is really called like this is one.
  scratch.Link("link", "real (deleted)");
  EXPECT_EQ(PinPath(scratch.Path("link")).error().err, ENOENT);
  scratch.File("real (deleted)");
  EXPECT_EQ(PinPath(scratch.Path("link")).value().path, scratch.Path("real (deleted)"));
}

}  // namespace
}  // namespace spty
