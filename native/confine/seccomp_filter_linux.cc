#include <algorithm>
#include <cerrno>
#include <span>

#include "confine/bpf_builder.h"
#include "confine/seccomp_filter.h"
#include "uapi/syscalls_linux.h"

namespace spty {
namespace {

using Label = BpfBuilder::Label;

// Numbers of the kernel's interface; some are newer than the headers.
constexpr uint32_t kFamilyUnix = 1;
constexpr uint32_t kFamilyInet = 2;
constexpr uint32_t kFamilyInet6 = 10;
constexpr uint32_t kFamilyNetlink = 16;
constexpr uint32_t kFamilyPacket = 17;
constexpr uint32_t kTypeMask = 0xf;  // the rest of the type argument is SOCK_CLOEXEC and SOCK_NONBLOCK
constexpr uint32_t kTypeStream = 1;
constexpr uint32_t kTypeDatagram = 2;
constexpr uint32_t kTypeRaw = 3;
constexpr uint32_t kTypeSeqpacket = 5;
constexpr uint32_t kTypePacket = 10;  // AF_INET with this type is AF_PACKET
constexpr uint32_t kNetlinkRoute = 0;
// 0 is the usual one of the type; TCP, UDP, ping for both families. Not MPTCP (262), SMC (256) and SCTP
// (132), which connect without asking Landlock or without connect(2).
constexpr uint32_t kInetProtocols[] = {0, 6, 17, 1, 58};
constexpr uint32_t kFastOpen = 0x20000000;  // MSG_FASTOPEN: a connect inside a send
constexpr uint32_t kTiocsti = 0x5412;
constexpr uint32_t kTioclinux = 0x541c;
constexpr uint32_t kTiocsetd = 0x5423;
// Type and number of requests by which a directory that is open for reading only gets new entries, with
// contents, or loses some, and Landlock is not asked: subvolumes and snapshots of btrfs, copies of OCFS2. And
// what makes a file unchangeable that is open for reading (fs-verity), or a directory unusable: fscrypt's
// policies and keys, and f2fs's release of the blocks of a compressed file. And f2fs's atomic and volatile
// writes, which empty or revert a file that is open for reading (the kernel asks how it was opened from 6.12
// on). Not FICLONE and its like, which btrfs has numbered among its own: they write to a descriptor.
constexpr uint32_t kTypeAndNumber = 0xffff;
constexpr uint32_t kTreeRequests[] = {0x9401, 0x940e, 0x940f, 0x9417, 0x9418, 0x941a, 0x943f,
                                      0x6f04, 0x6685, 0x6613, 0x6617, 0x6618, 0x6619, 0xf501,
                                      0xf502, 0xf503, 0xf504, 0xf505, 0xf512, 0xf519};
// All requests of bcachefs: it has the same, and is not in the kernel any more, so that nobody keeps a list
// of them.
constexpr uint32_t kType = 0xff00;
constexpr uint32_t kBcachefs = 0xbc00;
// Leases of files and, from 6.19 on, of directories: commands of fcntl(2).
constexpr uint32_t kSetLease = 1024;
constexpr uint32_t kSetDelegation = 1040;
constexpr uint32_t kPriorityOfUser = 2;    // PRIO_USER
constexpr uint32_t kIoPriorityOfUser = 3;  // IOPRIO_WHO_USER
constexpr uint32_t kSetModeFilter = 1;     // of seccomp(2)
constexpr uint32_t kNewListener = 1 << 3;

// Refused whatever their arguments, with the errno that a user without privileges would get for most of them.
constexpr SyscallNumber kNotPermitted[] = {
    // Keyrings: the session keyring is the host's.
    kSys_keyctl, kSys_add_key, kSys_request_key,
    // Much kernel behind one call, and nothing that a terminal needs.
    kSys_bpf, kSys_userfaultfd, kSys_perf_event_open,
    // Mounts. Landlock refuses changes of its own view, but not the making of detached ones.
    kSys_mount, kSys_umount2, kSys_pivot_root, kSys_open_tree, kSys_open_tree_attr, kSys_move_mount,
    kSys_fsopen, kSys_fsconfig, kSys_fsmount, kSys_fspick, kSys_mount_setattr,
    // A file without a path.
    kSys_open_by_handle_at,
    // The machine itself.
    kSys_init_module, kSys_finit_module, kSys_delete_module, kSys_kexec_load, kSys_kexec_file_load,
    kSys_reboot, kSys_swapon, kSys_swapoff, kSys_acct, kSys_quotactl, kSys_quotactl_fd, kSys_iopl,
    kSys_ioperm};

// ENOSYS, so that programs use what they used before.
constexpr SyscallNumber kNotImplemented[] = {
    // Its requests pass by every other check.
    kSys_io_uring_setup, kSys_io_uring_enter, kSys_io_uring_register,
    // Names of message queues belong to no file system that Landlock sees: a session could remove those of
    // others, and leave some behind.
    kSys_mq_open, kSys_mq_unlink,
    // Its flags are in memory, and one of them starts a process in any cgroup that the user may write to,
    // without opening a file in it for writing (CLONE_INTO_CGROUP). C libraries go on to clone(2).
    kSys_clone3};

// So many are compared one after the other: halving further costs as much as it saves.
constexpr size_t kFewNumbers = 8;

constexpr uint32_t Refuse(int err) { return kSeccompErrno | static_cast<uint32_t>(err); }

// Emits the filter in the order of its text: dispatch by number first, then one section per call whose
// arguments matter. Calls that are allowed whatever their arguments meet only instructions that the kernel
// can evaluate beforehand (5.11+ keeps a bitmap of them), so they cost nothing.
class FilterWriter {
 public:
  FilterWriter(const SeccompOptions& options, Architecture architecture)
      : options_(options), architecture_(architecture) {}

