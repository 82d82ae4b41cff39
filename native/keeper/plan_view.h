// The keeper's reading of a plan: pointers into the received bytes, nothing copied, everything checked.
// Used in a program without exceptions, heap or C++ runtime library.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "keeper/around.h"
#include "keeper/wire.h"

namespace spty {

struct PlanView {
  uint64_t signal_mask = 0;
  bool started_means_running = false;
  bool set_ids = false;
  bool set_groups = false;
  uint32_t uid = 0;
  uint32_t gid = 0;
  const uint32_t* groups = nullptr;
  uint32_t group_count = 0;
  const char* cwd = nullptr;
  const char* temp_dir = nullptr;  // "" if there is none
  char** candidates = nullptr;     // null-terminated, at least one
  // script_argv[0] and [1] are for a program without a "#!" line: {"/bin/sh", path, argv[1]...}. argv
  // overlaps it: argv == script_argv + 1, so that writing the path into argv[0]'s slot is all it takes.
  char** script_argv = nullptr;
  char** argv = nullptr;
  char** env = nullptr;
  uint32_t candidate_count = 0;

  uint32_t stdio = 0;  // bit n: descriptor n is not the slave

  bool cgroup = false;
  bool cgroup_kill = false;
  const char* cgroup_name = nullptr;

  const char* profile = nullptr;  // for Seatbelt; "" if there is none
  const char* mark = nullptr;     // the session's directory; "" if there is none

  bool confined = false;
  bool inner_domain = false;
  bool outer_domain = false;
  const void* filter = nullptr;  // struct sock_filter[filter_count], aligned
  uint32_t filter_count = 0;
  bool gate = false;
  bool gate_inet = false;
  char** gate_directories = nullptr;  // null-terminated
  char** gate_sockets = nullptr;      // null-terminated
  char** gate_closed = nullptr;       // null-terminated
};

// How many char* the pointer tables of a plan with these counts take.
size_t PlanPointerCount(const wire::PlanFixed& fixed);

// Decodes `bytes` (writable: argv and env point into it). `pointers` has room for `pointer_capacity` entries.
// Returns 0 or an errno: EPROTO for anything malformed, EMSGSIZE if the tables do not fit.
int DecodePlan(char* bytes, size_t size, char** pointers, size_t pointer_capacity, PlanView* view);

// Decodes what is to be known of a directory with something protected in it, in place; `holes` has `room` for
// some. 0 or EPROTO. The descriptor is not in there.
int DecodeAround(char* bytes, size_t size, ProtectedPlace* holes, size_t room, Around* around);

// Decodes a reservation; the strings are in `bytes`. 0 or EPROTO.
int DecodeReservation(char* bytes, size_t size, const char** temp_dir, const char** cgroup_name);

}  // namespace spty
