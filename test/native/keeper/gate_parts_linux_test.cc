// The gate's parts by themselves.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "keeper/gate_harness_linux.h"
#include "keeper/gate_place_linux.h"
#include "keeper/gate_requests_linux.h"
#include "keeper/gate_sockets_linux.h"
#include "keeper/gate_text_linux.h"
#include "keeper/gate_unix_linux.h"
#include "keeper/unix_diag_linux.h"
#include "support/in_child.h"
#include "support/temp_dir.h"
#include "uapi/openat2.h"
#include "uapi/process_files.h"
#include "uapi/seccomp_notify.h"
#include "uapi/unix_diag.h"

namespace spty {
namespace {

TEST(GateUapi, NumbersAreTheKernels) {
  EXPECT_EQ(uapi::kSeccompNotifRecv, SECCOMP_IOCTL_NOTIF_RECV);
  EXPECT_EQ(uapi::kSeccompNotifSend, SECCOMP_IOCTL_NOTIF_SEND);
  EXPECT_EQ(uapi::kSeccompNotifIdValid, SECCOMP_IOCTL_NOTIF_ID_VALID);
  EXPECT_EQ(uapi::kSeccompNotifIdValidWrongDirection, SECCOMP_IOR(2, __u64));
  EXPECT_EQ(uapi::kSeccompGetNotifSizes, unsigned{SECCOMP_GET_NOTIF_SIZES});
  EXPECT_EQ(sizeof(uapi::SeccompNotif), sizeof(seccomp_notif));
  EXPECT_EQ(sizeof(uapi::SeccompNotifResp), sizeof(seccomp_notif_resp));
  EXPECT_EQ(sizeof(uapi::SeccompNotifSizes), sizeof(seccomp_notif_sizes));
  EXPECT_EQ(uapi::kNetlinkSockDiag, NETLINK_SOCK_DIAG);
  EXPECT_EQ(uapi::kSockDiagByFamily, SOCK_DIAG_BY_FAMILY);
  EXPECT_EQ(uapi::kNetlinkDump, NLM_F_DUMP);
  EXPECT_EQ(uapi::kNetlinkRequest, NLM_F_REQUEST);
  EXPECT_EQ(uapi::kNetlinkDone, NLMSG_DONE);
  EXPECT_EQ(uapi::kNetlinkError, NLMSG_ERROR);
  EXPECT_EQ(sizeof(uapi::UnixDiagRequest), sizeof(unix_diag_req));
  EXPECT_EQ(sizeof(uapi::UnixDiagMessage), sizeof(unix_diag_msg));
  EXPECT_EQ(uapi::kUnixDiagShowName, unsigned{UDIAG_SHOW_NAME});
  EXPECT_EQ(uapi::kUnixDiagShowVfs, unsigned{UDIAG_SHOW_VFS});
  EXPECT_EQ(uapi::kUnixDiagName, UNIX_DIAG_NAME);
  EXPECT_EQ(uapi::kUnixDiagVfs, UNIX_DIAG_VFS);
  EXPECT_EQ(uapi::kSysPidfdOpen, SYS_pidfd_open);
  EXPECT_EQ(uapi::kSysOpenat2, SYS_openat2);
  EXPECT_EQ(uapi::kSysPidfdGetfd, SYS_pidfd_getfd);
  EXPECT_EQ(uapi::kPidfdThread, unsigned{O_EXCL});
  EXPECT_EQ(uapi::kResolveNoMagiclinks, uint64_t{RESOLVE_NO_MAGICLINKS});
  EXPECT_EQ(uapi::kResolveInRoot, uint64_t{RESOLVE_IN_ROOT});
  EXPECT_EQ(sizeof(uapi::OpenHow), sizeof(open_how));
}

TEST(ShortPath, PutsANumberBetween) {
  EXPECT_STREQ(ShortPath("/proc/", 0, "").text(), "/proc/0");
  EXPECT_STREQ(ShortPath("/proc/", 4294967295, "/cwd").text(), "/proc/4294967295/cwd");
  EXPECT_EQ(ShortPath("a", 18446744073709551615U, "b").size(), 22U);
}

TEST(IsAtOrBelow, ComparesWholeComponents) {
  EXPECT_TRUE(IsAtOrBelow("/a/b", "/a", false));
  EXPECT_TRUE(IsAtOrBelow("/a", "/", false));
  EXPECT_TRUE(IsAtOrBelow("/a/b", "/a/", false));
  EXPECT_FALSE(IsAtOrBelow("/ab", "/a", false));
  EXPECT_FALSE(IsAtOrBelow("/a", "/a", false));
  EXPECT_TRUE(IsAtOrBelow("/a", "/a", true));
  EXPECT_FALSE(IsAtOrBelow("/", "/a", true));
  EXPECT_FALSE(IsAtOrBelow("/a", "", true));
}

// In a child: the set cannot be emptied, and the keepers of later tests would inherit it.
TEST(GateOwnSockets, RemembersManyAndNoOthers) {
  EXPECT_EQ(InChild([]() -> std::string {
              constexpr uint64_t kMany = 50'000;
              CHILD_CHECK(!IsOwnSocket(2, 7, 2));
              for (uint64_t i = 1; i <= kMany; ++i) CHILD_CHECK(AddOwnSocket(i * 2, 7, i) == 0);
              for (uint64_t i = 1; i <= kMany; ++i) {
                CHILD_CHECK(IsOwnSocket(i * 2, 7, i) && !IsOwnSocket(i * 2 - 1, 7, i));
              }
              CHILD_CHECK(!IsOwnSocket(0, 0, 0) && AddOwnSocket(0, 0, 0) == EINVAL);
              return "";
            }),
            "");
}

TEST(GateOwnSockets, KnowsSocketsWithTheirFilesOnly) {
  EXPECT_EQ(InChild([]() -> std::string {
              CHILD_CHECK(AddOwnSocket(1, 2, 3) == 0);
              CHILD_CHECK(IsOwnSocket(1, 2, 3));
              CHILD_CHECK(!IsOwnSocket(1, 3, 2) && !IsOwnSocket(2, 1, 3) && !IsOwnSocket(1, 2, 4));
              // The same in the lower 32 bits, which is all that unix_diag says.
              CHILD_CHECK(!IsOwnSocket(1, 2, 3 | uint64_t{1} << 32));
              return "";
            }),
            "");
}

TEST(GateOwnSockets, HasALimit) {
  EXPECT_EQ(InChild([]() -> std::string {
              int err = 0;
              uint64_t next = 1U << 30;
              for (uint32_t i = 0; i < 2 * kMaxOwnSockets && err == 0; ++i) err = AddOwnSocket(next++, 1, 1);
              CHILD_CHECK(err == ENOBUFS);
              CHILD_CHECK(IsOwnSocket(1U << 30, 1, 1) && !IsOwnSocket(next, 1, 1));
              return "";
            }),
            "");
}

// A socket that is bound at `path`, and what listen(2) of a session would make the gate remember.
struct Bound {
  Fd socket;
  uint64_t cookie = 0;
  UnixTarget name;