  Result<std::vector<SockFilter>> Write() {
    WriteEntry();
    WriteDispatch();
    WriteIoctl();
    WriteLeases();
    WriteSends();
    WriteSocket();
    WriteSocketPair();
    WriteLimits();
    WriteScheduling();
    WriteListeners();
    WriteAnswers();
    return bpf_.Assemble();
  }

 private:
  uint32_t NumberOf(const SyscallNumber& number) const {
    return architecture_ == Architecture::kX86_64 ? number.x86_64 : number.aarch64;
  }

  struct Target {
    uint32_t number;
    Label label;
  };

  void Dispatch(const SyscallNumber& number, Label target) {
    if (NumberOf(number) != kNoSyscall) dispatched_.push_back({NumberOf(number), target});
  }

  void WriteEntry() {
    bool x86_64 = architecture_ == Architecture::kX86_64;
    bpf_.LoadArchitecture();
    bpf_.JumpIfNotEqual(x86_64 ? kAuditArchX86_64 : kAuditArchAarch64, kill_);
    bpf_.LoadNumber();
    // A tracer skips a call by making it number -1 (strace's fault injection does), which has the x32 bit
    // too.
    bpf_.JumpIfEqual(kNoSyscall, allow_);
    if (x86_64) bpf_.JumpIfAnyBitSet(kX32Bit, kill_);
  }

