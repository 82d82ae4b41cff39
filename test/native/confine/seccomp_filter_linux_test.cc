// The filter's answers, computed. Both architectures on either; seccomp_kernel_linux_test.cc asks the kernel.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <map>
#include <random>
#include <set>

#include "confine/bpf_interpreter.h"
#include "confine/seccomp_filter.h"
#include "uapi/syscalls_linux.h"

namespace spty {
namespace {

static_assert(sizeof(SockFilter) == sizeof(sock_filter) &&
              offsetof(SockFilter, k) == offsetof(sock_filter, k));
static_assert(sizeof(SeccompData) == sizeof(seccomp_data) &&
              offsetof(SeccompData, args) == offsetof(seccomp_data, args));
static_assert(kBpfMaxInstructions == BPF_MAXINSNS);
static_assert(kBpfLoadWord == (BPF_LD | BPF_W | BPF_ABS) && kBpfAnd == (BPF_ALU | BPF_AND | BPF_K));
static_assert(kBpfJump == (BPF_JMP | BPF_JA) && kBpfJumpIfEqual == (BPF_JMP | BPF_JEQ | BPF_K));
static_assert(kBpfJumpIfAtLeast == (BPF_JMP | BPF_JGE | BPF_K));
static_assert(kBpfJumpIfAnyBitSet == (BPF_JMP | BPF_JSET | BPF_K) && kBpfReturn == (BPF_RET | BPF_K));
static_assert(kSeccompKillProcess == SECCOMP_RET_KILL_PROCESS && kSeccompErrno == SECCOMP_RET_ERRNO);
static_assert(kSeccompUserNotify == SECCOMP_RET_USER_NOTIF && kSeccompAllow == SECCOMP_RET_ALLOW);
static_assert(kAuditArchX86_64 == AUDIT_ARCH_X86_64 && kAuditArchAarch64 == AUDIT_ARCH_AARCH64);
static_assert(kAuditArchI386 == AUDIT_ARCH_I386 && kAuditArchArm == AUDIT_ARCH_ARM);

constexpr uint64_t kGarbage = 0xdeadbeef00000000;  // in the half of an argument that the kernel ignores

uint32_t Errno(int err) { return kSeccompErrno | static_cast<uint32_t>(err); }

struct Case {
  Architecture architecture;
  SeccompOptions options;
};

std::string NameOf(const testing::TestParamInfo<Case>& info) {
  const char* sockets[] = {"Gate", "Kernel", "Refuse"};
  return std::string(info.param.architecture == Architecture::kX86_64 ? "X86_64" : "Aarch64") +
         (info.param.options.inet ? "Inet" : "NoInet") +
         sockets[static_cast<int>(info.param.options.unix_sockets)];
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (Architecture architecture : {Architecture::kX86_64, Architecture::kAarch64}) {
    for (bool inet : {false, true}) {
      for (UnixSockets sockets : {UnixSockets::kGate, UnixSockets::kKernel, UnixSockets::kRefuse}) {
        cases.push_back({architecture, {inet, sockets}});
      }
    }
  }
  return cases;
}

class SeccompFilter : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    auto built = BuildSeccompFilter(GetParam().options, GetParam().architecture);
    ASSERT_TRUE(built.ok()) << Describe(built.error());
    program_ = std::move(built).value();
  }

  bool x86_64() const { return GetParam().architecture == Architecture::kX86_64; }
  bool inet() const { return GetParam().options.inet; }
  UnixSockets unix_sockets() const { return GetParam().options.unix_sockets; }
  uint32_t arch() const { return x86_64() ? kAuditArchX86_64 : kAuditArchAarch64; }
  uint32_t Number(const SyscallNumber& number) const { return x86_64() ? number.x86_64 : number.aarch64; }

  uint32_t Run(const SeccompData& data) const {
    std::optional<uint32_t> answer = RunBpf(program_, data);
    EXPECT_TRUE(answer.has_value());
    return answer.value_or(0xbad);
  }

