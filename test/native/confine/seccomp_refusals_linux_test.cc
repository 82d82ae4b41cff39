// Each refusal of the filter on the running kernel: refused inside, and outside answered in another way.
// Arguments are such that nothing happens outside either: a bad flag, pointer or descriptor, which most calls
// complain about before they look at privileges.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "confine/seccomp_trial_linux.h"
#include "uapi/syscalls_linux.h"

namespace spty {
namespace {

constexpr long kBadFlags = -1;
constexpr long kBadPointer = 1;
// The kernel looks at the flags of a socket's type before it looks for the family, so with this one it
// answers EINVAL, whatever it was built with.
constexpr long kBadTypeFlag = 0x100;
constexpr long kGarbage = 0x7ead'beef'0000'0000;
// Reasons why the kernel may answer outside exactly as the filter does inside; the trial then shows nothing.
constexpr const char* kPrivilegeFirst =
    "refused in the same way outside, where a privilege is asked for first";
constexpr const char* kMayBeAbsent = "refused in the same way outside, by a kernel that lacks it";

// A number that no process has: outside the kernel does not find it.
constexpr pid_t kKeeper = 0x7fff'fff0;

struct Refusal {
  const char* name;
  int expected;
  std::function<int()> act;
  bool namespaces = false;
  const char* may_be_void = nullptr;
  SeccompOptions options = {true, UnixSockets::kKernel, kKeeper};
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

uint32_t Native(const SyscallNumber& number) {
  return NativeArchitecture() == Architecture::kX86_64 ? number.x86_64 : number.aarch64;
}

std::function<int()> Call(const SyscallNumber& number, long a = 0, long b = 0, long c = 0, long d = 0,
                          long e = 0) {
  return [=] { return ErrnoOf(syscall(Native(number), a, b, c, d, e)); };
}

std::function<int()> Socket(long family, long type, long protocol) {
  return Call(kSys_socket, family, type, protocol);
}

std::function<int()> Pair(long family, long type) {
  return [=] {
    int ends[2];
    return ErrnoOf(syscall(Native(kSys_socketpair), family, type, 0, ends));
  };
}

std::vector<Refusal> SimpleCalls() {
  return {
      {"io_uring_setup", ENOSYS, Call(kSys_io_uring_setup, 0, kBadPointer), false, kMayBeAbsent},
      {"io_uring_enter", ENOSYS, Call(kSys_io_uring_enter, -1), false, kMayBeAbsent},
      {"io_uring_register", ENOSYS, Call(kSys_io_uring_register, -1, -1), false, kMayBeAbsent},
      // KEYCTL_GET_KEYRING_ID of the session keyring.
      {"keyctl", EPERM, Call(kSys_keyctl, 0, -3, 0)},
      {"add_key", EPERM, Call(kSys_add_key, kBadPointer, kBadPointer, 0, 0, -2)},
      {"request_key", EPERM, Call(kSys_request_key, kBadPointer, kBadPointer, 0, -2)},
      {"bpf", EPERM, Call(kSys_bpf, -1, kBadPointer, 1 << 20), false, kPrivilegeFirst},
      {"userfaultfd", EPERM, Call(kSys_userfaultfd, 1 | 0x4000'0000)},
      {"perf_event_open", EPERM, Call(kSys_perf_event_open, kBadPointer, 0, -1, -1, kBadFlags)},
      {"mount", EPERM, Call(kSys_mount, kBadPointer, kBadPointer, kBadPointer, 0, 0)},
      {"umount2", EPERM, Call(kSys_umount2, kBadPointer, kBadFlags)},
      {"pivot_root", EPERM, Call(kSys_pivot_root, kBadPointer, kBadPointer), true},
      {"open_tree", EPERM, Call(kSys_open_tree, -1, kBadPointer, kBadFlags)},
      {"open_tree_attr", EPERM, Call(kSys_open_tree_attr, -1, kBadPointer, kBadFlags, 0, 0)},
      {"move_mount", EPERM, Call(kSys_move_mount, -1, kBadPointer, -1, kBadPointer, kBadFlags), true},
      {"fsopen", EPERM, Call(kSys_fsopen, kBadPointer, kBadFlags), true},
      {"fsconfig", EPERM, Call(kSys_fsconfig, -1, 0, 0, 0, 0)},
      {"fsmount", EPERM, Call(kSys_fsmount, -1, kBadFlags, 0), true},
      {"fspick", EPERM, Call(kSys_fspick, -1, kBadPointer, kBadFlags), true},
      {"mount_setattr", EPERM, Call(kSys_mount_setattr, -1, kBadPointer, kBadFlags, 0, 0)},
      {"open_by_handle_at", EPERM, Call(kSys_open_by_handle_at, -1, kBadPointer, 0), false, kPrivilegeFirst},
      {"init_module", EPERM, Call(kSys_init_module, kBadPointer, 64, kBadPointer), false, kPrivilegeFirst},
      {"finit_module", EPERM, Call(kSys_finit_module, -1, kBadPointer, kBadFlags), false, kPrivilegeFirst},
      {"delete_module", EPERM, Call(kSys_delete_module, kBadPointer, 0), false, kPrivilegeFirst},
      {"kexec_load", EPERM, Call(kSys_kexec_load, 0, 0, 0, kBadFlags), false, kPrivilegeFirst},
      {"kexec_file_load", EPERM, Call(kSys_kexec_file_load, -1, -1, 0, 0, kBadFlags), false, kPrivilegeFirst},
      // Without its magic numbers.
      {"reboot", EPERM, Call(kSys_reboot, 0, 0, 0, 0), false, kPrivilegeFirst},
      {"swapon", EPERM, Call(kSys_swapon, kBadPointer, kBadFlags), false, kPrivilegeFirst},
      {"swapoff", EPERM, Call(kSys_swapoff, kBadPointer), false, kPrivilegeFirst},
      {"acct", EPERM, Call(kSys_acct, kBadPointer), false, kPrivilegeFirst},
      {"quotactl", EPERM, Call(kSys_quotactl, 0xff, 0, 0, 0)},
      {"quotactl_fd", EPERM, Call(kSys_quotactl_fd, -1, 0xff, 0, 0)},
      // Outside the kernel looks at the name first.
      {"mq_open", ENOSYS, Call(kSys_mq_open, kBadPointer, 0, 0, 0)},
      {"mq_unlink", ENOSYS, Call(kSys_mq_unlink, kBadPointer)},
      // Too short to be its arguments.
      {"clone3", ENOSYS, Call(kSys_clone3, kBadPointer, 1), false, kMayBeAbsent},
      {"setpriority_of_keeper", EPERM, Call(kSys_setpriority, PRIO_PROCESS, kKeeper, 0)},
      {"setpriority_of_keepers_group", EPERM, Call(kSys_setpriority, PRIO_PGRP, kKeeper | kGarbage, 0)},
      {"setpriority_of_user", EPERM, Call(kSys_setpriority, PRIO_USER | kGarbage, kKeeper, 0)},
      {"ioprio_set_of_keeper", EPERM, Call(kSys_ioprio_set, 1, kKeeper, 0)},
      {"ioprio_set_of_user", EPERM, Call(kSys_ioprio_set, 3, kKeeper, 0)},
      {"sched_setaffinity_of_keeper", EPERM, Call(kSys_sched_setaffinity, kKeeper, 0, kBadPointer)},
      {"sched_setscheduler_of_keeper", EPERM,
       Call(kSys_sched_setscheduler, kKeeper | kGarbage, SCHED_OTHER, kBadPointer)},
      {"sched_setparam_of_keeper", EPERM, Call(kSys_sched_setparam, kKeeper, kBadPointer)},
      {"sched_setattr_of_keeper", EPERM, Call(kSys_sched_setattr, kKeeper, kBadPointer)},
      // Of the process that tries, by its number: outside it succeeds.
      {"prlimit64_by_number", EPERM,
       [] {
         rlimit limits{};
         if (int err = ErrnoOf(syscall(Native(kSys_prlimit64), 0, RLIMIT_NOFILE, nullptr, &limits)); err != 0)
           return err;
         return ErrnoOf(syscall(Native(kSys_prlimit64), getpid(), RLIMIT_NOFILE, &limits, nullptr));
       }},
  };
}

std::vector<Refusal> Sockets() {
  constexpr SeccompOptions kGate = {true, UnixSockets::kGate};
  constexpr SeccompOptions kRefuse = {true, UnixSockets::kRefuse};
  constexpr SeccompOptions kNoInet = {false, UnixSockets::kKernel};
  return {
      {"vsock", EAFNOSUPPORT, Socket(AF_VSOCK, SOCK_STREAM, 0), false, kMayBeAbsent},
      {"alg", EAFNOSUPPORT, Socket(AF_ALG, SOCK_SEQPACKET | kBadTypeFlag, 0)},
      {"smc", EAFNOSUPPORT, Socket(AF_SMC, SOCK_STREAM | kBadTypeFlag, 0)},
      {"xdp", EAFNOSUPPORT, Socket(AF_XDP, SOCK_RAW | kBadTypeFlag, 0)},
      {"bluetooth", EAFNOSUPPORT, Socket(AF_BLUETOOTH, SOCK_RAW | kBadTypeFlag, 1)},
      {"tipc", EAFNOSUPPORT, Socket(AF_TIPC, SOCK_STREAM | kBadTypeFlag, 0)},
      {"can", EAFNOSUPPORT, Socket(AF_CAN, SOCK_RAW | kBadTypeFlag, 1)},
      {"packet", EPERM, Socket(AF_PACKET, SOCK_RAW, 0), true},
      {"packet_by_inet", EPERM, Socket(AF_INET, SOCK_PACKET, 0), true},
      {"raw_inet", EPERM, Socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), true},
      {"raw_inet6", EPERM, Socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6), true},
      {"mptcp", EPROTONOSUPPORT, Socket(AF_INET, SOCK_STREAM, 262), false, kMayBeAbsent},
      {"mptcp_inet6", EPROTONOSUPPORT, Socket(AF_INET6, SOCK_STREAM, 262), false, kMayBeAbsent},
      {"mptcp_high_half", EPROTONOSUPPORT, Socket(AF_INET, SOCK_STREAM, 262 | kGarbage), false, kMayBeAbsent},
      {"sctp", EPROTONOSUPPORT, Socket(AF_INET, SOCK_STREAM | kBadTypeFlag, 132)},
      {"smc_by_inet", EPROTONOSUPPORT, Socket(AF_INET, SOCK_STREAM | kBadTypeFlag, 256)},
      {"netlink_sock_diag", EPROTONOSUPPORT, Socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG), false,
       kMayBeAbsent},
      {"netlink_uevent", EPROTONOSUPPORT, Socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT)},
      {"netlink_generic", EPROTONOSUPPORT, Socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC)},
      // A type that no protocol of the family has; outside the flag is complained about.
      {"inet_rdm", ESOCKTNOSUPPORT, Socket(AF_INET, SOCK_RDM | kBadTypeFlag, 0)},
      {"inet6_seqpacket", ESOCKTNOSUPPORT, Socket(AF_INET6, SOCK_SEQPACKET | kBadTypeFlag, 0)},
      {"unix_rdm", EACCES, Socket(AF_UNIX, SOCK_RDM, 0), false, nullptr, kGate},
      {"inet", EACCES, Socket(AF_INET, SOCK_STREAM, 0), false, nullptr, kNoInet},
      {"inet6", EACCES, Socket(AF_INET6, SOCK_DGRAM, 0), false, kMayBeAbsent, kNoInet},
      {"inet_high_half", EACCES, Socket(AF_INET | kGarbage, SOCK_DGRAM | kGarbage, kGarbage), false, nullptr,
       kNoInet},
      {"unix_datagram", EACCES, Socket(AF_UNIX, SOCK_DGRAM, 0), false, nullptr, kGate},
      {"unix_datagram_flags", EACCES, Socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), false,
       nullptr, kGate},
      {"unix_raw", EACCES, Socket(AF_UNIX, SOCK_RAW, 0), false, nullptr, kGate},
      {"unix_datagram_high_half", EACCES, Socket(AF_UNIX | kGarbage, SOCK_DGRAM | kGarbage, 0), false,
       nullptr, kGate},
      {"unix_datagram_pair", EACCES, Pair(AF_UNIX, SOCK_DGRAM), false, nullptr, kGate},
      {"unix_raw_pair", EACCES, Pair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC), false, nullptr, kGate},
      {"unix_stream_refused", EACCES, Socket(AF_UNIX, SOCK_STREAM, 0), false, nullptr, kRefuse},
      {"unix_seqpacket_refused", EACCES, Socket(AF_UNIX, SOCK_SEQPACKET, 0), false, nullptr, kRefuse},
      {"unix_datagram_pair_refused", EACCES, Pair(AF_UNIX, SOCK_DGRAM), false, nullptr, kRefuse},
      {"tipc_pair", EOPNOTSUPP, Pair(AF_TIPC, SOCK_STREAM)},
      // No descriptor, so outside it is EBADF; and as there is no keeper here, inside it is ENOSYS.
      {"connect_at_the_gate", ENOSYS, Call(kSys_connect, -1, kBadPointer, 16), false, nullptr, kGate},
      {"listen_at_the_gate", ENOSYS, Call(kSys_listen, -1, 1), false, nullptr, kGate},
      {"fast_open_sendto", EOPNOTSUPP, Call(kSys_sendto, -1, 0, 0, 0x2000'0000)},
      {"fast_open_sendmsg", EOPNOTSUPP, Call(kSys_sendmsg, -1, 0, 0x2000'0000 | MSG_NOSIGNAL)},
      {"fast_open_sendmmsg", EOPNOTSUPP, Call(kSys_sendmmsg, -1, 0, 1, 0x2000'0000 | kGarbage)},
      {"tiocsti", EPERM, Call(kSys_ioctl, -1, TIOCSTI, kBadPointer)},
      {"tiocsti_high_half", EPERM, Call(kSys_ioctl, -1, TIOCSTI | kGarbage, kBadPointer)},
      {"tioclinux", EPERM, Call(kSys_ioctl, -1, TIOCLINUX, kBadPointer)},
      {"tiocsetd", EPERM, Call(kSys_ioctl, -1, TIOCSETD, kBadPointer)},
      {"btrfs_snapshot", EPERM, Call(kSys_ioctl, -1, 0x5000'9401, kBadPointer)},
      {"btrfs_subvolume", EPERM, Call(kSys_ioctl, -1, 0x5000'940e, kBadPointer)},
      {"btrfs_remove", EPERM, Call(kSys_ioctl, -1, 0x5000'940f, kBadPointer)},
      {"btrfs_snapshot_2", EPERM, Call(kSys_ioctl, -1, 0x5000'9417, kBadPointer)},
      {"btrfs_subvolume_2", EPERM, Call(kSys_ioctl, -1, 0x5000'9418 | kGarbage, kBadPointer)},
      {"btrfs_remove_2", EPERM, Call(kSys_ioctl, -1, 0x5000'943f, kBadPointer)},
      {"btrfs_flags", EPERM, Call(kSys_ioctl, -1, 0x4008'941a, kBadPointer)},
      {"bcachefs_subvolume", EPERM, Call(kSys_ioctl, -1, 0x4020'bc10, kBadPointer)},
      {"ocfs2_reflink", EPERM, Call(kSys_ioctl, -1, 0x4018'6f04, kBadPointer)},
      {"verity", EPERM, Call(kSys_ioctl, -1, 0x4080'6685, kBadPointer)},
      {"fscrypt_policy", EPERM, Call(kSys_ioctl, -1, 0x800c'6613, kBadPointer)},
      {"fscrypt_add_key", EPERM, Call(kSys_ioctl, -1, 0xc050'6617, kBadPointer)},
      {"fscrypt_remove_key", EPERM, Call(kSys_ioctl, -1, 0xc040'6618, kBadPointer)},
      {"fscrypt_remove_key_of_all", EPERM, Call(kSys_ioctl, -1, 0xc040'6619, kBadPointer)},
      {"f2fs_atomic_write", EPERM, Call(kSys_ioctl, -1, 0xf501, 0)},
      {"f2fs_commit", EPERM, Call(kSys_ioctl, -1, 0xf502, 0)},
      {"f2fs_volatile_write", EPERM, Call(kSys_ioctl, -1, 0xf503, 0)},
      {"f2fs_release", EPERM, Call(kSys_ioctl, -1, 0xf504, 0)},
      {"f2fs_abort", EPERM, Call(kSys_ioctl, -1, 0xf505, 0)},
      {"f2fs_release_compressed", EPERM, Call(kSys_ioctl, -1, 0x8008'f512, kBadPointer)},
      {"f2fs_atomic_replace", EPERM, Call(kSys_ioctl, -1, 0xf519 | kGarbage, 0)},
      // No descriptor, so outside it is EBADF.
      {"lease", EACCES, Call(kSys_fcntl, -1, 1024, F_RDLCK)},
      {"lease_high_half", EACCES, Call(kSys_fcntl, -1, 1024 | kGarbage, F_WRLCK)},
      {"delegation", EACCES, Call(kSys_fcntl, -1, 1040, kBadPointer)},
      {"second_listener", EBUSY, Call(kSys_seccomp, 1, 8, kBadPointer), false, nullptr, kGate},
      {"second_listener_high_half", EBUSY, Call(kSys_seccomp, 1 | kGarbage, 8 | kGarbage, kBadPointer), false,
       nullptr, kGate},
  };
}

std::vector<Refusal> AllRefusals() {
  std::vector<Refusal> all = SimpleCalls();
  for (Refusal& refusal : Sockets()) all.push_back(std::move(refusal));
  if (NativeArchitecture() == Architecture::kX86_64) {
    all.push_back({"iopl", EPERM, Call(kSys_iopl, 4)});
    all.push_back({"ioperm", EPERM, Call(kSys_ioperm, 0, 0, 0)});
  }
  return all;
}

class SeccompRefusal : public testing::TestWithParam<Refusal> {};

INSTANTIATE_TEST_SUITE_P(Kernel, SeccompRefusal, testing::ValuesIn(AllRefusals()),
                         [](const auto& one) { return one.param.name; });

TEST_P(SeccompRefusal, HappensInsideOnly) {
  if (!NativeArchitecture()) GTEST_SKIP() << "no filter for this architecture";
  const Refusal& refusal = GetParam();
  int shown = 0;
  std::string reason;
  for (uid_t uid : UidsToTry()) {
    SCOPED_TRACE("as uid " + std::to_string(uid));
    Outcome outside = Try({uid, refusal.namespaces, std::nullopt}, refusal.act);
    if (outside.kind == Outcome::Kind::kNotTried) {
      reason = outside.trouble;
      continue;
    }
    EXPECT_EQ(Try({uid, refusal.namespaces, refusal.options}, refusal.act), Answered(refusal.expected));
    if (outside == Answered(refusal.expected)) {
      ASSERT_NE(refusal.may_be_void, nullptr) << "refused in the same way outside: " << outside;
      reason = refusal.may_be_void;
    } else {
      ++shown;
    }
  }
  if (shown == 0) GTEST_SKIP() << "void: " << reason;
}

}  // namespace
}  // namespace spty