  void WriteDispatch() {
    Dispatch(kSys_ioctl, ioctl_);
    Dispatch(kSys_fcntl, fcntl_);
    Dispatch(kSys_sendmsg, send_flags_in_2_);
    Dispatch(kSys_sendto, send_flags_in_3_);
    Dispatch(kSys_sendmmsg, send_flags_in_3_);
    Dispatch(kSys_socket, socket_);
    Dispatch(kSys_socketpair, socket_pair_);
    Dispatch(kSys_prlimit64, limits_);
    Dispatch(kSys_setpriority, priority_);
    Dispatch(kSys_ioprio_set, io_priority_);
    for (const SyscallNumber& number :
         {kSys_sched_setaffinity, kSys_sched_setattr, kSys_sched_setparam, kSys_sched_setscheduler})
      Dispatch(number, schedule_);
    if (options_.unix_sockets == UnixSockets::kGate) {
      Dispatch(kSys_connect, notify_);
      Dispatch(kSys_listen, notify_);
      Dispatch(kSys_seccomp, seccomp_);
    }
    for (const SyscallNumber& number : kNotImplemented) Dispatch(number, not_implemented_);
    for (const SyscallNumber& number : kNotPermitted) Dispatch(number, not_permitted_);
    bpf_.JumpIfAtLeast(kFirstUnknownSyscall, not_implemented_);
    std::ranges::sort(dispatched_, {}, &Target::number);
    WriteSearch(dispatched_);
  }

  // By halves, with the number loaded. Not for the sake of those who call: to make its bitmap the kernel runs
  // all numbers through here while the session waits, and one after the other that was most of its time.
  void WriteSearch(std::span<const Target> targets) {
    if (targets.size() <= kFewNumbers) {
      for (const Target& target : targets) bpf_.JumpIfEqual(target.number, target.label);
      return bpf_.Return(kSeccompAllow);
    }
    const auto lower = targets.first(targets.size() / 2);
    const auto upper = targets.subspan(lower.size());
    const Label above = bpf_.NewLabel();
    bpf_.JumpIfAtLeast(upper.front().number, above);
    WriteSearch(lower);
    bpf_.Bind(above);
    bpf_.LoadNumber();
    WriteSearch(upper);
  }

  void WriteIoctl() {
    bpf_.Bind(ioctl_);
    bpf_.LoadArgumentLow(1);
    bpf_.JumpIfEqual(kTiocsti, not_permitted_);
    bpf_.JumpIfEqual(kTioclinux, not_permitted_);
    bpf_.JumpIfEqual(kTiocsetd, not_permitted_);
    bpf_.And(kTypeAndNumber);
    for (uint32_t request : kTreeRequests) bpf_.JumpIfEqual(request, not_permitted_);
    bpf_.And(kType);
    bpf_.JumpIfEqual(kBcachefs, not_permitted_);
    bpf_.Return(kSeccompAllow);
  }

  // Whoever holds a lease on a file keeps everybody else waiting in open(2), for up to 45 seconds and then
  // once more, and it takes a file of the user's that is open for reading, no more. The answer is the one
  // about somebody else's file.
  void WriteLeases() {
    Label refused = bpf_.NewLabel();
    bpf_.Bind(fcntl_);
    bpf_.LoadArgumentLow(1);
    bpf_.JumpIfEqual(kSetLease, refused);
    bpf_.JumpIfEqual(kSetDelegation, refused);
    bpf_.Return(kSeccompAllow);
    bpf_.Bind(refused);
    bpf_.Return(Refuse(EACCES));
  }

  void WriteSends() {
    Label refused = bpf_.NewLabel();
    bpf_.Bind(send_flags_in_2_);
    bpf_.LoadArgumentLow(2);
    bpf_.JumpIfAnyBitSet(kFastOpen, refused);
    bpf_.Return(kSeccompAllow);
    bpf_.Bind(send_flags_in_3_);
    bpf_.LoadArgumentLow(3);
    bpf_.JumpIfAnyBitSet(kFastOpen, refused);
    bpf_.Return(kSeccompAllow);
    // As where net.ipv4.tcp_fastopen is 0: programs connect first, then.
    bpf_.Bind(refused);
    bpf_.Return(Refuse(EOPNOTSUPP));
  }