  // The answer for these arguments; the same with garbage in the high halves of the first four.
  uint32_t Call(const SyscallNumber& number, std::vector<uint64_t> args) const {
    SeccompData data{Number(number), arch(), 0, {}};
    SeccompData dirty = data;
    for (size_t i = 0; i < args.size(); ++i) {
      data.args[i] = args[i];
      dirty.args[i] = args[i] | kGarbage;
    }
    EXPECT_EQ(Run(data), Run(dirty));
    return Run(data);
  }

  uint32_t Socket(uint32_t family, uint32_t type, uint32_t protocol) const {
    uint32_t plain = Call(kSys_socket, {family, type, protocol});
    EXPECT_EQ(Call(kSys_socket, {family, type | 02000000 | 04000, protocol}), plain)
        << "SOCK_CLOEXEC, SOCK_NONBLOCK";
    return plain;
  }

  std::vector<SockFilter> program_;
};

INSTANTIATE_TEST_SUITE_P(All, SeccompFilter, testing::ValuesIn(AllCases()), NameOf);

// Written out here again, independently of the filter's own lists.
const std::map<std::string, int>& AlwaysRefused() {
  static const std::map<std::string, int> table = {
      {"io_uring_setup", ENOSYS},
      {"io_uring_enter", ENOSYS},
      {"io_uring_register", ENOSYS},
      {"clone3", ENOSYS},
      {"mq_open", ENOSYS},
      {"mq_unlink", ENOSYS},
      {"keyctl", EPERM},
      {"add_key", EPERM},
      {"request_key", EPERM},
      {"bpf", EPERM},
      {"userfaultfd", EPERM},
      {"perf_event_open", EPERM},
      {"mount", EPERM},
      {"umount2", EPERM},
      {"pivot_root", EPERM},
      {"open_tree", EPERM},
      {"open_tree_attr", EPERM},
      {"move_mount", EPERM},
      {"fsopen", EPERM},
      {"fsconfig", EPERM},
      {"fsmount", EPERM},
      {"fspick", EPERM},
      {"mount_setattr", EPERM},
      {"open_by_handle_at", EPERM},
      {"init_module", EPERM},
      {"finit_module", EPERM},
      {"delete_module", EPERM},
      {"kexec_load", EPERM},
      {"kexec_file_load", EPERM},
      {"reboot", EPERM},
      {"swapon", EPERM},
      {"swapoff", EPERM},
      {"acct", EPERM},
      {"quotactl", EPERM},
      {"quotactl_fd", EPERM},
      {"iopl", EPERM},
      {"ioperm", EPERM},
  };
  return table;
}

const std::map<std::string, SyscallNumber>& Numbers() {
#define SPTY_ENTRY(name, x86_64, aarch64) {#name, {x86_64, aarch64}},
  static const std::map<std::string, SyscallNumber> table = {SPTY_SYSCALLS(SPTY_ENTRY)};
#undef SPTY_ENTRY
  return table;
}

TEST_P(SeccompFilter, AnswersEveryNumberAsTheTableSays) {
  std::map<uint32_t, uint32_t> expected;
  for (const auto& [name, err] : AlwaysRefused()) {
    ASSERT_TRUE(Numbers().contains(name)) << name;
    uint32_t number = Number(Numbers().at(name));
    if (number != kNoSyscall) expected[number] = Errno(err);
  }
  // With arguments of 0.
  expected[Number(kSys_socket)] = Errno(EAFNOSUPPORT);
  expected[Number(kSys_socketpair)] = Errno(EOPNOTSUPP);
  if (unix_sockets() == UnixSockets::kGate) {
    expected[Number(kSys_connect)] = kSeccompUserNotify;
    expected[Number(kSys_listen)] = kSeccompUserNotify;
  }
  for (uint32_t number = 471; number < 5000; ++number) expected[number] = Errno(ENOSYS);
  for (uint32_t number = 0; number < 5000; ++number) {
    uint32_t answer = expected.contains(number) ? expected[number] : kSeccompAllow;
    EXPECT_EQ(Run({number, arch(), 0, {}}), answer) << number;
  }
}

