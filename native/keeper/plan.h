// The plan as the host writes it: everything the keeper and the child need, complete before any process
// exists.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "keeper/wire.h"

namespace spty {

struct Identity {
  uint32_t uid = 0;
  uint32_t gid = 0;
  bool set_groups = false;
  std::vector<uint32_t> groups;
};

struct Plan {
  uint64_t signal_mask = 0;
  bool started_means_running = true;
  bool set_ids = false;
  Identity identity;  // read only if set_ids
  std::string cwd;
  std::string temp_dir;                 // removed by the keeper when the session is over; empty: none
  std::vector<std::string> candidates;  // paths to try in order, at least one
  std::vector<std::string> argv;        // at least argv[0]
  std::vector<std::string> env;         // NAME=value

  // Bit n: the shell's descriptor n (0, 1 or 2) comes with the plan; else it is the terminal.
  uint32_t stdio = 0;

  // The session's cgroup, whose descriptors come with the plan.
  bool cgroup = false;
  bool cgroup_kill = false;
  std::string cgroup_name;

  // macOS: the Seatbelt profile of the shell, and the directory by which the session's processes are told.
  std::string profile;
  std::string mark;

  // What follows is read only if `confined`.
  bool confined = false;
  bool inner_domain = false;
  bool outer_domain = false;
  std::vector<uint64_t> filter;  // struct sock_filter, as bytes
  bool gate = false;
  bool gate_inet = false;
  std::vector<std::string> gate_directories;
  std::vector<std::string> gate_sockets;
  std::vector<std::string> gate_closed;
};

// A grant with something protected in it: what is to be told about it (keeper/around.h).
struct RulesAround {
  int directory = -1;  // lent
  std::string path;
  uint64_t rights[wire::kAroundRights] = {};
  struct Hole {
    std::string path;
    wire::AroundHole what{};
  };
  std::vector<Hole> holes;  // below it, in any order
};

// What is about to be made for a session that has no plan yet.
struct Reservation {
  std::string temp_dir;
  std::string cgroup_name;
};

// The bytes of a kReserve frame's payload. Fails like EncodePlan.
Result<std::string> EncodeReservation(const Reservation& reservation);

// The same of a kAround frame's.
Result<std::string> EncodeAround(const RulesAround& around);

// The bytes of a kPlan frame's payload. Fails with {plan, E2BIG} if it is larger than a keeper accepts and
// with {plan, EINVAL} for a string with a NUL byte or an empty candidate or argument list.
Result<std::string> EncodePlan(const Plan& plan);

}  // namespace spty