  void WriteSocket() {
    Label inet = bpf_.NewLabel();
    Label netlink = bpf_.NewLabel();
    Label unix_socket = bpf_.NewLabel();
    bpf_.Bind(socket_);
    bpf_.LoadArgumentLow(0);
    bpf_.JumpIfEqual(kFamilyUnix, unix_socket);
    bpf_.JumpIfEqual(kFamilyInet, inet);
    bpf_.JumpIfEqual(kFamilyInet6, inet);
    bpf_.JumpIfEqual(kFamilyNetlink, netlink);
    bpf_.JumpIfEqual(kFamilyPacket, not_permitted_);
    bpf_.Return(Refuse(EAFNOSUPPORT));
    WriteInet(inet);
    // What the kernel answers if it lacks the protocol. With EACCES or EPERM programs that use libaudit give
    // up.
    bpf_.Bind(netlink);
    bpf_.LoadArgumentLow(2);
    bpf_.JumpIfEqual(kNetlinkRoute, allow_);
    bpf_.Jump(no_protocol_);
    bpf_.Bind(unix_socket);
    if (options_.unix_sockets == UnixSockets::kKernel) return bpf_.Return(kSeccompAllow);
    if (options_.unix_sockets == UnixSockets::kRefuse) return bpf_.Return(Refuse(EACCES));
    WriteUnixTypes();
  }

  void WriteInet(Label inet) {
    bpf_.Bind(inet);
    if (!options_.inet) return bpf_.Return(Refuse(EACCES));
    Label protocol = bpf_.NewLabel();
    bpf_.LoadArgumentLow(1);
    bpf_.And(kTypeMask);
    bpf_.JumpIfEqual(kTypeStream, protocol);
    bpf_.JumpIfEqual(kTypeDatagram, protocol);
    bpf_.JumpIfEqual(kTypeRaw, not_permitted_);
    bpf_.JumpIfEqual(kTypePacket, not_permitted_);
    bpf_.Return(Refuse(ESOCKTNOSUPPORT));
    bpf_.Bind(protocol);
    bpf_.LoadArgumentLow(2);
    for (uint32_t number : kInetProtocols) bpf_.JumpIfEqual(number, allow_);
    bpf_.Jump(no_protocol_);
  }

  // A raw AF_UNIX socket is a datagram socket, so only what is known to be harmless passes.
  void WriteUnixTypes() {
    bpf_.LoadArgumentLow(1);
    bpf_.And(kTypeMask);
    bpf_.JumpIfEqual(kTypeStream, allow_);
    bpf_.JumpIfEqual(kTypeSeqpacket, allow_);
    bpf_.Return(Refuse(EACCES));
  }

  void WriteSocketPair() {
    Label not_unix = bpf_.NewLabel();
    bpf_.Bind(socket_pair_);
    bpf_.LoadArgumentLow(0);
    bpf_.JumpIfNotEqual(kFamilyUnix, not_unix);
    if (options_.unix_sockets == UnixSockets::kKernel) {
      bpf_.Return(kSeccompAllow);
    } else {
      WriteUnixTypes();
    }
    // No other family that a session can have makes pairs.
    bpf_.Bind(not_unix);
    bpf_.Return(Refuse(EOPNOTSUPP));
  }

  // A limit of somebody else's process kills it as a signal would (RLIMIT_CPU), and Landlock's scope does not
  // cover that: the keeper's own could be set. So limits are set for oneself only, under the number 0, which
  // is how setrlimit(3) and the shells' ulimit do it. Reading is harmless.
  void WriteLimits() {
    bpf_.Bind(limits_);
    bpf_.LoadArgumentLow(0);
    bpf_.JumpIfEqual(0, allow_);
    bpf_.LoadArgumentLow(2);
    bpf_.JumpIfNotEqual(0, not_permitted_);
    bpf_.LoadArgumentHigh(2);
    bpf_.JumpIfNotEqual(0, not_permitted_);
    bpf_.Return(kSeccompAllow);
  }

