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
#include <unistd.h>

#include "keeper/gate_harness_linux.h"
#include "keeper/gate_place_linux.h"
#include "keeper/gate_requests_linux.h"
#include "keeper/gate_sockets_linux.h"
#include "keeper/gate_text_linux.h"
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
              for (uint64_t i = 1; i <= kMany; ++i) CHILD_CHECK(AddOwnSocket(i * 2) == 0);
              for (uint64_t i = 1; i <= kMany; ++i) {
                CHILD_CHECK(IsOwnSocket(i * 2) && !IsOwnSocket(i * 2 - 1));
              }
              CHILD_CHECK(!IsOwnSocket(0));
              return "";
            }),
            "");
}

TEST(GateOwnSockets, KnowsFilesBySocketAndNumber) {
  EXPECT_EQ(InChild([]() -> std::string {
              CHILD_CHECK(AddOwnFile(1, 2, 3) == 0);
              CHILD_CHECK(IsOwnFile(1, 2, 3));
              CHILD_CHECK(!IsOwnFile(1, 3, 2) && !IsOwnFile(2, 1, 3) && !IsOwnFile(1, 2, 4));
              CHILD_CHECK(!IsOwnSocket(1));
              return "";
            }),
            "");
}

TEST(GateOwnSockets, HasALimit) {
  EXPECT_EQ(InChild([]() -> std::string {
              int err = 0;
              uint64_t next = 1U << 30;
              for (uint32_t i = 0; i < 2 * kMaxOwnSockets && err == 0; ++i) err = AddOwnSocket(next++);
              CHILD_CHECK(err == ENOBUFS);
              CHILD_CHECK(IsOwnSocket(1U << 30) && !IsOwnSocket(next));
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

TEST(FindListener, FindsAbstractNames) {
  std::string name = "@spty-diag-test-" + std::to_string(getpid());
  Server server(name);
  name[0] = '\0';
  ListenerQuery query;
  query.name = name.data();
  query.name_size = name.size();
  ListenerFound found;
  ASSERT_EQ(FindListener(query, &found), 0);
  EXPECT_EQ(found.count, 1);
  query.name_size -= 1;
  ASSERT_EQ(FindListener(query, &found), 0);
  EXPECT_EQ(found.count, 0);
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

TEST(OpenBoundName, FollowsNoLinkOfTheSession) {
  TempDir dir;
  dir.Write("file", "");
  ASSERT_EQ(symlink("file", dir.File("link").c_str()), 0);
  EXPECT_TRUE(OpenBoundName(dir.File("file").c_str()).valid());
  const std::string name = dir.path().substr(dir.path().rfind('/') + 1);
  EXPECT_TRUE(OpenBoundName((dir.path() + "/./../" + name + "//file").c_str()).valid());
  EXPECT_FALSE(OpenBoundName(dir.File("link").c_str()).valid());
  EXPECT_FALSE(OpenBoundName("file").valid());
  EXPECT_FALSE(OpenBoundName("/proc/self/root").valid());
  EXPECT_FALSE(OpenBoundName(("/" + std::string(300, 'x')).c_str()).valid());
}

}  // namespace
}  // namespace spty