// Of oneself only: somebody else's limits end a process as a signal would.
TEST_P(SeccompFilter, LimitsOfOthersCanBeReadButNotSet) {
  const auto limits = [&](uint64_t pid, uint64_t new_limits) {
    return Run({Number(kSys_prlimit64), arch(), 0, {pid, 0, new_limits, 0x1000, 0, 0}});
  };
  EXPECT_EQ(limits(0, 0x1000), kSeccompAllow);
  EXPECT_EQ(limits(kGarbage, 0x1000), kSeccompAllow) << "the kernel sees a pid of 0";
  EXPECT_EQ(limits(1234, 0), kSeccompAllow);
  EXPECT_EQ(limits(1234, 0x1000), Errno(EPERM));
  EXPECT_EQ(limits(1234, 0x100000000), Errno(EPERM)) << "a pointer whose low half is zero";
}

TEST_P(SeccompFilter, IgnoresTheArgumentsOfWhatIsAlwaysRefused) {
  for (const auto& [name, err] : AlwaysRefused()) {
    uint32_t number = Number(Numbers().at(name));
    if (number == kNoSyscall) continue;
    for (uint64_t value : {uint64_t{1}, uint64_t{0x5412}, ~uint64_t{0}}) {
      SeccompData data{number, arch(), value, {value, value, value, value, value, value}};
      EXPECT_EQ(Run(data), Errno(err)) << name;
    }
  }
}

TEST_P(SeccompFilter, KillsForeignArchitectures) {
  uint32_t other = x86_64() ? kAuditArchAarch64 : kAuditArchX86_64;
  for (uint32_t foreign :
       {other, kAuditArchI386, kAuditArchArm, 0u, 0xffffffffu, arch() ^ 1, arch() ^ 0x40000000}) {
    for (uint32_t number : {0u, 1u, 39u, 172u, 511u, 0xffffffffu}) {
      EXPECT_EQ(Run({number, foreign, 0, {}}), kSeccompKillProcess) << std::hex << foreign << " " << number;
    }
  }
}

TEST_P(SeccompFilter, KillsX32) {
  for (uint32_t number :
       {0x40000000u, 0x40000000u + 39, 0x40000000u + 520, 0x7fffffffu, 0xc0000000u, 0xfffffffeu}) {
    EXPECT_EQ(Run({number, arch(), 0, {}}), x86_64() ? kSeccompKillProcess : Errno(ENOSYS))
        << std::hex << number;
  }
  EXPECT_EQ(Run({0x3fffffff, arch(), 0, {}}), Errno(ENOSYS));
}

TEST_P(SeccompFilter, LetsATracerSkipACall) { EXPECT_EQ(Run({0xffffffff, arch(), 0, {}}), kSeccompAllow); }

TEST_P(SeccompFilter, AllowsListedFamiliesOnly) {
  const std::set<uint32_t> special = {1, 2, 10, 16, 17};
  for (uint32_t family = 0; family < 300; ++family) {
    if (special.contains(family)) continue;
    for (uint32_t type = 0; type < 16; ++type) {
      EXPECT_EQ(Socket(family, type, 0), Errno(EAFNOSUPPORT)) << family;
    }
  }
  for (uint32_t family : {0x80000001u, 0x80000002u, 0xffffffffu, 0x10001u, 0x102u}) {
    EXPECT_EQ(Socket(family, 1, 0), Errno(EAFNOSUPPORT)) << family;
  }
  for (uint32_t type = 0; type < 16; ++type) EXPECT_EQ(Socket(17, type, 0x300), Errno(EPERM)) << "AF_PACKET";
}

TEST_P(SeccompFilter, AllowsOnlyRoutesOfNetlink) {
  for (uint32_t type : {2u, 3u}) {
    EXPECT_EQ(Socket(16, type, 0), kSeccompAllow);
    for (uint32_t protocol = 1; protocol < 64; ++protocol) {
      EXPECT_EQ(Socket(16, type, protocol), Errno(EPROTONOSUPPORT)) << protocol;
    }
    EXPECT_EQ(Socket(16, type, 0x80000000), Errno(EPROTONOSUPPORT));
  }
}