  explicit Bound(const std::string& path) : socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, path.data(), path.size());
    if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == -1) socket.Reset();
    if (CookieOf(socket.get(), &cookie) != 0) cookie = 0;
    memcpy(name.path, path.data(), path.size());
    name.root = Fd(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
};

bool IsRemembered(uint64_t cookie, const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && IsOwnSocket(cookie, info.st_dev, info.st_ino);
}

int Judge(const std::string& path) {
  UnixTarget target;
  memcpy(target.path, path.data(), path.size());
  target.root = Fd(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  Fd pinned;
  return JudgeUnix(target, GateRules(), &pinned);
}

TEST(RememberListener, RemembersTheFileOfTheSocket) {
  TempDir dir;
  ASSERT_EQ(symlink(".", dir.File("link").c_str()), 0);
  EXPECT_EQ(InChild([&]() -> std::string {
              for (const char* name : {"own", "link/other"}) {
                Bound own(dir.File(name));
                CHILD_CHECK(own.cookie != 0);
                CHILD_CHECK(RememberListener(own.cookie, own.name) == 0);
                CHILD_CHECK(IsRemembered(own.cookie, dir.File(name)));
                CHILD_CHECK(listen(own.socket.get(), 1) == 0);
                CHILD_CHECK(Judge(dir.File(name)) == 0);
                // Some programs listen twice.
                CHILD_CHECK(RememberListener(own.cookie, own.name) == 0);
                CHILD_CHECK(Judge(dir.File(name)) == 0);
              }
              return "";
            }),
            "");
}

// The session binds, moves its socket away and puts a stranger's in its place, by whatever means.
TEST(RememberListener, RemembersNoFileOfAStranger) {
  for (const char* means : {"symlink", "link", "rename"}) {
    SCOPED_TRACE(means);
    TempDir dir;
    Server stranger(dir.File("stranger"));
    EXPECT_EQ(InChild([&]() -> std::string {
                Bound own(dir.File("own"));
                CHILD_CHECK(own.cookie != 0);
                CHILD_CHECK(rename(dir.File("own").c_str(), dir.File("moved").c_str()) == 0);
                auto replace = means == std::string("symlink") ? symlink
                               : means == std::string("link")  ? link
                                                               : rename;
                CHILD_CHECK(replace(dir.File("stranger").c_str(), dir.File("own").c_str()) == 0);
                CHILD_CHECK(RememberListener(own.cookie, own.name) == 0);
                CHILD_CHECK(!IsRemembered(own.cookie, dir.File("own")));
                CHILD_CHECK(Judge(dir.File("own")) == EACCES);
                return "";
              }),
              "");
  }
}

// unix_diag says only half of a file's number: that a socket is the session's is not enough, it must be the
// session's on this file.
TEST(JudgeUnix, WantsTheFileToBeTheSessionsToo) {
  TempDir dir;
  EXPECT_EQ(InChild([&]() -> std::string {
              Bound own(dir.File("own"));
              struct stat info;
              CHILD_CHECK(stat(dir.File("own").c_str(), &info) == 0);
              CHILD_CHECK(listen(own.socket.get(), 1) == 0);
              CHILD_CHECK(AddOwnSocket(own.cookie, info.st_dev, info.st_ino | uint64_t{1} << 32) == 0);
              CHILD_CHECK(Judge(dir.File("own")) == EACCES);
              CHILD_CHECK(AddOwnSocket(own.cookie, info.st_dev, info.st_ino) == 0);
              CHILD_CHECK(Judge(dir.File("own")) == 0);
              return "";
            }),
            "");
}

ListenerQuery ForFile(const std::string& path) {
  struct stat info;
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  ListenerQuery query;
  query.device = KernelDevice(info.st_dev);
  query.inode = static_cast<uint32_t>(info.st_ino);
  return query;
}

TEST(FindListener, NamesTheSocketBehindAFile) {
  TempDir dir;
  Server one(dir.File("one"));
  Server two(dir.File("two"));
  uint64_t cookie = 0;
  ASSERT_EQ(CookieOf(one.fd(), &cookie), 0);
  ASSERT_EQ(link(dir.File("one").c_str(), dir.File("link").c_str()), 0);
  for (const char* name : {"one", "link"}) {
    ListenerFound found;
    ASSERT_EQ(FindListener(ForFile(dir.File(name)), &found), 0);
    EXPECT_EQ(found.count, 1);
    EXPECT_EQ(found.cookie, cookie);
    EXPECT_EQ(found.name, dir.File("one"));
  }
  ListenerFound found;
  ASSERT_EQ(FindListener(ForFile(dir.Write("file", "")), &found), 0);
  EXPECT_EQ(found.count, 0);
}

TEST(FindListener, FindsOneAmongMany) {
  TempDir dir;
  std::vector<std::unique_ptr<Server>> servers;
  for (int i = 0; i < 500; ++i) servers.push_back(std::make_unique<Server>(dir.File(std::to_string(i))));
  for (size_t i = 0; i < servers.size(); i += 7) {
    uint64_t cookie = 0;
    ASSERT_EQ(CookieOf(servers[i]->fd(), &cookie), 0);
    ListenerFound found;
    ASSERT_EQ(FindListener(ForFile(dir.File(std::to_string(i))), &found), 0);
    EXPECT_EQ(found.count, 1);
    EXPECT_EQ(found.cookie, cookie);
  }
}

TEST(GateUnderWay, KeepsAResultThatNobodyHeard) {
  EXPECT_EQ(InChild([]() -> std::string {
              CHILD_CHECK(PrepareRequests(-1) == 0);
              int place = ClaimPlace();
              CHILD_CHECK(place >= 0);
              FillPlace(place);
              auto connect_says = [&](uint64_t cookie, int result) {
                return UnderWay(place, 1, cookie).Answer(result);
              };
              CHILD_CHECK(connect_says(7, EISCONN) == EISCONN);
              UnderWay(place, 1, 7).Keep(0);
              CHILD_CHECK(connect_says(8, EISCONN) == EISCONN);
              CHILD_CHECK(connect_says(7, EISCONN) == 0);
              CHILD_CHECK(connect_says(7, EISCONN) == EISCONN);  // once
              UnderWay(place, 1, 7).Keep(EINPROGRESS);
              CHILD_CHECK(connect_says(7, EALREADY) == EINPROGRESS);
              UnderWay(place, 1, 7).Keep(ECONNREFUSED);
              CHILD_CHECK(connect_says(7, EISCONN) == EISCONN);
              LeavePlace(place);
              return "";
            }),
            "");
}

TEST(FindSuperblock, SaysWhatTheMountTableSays) {
  // On a file system of one number space it is the file's own device.
  Fd file(open("/proc/self/status", O_PATH | O_CLOEXEC));
  struct stat info;
  ASSERT_EQ(fstat(file.get(), &info), 0);
  uint32_t device = 0;
  ASSERT_TRUE(FindSuperblock(file, &device));
  EXPECT_EQ(device, KernelDevice(info.st_dev));
  Fd pipe_like(static_cast<int>(syscall(SYS_memfd_create, "x", 0)));
  EXPECT_FALSE(FindSuperblock(pipe_like, &device));  // in no mount table
}

// The place that `name` is, or "" if it cannot be opened.
std::string PlaceOf(const std::string& name) {
  BoundPlace place;
  return OpenBoundName(name.c_str(), &place).valid() ? place.path : "";
}

TEST(OpenBoundName, FollowsNoLinkOfTheSession) {
  TempDir dir;
  dir.Write("file", "");
  ASSERT_EQ(symlink("file", dir.File("link").c_str()), 0);
  EXPECT_EQ(PlaceOf(dir.File("file")), dir.File("file"));
  const std::string name = dir.path().substr(dir.path().rfind('/') + 1);
  EXPECT_EQ(PlaceOf(dir.path() + "/./../" + name + "//file"), dir.File("file"));
  EXPECT_EQ(PlaceOf("/../.." + dir.File("file/")), dir.File("file"));
  EXPECT_EQ(PlaceOf(dir.File("link")), "");
  EXPECT_EQ(PlaceOf(dir.File("none/../file")), "");
  EXPECT_EQ(PlaceOf("file"), "");
  EXPECT_EQ(PlaceOf("/proc/self/root"), "");
  EXPECT_EQ(PlaceOf("/" + std::string(300, 'x')), "");
}

// As the user that a session would be, below a directory of root's.
TEST(OpenBoundName, FollowsLinksThatTheSessionCannotHaveMade) {
  if (getuid() != 0) GTEST_SKIP() << "needs root";
  TempDir dir;
  ASSERT_EQ(chmod(dir.path().c_str(), 0755), 0);
  for (const char* name : {"system", "other", "open", "open/below"}) {
    ASSERT_EQ(mkdir(dir.File(name).c_str(), 0755), 0);
  }
  dir.Write("other/file", "");
  for (const char* place : {"system", "open/below"}) {
    ASSERT_EQ(symlink("../other", dir.File(std::string(place) + "/relative").c_str()), 0);
    ASSERT_EQ(symlink(dir.File("other").c_str(), dir.File(std::string(place) + "/absolute").c_str()), 0);
  }
  ASSERT_EQ(symlink("loop", dir.File("system/loop").c_str()), 0);
  ASSERT_EQ(chmod(dir.File("open").c_str(), 0777), 0);
  EXPECT_EQ(InChild([&]() -> std::string {
              CHILD_CHECK(BecomeUser(kOtherUid));
              CHILD_CHECK(PlaceOf(dir.File("system/relative/file")) == dir.File("other/file"));
              CHILD_CHECK(PlaceOf(dir.File("system/absolute/file")) == dir.File("other/file"));
              CHILD_CHECK(PlaceOf(dir.File("system/loop")).empty());
              // Their directory could have been renamed to what it is called now.
              CHILD_CHECK(PlaceOf(dir.File("open/below/absolute/file")).empty());
              return "";
            }),
            "");
}

}  // namespace
}  // namespace spty