  // Scheduling, too, reaches every process of the user. A keeper that runs only when nobody else wants to, on
  // the processor that the session keeps busy, takes seconds to end the session. Not flatly for others: a
  // session may schedule its own processes and threads, which are named by number. The keeper is the leader
  // of a group of its own, with the same number.
  void WriteScheduling() {
    bpf_.Bind(priority_);
    bpf_.LoadArgumentLow(0);
    bpf_.JumpIfEqual(kPriorityOfUser, not_permitted_);
    WriteUnlessKeeper(1);
    bpf_.Bind(io_priority_);
    bpf_.LoadArgumentLow(0);
    bpf_.JumpIfEqual(kIoPriorityOfUser, not_permitted_);
    WriteUnlessKeeper(1);
    bpf_.Bind(schedule_);
    WriteUnlessKeeper(0);
  }

  void WriteUnlessKeeper(int argument) {
    bpf_.LoadArgumentLow(argument);
    if (options_.keeper != 0) bpf_.JumpIfEqual(options_.keeper, not_permitted_);
    bpf_.Return(kSeccompAllow);
  }

  // Where two filters ask about a call, the newer one's listener is heard. As long as the keeper has ours the
  // kernel refuses another one; once the keeper is dead it would not, and the session could answer for
  // itself.
  void WriteListeners() {
    if (options_.unix_sockets != UnixSockets::kGate) return;
    Label refused = bpf_.NewLabel();
    bpf_.Bind(seccomp_);
    bpf_.LoadArgumentLow(0);
    bpf_.JumpIfNotEqual(kSetModeFilter, allow_);
    bpf_.LoadArgumentLow(1);
    bpf_.JumpIfAnyBitSet(kNewListener, refused);
    bpf_.Return(kSeccompAllow);
    bpf_.Bind(refused);
    bpf_.Return(Refuse(EBUSY));
  }

  void WriteAnswers() {
    bpf_.Bind(allow_);
    bpf_.Return(kSeccompAllow);
    bpf_.Bind(not_permitted_);
    bpf_.Return(Refuse(EPERM));
    bpf_.Bind(not_implemented_);
    bpf_.Return(Refuse(ENOSYS));
    bpf_.Bind(no_protocol_);
    bpf_.Return(Refuse(EPROTONOSUPPORT));
    bpf_.Bind(kill_);
    bpf_.Return(kSeccompKillProcess);
    if (options_.unix_sockets != UnixSockets::kGate) return;
    bpf_.Bind(notify_);
    bpf_.Return(kSeccompUserNotify);
  }

  const SeccompOptions options_;
  const Architecture architecture_;
  BpfBuilder bpf_;
  std::vector<Target> dispatched_;  // the numbers that not everybody may call, or not in every way
  Label ioctl_ = bpf_.NewLabel();
  Label fcntl_ = bpf_.NewLabel();
  Label send_flags_in_2_ = bpf_.NewLabel();
  Label send_flags_in_3_ = bpf_.NewLabel();
  Label socket_ = bpf_.NewLabel();
  Label socket_pair_ = bpf_.NewLabel();
  Label limits_ = bpf_.NewLabel();
  Label priority_ = bpf_.NewLabel();
  Label io_priority_ = bpf_.NewLabel();
  Label schedule_ = bpf_.NewLabel();
  Label seccomp_ = bpf_.NewLabel();
  Label allow_ = bpf_.NewLabel();
  Label not_permitted_ = bpf_.NewLabel();
  Label not_implemented_ = bpf_.NewLabel();
  Label no_protocol_ = bpf_.NewLabel();
  Label notify_ = bpf_.NewLabel();
  Label kill_ = bpf_.NewLabel();
};

}  // namespace

Result<std::vector<SockFilter>> BuildSeccompFilter(const SeccompOptions& options, Architecture architecture) {
  return FilterWriter(options, architecture).Write();
}

std::optional<Architecture> NativeArchitecture() {
  if constexpr (kAuditArchNative == kAuditArchX86_64) return Architecture::kX86_64;
  if constexpr (kAuditArchNative == kAuditArchAarch64) return Architecture::kAarch64;
  return std::nullopt;
}

}  // namespace spty