TEST_P(SeccompFilter, AllowsListedInetProtocolsOnly) {
  const std::set<uint32_t> protocols = {0, 1, 6, 17, 58};
  for (uint32_t family : {2u, 10u}) {
    for (uint32_t type = 0; type < 16; ++type) {
      for (uint32_t protocol = 0; protocol < 600; ++protocol) {
        uint32_t expected = kSeccompAllow;
        if (type == 3 || type == 10) {
          expected = Errno(EPERM);
        } else if (type != 1 && type != 2) {
          expected = Errno(ESOCKTNOSUPPORT);
        } else if (!protocols.contains(protocol)) {
          expected = Errno(EPROTONOSUPPORT);
        }
        if (!inet()) expected = Errno(EACCES);
        ASSERT_EQ(Socket(family, type, protocol), expected) << family << " " << type << " " << protocol;
      }
    }
  }
}

TEST_P(SeccompFilter, DecidesAboutUnixSocketsByType) {
  for (uint32_t type = 0; type < 16; ++type) {
    bool connected = type == 1 || type == 5;
    uint32_t by_type = connected ? kSeccompAllow : Errno(EACCES);
    bool kernel = unix_sockets() == UnixSockets::kKernel;
    bool refuse = unix_sockets() == UnixSockets::kRefuse;
    EXPECT_EQ(Socket(1, type, 0), kernel ? kSeccompAllow : refuse ? Errno(EACCES) : by_type) << type;
    EXPECT_EQ(Call(kSys_socketpair, {1, type, 0, 0}), kernel ? kSeccompAllow : by_type) << type;
    EXPECT_EQ(Call(kSys_socketpair, {1, type | 02000000 | 04000, 0, 0}), kernel ? kSeccompAllow : by_type)
        << type;
  }
}

TEST_P(SeccompFilter, MakesPairsOfUnixSocketsOnly) {
  for (uint32_t family = 0; family < 300; ++family) {
    if (family == 1) continue;
    EXPECT_EQ(Call(kSys_socketpair, {family, 1, 0, 0}), Errno(EOPNOTSUPP)) << family;
  }
}

TEST_P(SeccompFilter, AsksAboutConnectAndListenAtTheGateOnly) {
  uint32_t expected = unix_sockets() == UnixSockets::kGate ? kSeccompUserNotify : kSeccompAllow;
  EXPECT_EQ(Call(kSys_connect, {3, 4096, 110}), expected);
  EXPECT_EQ(Call(kSys_listen, {3, 128}), expected);
}

// Where two filters ask, the newer one's listener is heard: a session with one of its own would answer for
// itself as soon as the keeper is dead.
TEST_P(SeccompFilter, RefusesASecondListenerAtTheGate) {
  const uint32_t listener = unix_sockets() == UnixSockets::kGate ? Errno(EBUSY) : kSeccompAllow;
  for (uint64_t flags : {8u, 8u | 1u, 8u | 16u, 8u | 32u, 0xffffffffu}) {
    EXPECT_EQ(Call(kSys_seccomp, {1, flags, 4096}), listener) << flags;
  }
  for (uint64_t flags : {0u, 1u, 2u, 4u, ~8u}) {
    EXPECT_EQ(Call(kSys_seccomp, {1, flags, 4096}), kSeccompAllow) << "a filter without one: " << flags;
  }
  for (uint64_t operation : {0u, 2u, 3u}) {
    EXPECT_EQ(Call(kSys_seccomp, {operation, 8, 4096}), kSeccompAllow) << "asks, or needs no filter";
  }
}

