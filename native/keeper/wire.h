// What travels over the control socket between the host and its keeper.
//
// A stream socket carries frames: a Header, then `length` bytes. Both ends are built together and always run
// on one machine, so integers are in host order; `version` catches an addon that finds a foreign keeper
// beside it. The plan is the only long frame. Its strings are length-prefixed *and* NUL-terminated, so that
// the keeper can use them where they lie and never copies one.
//
// host -> keeper: kReserve and kAround, as many as are kept, kPlan (with the PTY slave and what else it
// speaks of by SCM_RIGHTS), then any number of kSignal; EOF ends the session. keeper -> host: kWorking from
// time to time while rules are made; kStarted as soon as there is a child, or only once its program runs (as
// the plan asks); kFailed instead, or after it; then kExited, and last of all kDone.
//
// Instead of a plan the host may send kProbe: the keeper tries what the kernel offers and answers kFeatures.
#pragma once

#include <stdint.h>

#include "base/stage.h"

namespace spty::wire {

inline constexpr uint32_t kMagic = 0x59545053;  // "SPTY"
inline constexpr uint16_t kVersion = 9;

// Above anything execve(2) would accept (arguments and environment together: at most 6 MiB on Linux).
inline constexpr uint32_t kMaxPlanBytes = 16U << 20;
inline constexpr uint32_t kMaxStrings = 1U << 20;
inline constexpr uint32_t kMaxGroups = 65536;  // NGROUPS_MAX
inline constexpr uint32_t kMaxFilter = 4096;   // BPF_MAXINSNS
inline constexpr uint32_t kMaxPlanFds = 10;    // see PlanFixed
inline constexpr uint32_t kMaxArounds = 256;   // with a descriptor each; together not larger than a plan

inline constexpr char kKeeperName[] = "sandboxed-pty-keeper";  // its argv[0]
inline constexpr int kControlFd = 3;                           // where the keeper finds its end

enum class Type : uint16_t {
  kPlan = 1,
  kSignal = 2,
  kProbe = 3,
  kReserve = 4,
  kAround = 5,
  kStarted = 16,
  kFailed = 17,
  kExited = 18,
  kFeatures = 19,
  kDone = 20,
  kEmptied = 21,
  kWorking = 22,  // no payload: this takes long, but goes on
};

struct Header {
  uint32_t magic;
  uint16_t version;
  Type type;
  uint32_t length;
  uint32_t fd_count;
};
static_assert(sizeof(Header) == 16);

// A plan's payload, in this order:
//   PlanFixed, u64 filter[filter_count], u32 groups[group_count],
//   cwd, temp_dir, cgroup_name, profile, mark, candidates[], argv[], env[], gate_directories[],
//   gate_sockets[], gate_closed[]
// where each string is u32 length, bytes, one NUL, and each filter word is one struct sock_filter.
struct PlanFixed {
  uint64_t signal_mask;            // bit n-1 = signal n blocked in the shell, as it was in the calling thread
  uint32_t started_means_running;  // 1: kStarted is sent when exec has succeeded, not before
  uint32_t confined;               // 1: no_new_privs, no capabilities, and what follows
  // The descriptors: the slave, then as far as these say: the shell's Landlock ruleset, the keeper's own; the
  // session's cgroup, its cgroup.events and the directory that it lies in; its cgroup.kill; the ones that
  // the shell gets in place of the slave.
  uint32_t inner_domain;
  uint32_t outer_domain;
  uint32_t cgroup;
  uint32_t cgroup_kill;
  uint32_t filter_count;  // instructions of the seccomp filter; 0: none
  uint32_t gate;          // 1: the filter has a listener, which the keeper answers
  uint32_t gate_inet;     // 1: inet sockets may connect
  uint32_t gate_directory_count;
  uint32_t gate_socket_count;
  uint32_t gate_closed_count;
  uint32_t set_ids;     // 1: groups, gid and uid below are to be set
  uint32_t set_groups;  // 1: the supplementary groups too (needs privilege)
  uint32_t uid;
  uint32_t gid;
  uint32_t group_count;
  uint32_t candidate_count;
  uint32_t argument_count;
  uint32_t env_count;
  uint32_t stdio;  // bit n: descriptor n of the shell comes with the plan; else it is the slave
  uint32_t unused;
};
static_assert(sizeof(PlanFixed) == 96);

// A reservation's payload is two such strings, temp_dir and cgroup_name, either may be empty; with a name
// comes the directory of the cgroup. The host sends it before it makes them, so that whenever it dies
// somebody knows.
inline constexpr uint32_t kMaxReservation = 8192;

// A granted directory with something protected in it: kAround, with the directory. The keeper completes the
// plan's ruleset for the shell when it has the plan (keeper/around.h). Its payload is an AroundFixed, an
// AroundHole for each place that is protected, then strings as in a plan: the directory's canonical path, and
// those of the places, which lie below it, in the order of ComparePlaces.
enum AroundRight : uint32_t { kAsGranted = 0, kForReading = 2, kOfKernel = 4, kAroundRights = 6 };
struct AroundFixed {
  uint64_t rights[kAroundRights];  // each for the directories in it and, one further, for all else
  uint32_t hole_count;
  uint32_t unused;
};
static_assert(sizeof(AroundFixed) == 56);
// What the host knows of a place. Those that were there have to be met as what they were.
enum HoleState : uint32_t {
  kByName = 0,       // whatever there is
  kWasThere = 1,     // this file
  kWasOnlyThere = 2  // this file, which must not be granted under another name
};
struct AroundHole {
  uint64_t device;
  uint64_t inode;
  HoleState state;
  uint32_t read_only;  // 1: no writing; 0: no reading either
};
static_assert(sizeof(AroundHole) == 24);

struct Signal {
  int32_t number;
};

struct Started {
  int32_t pid;
  uint32_t scoped;  // 1: proven, kill(-1) from the keeper reaches the session and nobody else
};

struct Failed {
  Stage stage;
  uint16_t reserved;
  int32_t err;
  uint32_t candidate;  // for kExec: which of the candidates the error is about
  // What a library said (kSeatbelt), or where it was (kConfinement: a path, of a long one the end behind
  // "..."); ends with a NUL.
  char text[500];
};
static_assert(sizeof(Failed) == 512);

// What this kernel lets a process of this user do; each an errno, 0 if it works.
struct Features {
  int32_t landlock_abi;  // 0: none
  int32_t landlock_errata;
  int32_t landlock_err;  // why there is none
  int32_t seccomp_err;   // a filter
  int32_t notify_err;    // a filter with a listener, and reading from its callers
  int32_t diag_err;      // asking the kernel who listens on a UNIX socket
  int32_t seatbelt;      // 1: this kernel has Seatbelt, and no Landlock
  int32_t seatbelt_err;  // a profile that restricts nothing
};
static_assert(sizeof(Features) == 32);

// How the keeper ended the session: nobody is left. It comes twice if there are files to be removed: as
// kEmptied before that, which may take long, and as kDone when all is over.
struct Done {
  uint32_t rounds;
  uint32_t reaped;      // processes that ended while it did so
  uint32_t mechanisms;  // Mechanism, or'ed
  int32_t clean_err;    // of the first thing that could not be removed (temporary directory, cgroup), or 0
};
static_assert(sizeof(Done) == 16);

enum Mechanism : uint32_t { kByCgroup = 1, kByScope = 2, kByWalk = 4, kByMark = 8 };

struct Exited {
  int32_t code;
  int32_t signal;  // 0 after a normal exit
};

}  // namespace spty::wire