TEST_P(SeccompFilter, RefusesFastOpen) {
  constexpr uint64_t kFastOpen = 0x20000000;
  constexpr uint64_t kUsual = 0x4000 | 0x40;  // MSG_NOSIGNAL | MSG_DONTWAIT
  for (uint64_t flags : {kFastOpen, kFastOpen | kUsual, uint64_t{0xffffffff}}) {
    EXPECT_EQ(Call(kSys_sendto, {3, 0, 0, flags, 0, 0}), Errno(EOPNOTSUPP));
    EXPECT_EQ(Call(kSys_sendmsg, {3, 0, flags}), Errno(EOPNOTSUPP));
    EXPECT_EQ(Call(kSys_sendmmsg, {3, 0, 1, flags}), Errno(EOPNOTSUPP));
  }
  for (uint64_t flags : {uint64_t{0}, kUsual, ~kFastOpen & 0xffffffff}) {
    EXPECT_EQ(Call(kSys_sendto, {3, kFastOpen, kFastOpen, flags, kFastOpen, kFastOpen}), kSeccompAllow);
    EXPECT_EQ(Call(kSys_sendmsg, {3, kFastOpen, flags}), kSeccompAllow);
    EXPECT_EQ(Call(kSys_sendmmsg, {3, kFastOpen, kFastOpen, flags}), kSeccompAllow);
  }
  // In the half that the kernel ignores it means nothing.
  EXPECT_EQ(Call(kSys_sendto, {3, 0, 0, kFastOpen << 32, 0, 0}), kSeccompAllow);
}

// Landlock is not asked about them.
TEST_P(SeccompFilter, RefusesToMakeAndRemoveTreesByRequest) {
  for (uint64_t request : {0x50009401u, 0x5000940eu, 0x5000940fu, 0x50009417u, 0x50009418u, 0x4008941au,
                           0x5000943fu, 0x40186f04u, 0x40806685u, 0x800c6613u, 0xc0506617u, 0xc0406618u,
                           0xc0406619u, 0x4020bc10u, 0x4020bc11u, 0xf501u,     0xf502u,     0xf503u,
                           0xf504u,     0xf505u,     0xf512u,     0xf519u}) {
    EXPECT_EQ(Call(kSys_ioctl, {0, request, 4096}), Errno(EPERM)) << std::hex << request;
    EXPECT_EQ(Call(kSys_ioctl, {0, request | uint64_t{1} << 32, 4096}), Errno(EPERM)) << std::hex << request;
  }
  // Copies of files into a descriptor, and others of the same types.
  for (uint64_t request : {0x40049409u, 0x4020940du, 0xc0189436u, 0x80086601u, 0x40086602u, 0xc020660bu,
                           0x5401u, 0x5413u, 0x8004f50cu, 0xf506u, 0xf518u})
    EXPECT_EQ(Call(kSys_ioctl, {0, request, 4096}), kSeccompAllow) << std::hex << request;
}

// They make everybody else wait, and it takes no more than a file that may be read.
TEST_P(SeccompFilter, RefusesLeases) {
  for (uint64_t command : {1024u, 1040u}) {
    for (uint64_t type : {0u, 1u, 2u}) EXPECT_EQ(Call(kSys_fcntl, {3, command, type}), Errno(EACCES));
    EXPECT_EQ(Call(kSys_fcntl, {3, command | uint64_t{1} << 32, 1}), Errno(EACCES)) << command;
    EXPECT_EQ(Call(kSys_fcntl, {command, 1, command}), kSeccompAllow) << command;
  }
  // F_DUPFD to F_SETSIG, F_GETLEASE, F_NOTIFY, F_DUPFD_CLOEXEC and so on.
  for (uint64_t command :
       {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 10u, 36u, 37u, 38u, 1025u, 1026u, 1030u, 1033u, 1039u})
    EXPECT_EQ(Call(kSys_fcntl, {3, command, 1}), kSeccompAllow) << command;
}

TEST_P(SeccompFilter, RefusesTerminalInjection) {
  for (uint64_t request : {0x5412u, 0x541cu, 0x5423u}) {
    EXPECT_EQ(Call(kSys_ioctl, {0, request, 4096}), Errno(EPERM));
    EXPECT_EQ(Call(kSys_ioctl, {0, request | uint64_t{1} << 32, 4096}), Errno(EPERM));
    for (uint64_t near : {request - 1, request + 1, request | 0x10000, request | 0x80000000, request << 32}) {
      EXPECT_EQ(Call(kSys_ioctl, {request, near, request}), kSeccompAllow) << std::hex << near;
    }
  }
}

TEST_P(SeccompFilter, LetsLimitsBeSetForOneselfOnly) {
  const auto answer = [&](uint64_t pid, uint64_t new_limit) {
    return Run({Number(kSys_prlimit64), arch(), 0, {pid, 7, new_limit, 0, 0, 0}});
  };
  constexpr uint64_t kHigh = uint64_t{1} << 32;
  EXPECT_EQ(answer(0, 0x1000), kSeccompAllow);
  EXPECT_EQ(answer(kHigh, 0x1000), kSeccompAllow);  // the kernel sees 0, too
  EXPECT_EQ(answer(42, 0), kSeccompAllow);          // only asks
  EXPECT_EQ(answer(42, 0x1000), Errno(EPERM));
  EXPECT_EQ(answer(42, kHigh), Errno(EPERM));
  EXPECT_EQ(answer(42 | kHigh, 0x1000), Errno(EPERM));
}

// Calls that must not depend on arguments come out of the kernel's bitmap, which it can make only if the way
// to "allow" does not load an argument.
TEST_P(SeccompFilter, DecidesAboutMostCallsWithoutTheirArguments) {
  SeccompData data{x86_64() ? 0u : 63u, arch(), 0, {}};  // read
  std::vector<SockFilter> without = program_;
  for (SockFilter& instruction : without) {
    if (instruction.code == kBpfLoadWord && instruction.k >= offsetof(SeccompData, instruction_pointer)) {
      instruction.code = 0xffff;
    }
  }
  EXPECT_EQ(RunBpf(without, data), kSeccompAllow);
}

TEST_P(SeccompFilter, GivesRandomCallsAnAnswerOfTheTable) {
  std::set<uint32_t> allowed = {kSeccompAllow, kSeccompKillProcess};
  for (int err : {EPERM, EACCES, ENOSYS, EAFNOSUPPORT, EPROTONOSUPPORT, EOPNOTSUPP, ESOCKTNOSUPPORT}) {
    allowed.insert(Errno(err));
  }
  if (unix_sockets() == UnixSockets::kGate) allowed.insert({kSeccompUserNotify, Errno(EBUSY)});
  std::mt19937_64 random(1);
  std::vector<uint32_t> interesting;
  for (const auto& [name, number] : Numbers()) interesting.push_back(Number(number));
  for (int i = 0; i < 100000; ++i) {
    SeccompData data{};
    uint64_t dice = random();
    data.arch = dice % 16 == 0 ? static_cast<uint32_t>(random()) : arch();
    data.nr = dice % 3 == 0 ? static_cast<uint32_t>(random()) : interesting[random() % interesting.size()];
    if (dice % 3 == 1) data.nr = static_cast<uint32_t>(random() % 600);
    data.instruction_pointer = random();
    for (uint64_t& arg : data.args) arg = random() % 2 == 0 ? random() : random() % 20;
    std::optional<uint32_t> answer = RunBpf(program_, data);
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(allowed.contains(*answer)) << std::hex << *answer;
    ASSERT_TRUE(data.arch == arch() || *answer == kSeccompKillProcess);
  }
}

TEST(NativeArchitecture, IsThatOfTheCompiler) {
#if defined(__x86_64__)
  EXPECT_EQ(NativeArchitecture(), Architecture::kX86_64);
#elif defined(__aarch64__)
  EXPECT_EQ(NativeArchitecture(), Architecture::kAarch64);
#else
  EXPECT_EQ(NativeArchitecture(), std::nullopt);
#endif
}

}  // namespace
}  // namespace spty
