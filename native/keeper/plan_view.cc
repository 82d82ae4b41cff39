#include "keeper/plan_view.h"

#include <errno.h>
#include <string.h>

#include "keeper/place_order.h"

namespace spty {
namespace {

class Cursor {
 public:
  Cursor(char* bytes, size_t size) : at_(bytes), left_(size) {}

  bool Copy(void* into, size_t size) {
    if (size > left_) return false;
    memcpy(into, at_, size);
    Advance(size);
    return true;
  }

  // A string that is exactly as long as it says: terminated, and without a NUL inside.
  char* String() {
    uint32_t length = 0;
    if (!Copy(&length, sizeof length) || length >= left_) return nullptr;
    char* text = at_;
    if (text[length] != '\0' || memchr(text, '\0', length) != nullptr) return nullptr;
    Advance(size_t{length} + 1);
    return text;
  }

  const uint32_t* Words(uint32_t count) {
    size_t size = size_t{count} * sizeof(uint32_t);
    if (size > left_) return nullptr;
    auto* words = reinterpret_cast<const uint32_t*>(at_);
    Advance(size);
    return words;
  }

  // Aligned as long as it comes right after the fixed part, whose size is a multiple of eight.
  const void* Filter(uint32_t count) {
    size_t size = size_t{count} * sizeof(uint64_t);
    if (size > left_) return nullptr;
    const void* filter = at_;
    Advance(size);
    return filter;
  }

  bool AtEnd() const { return left_ == 0; }

 private:
  void Advance(size_t size) {
    at_ += size;
    left_ -= size;
  }
  char* at_;
  size_t left_;
};

// Fills table[0..count) and a terminating null; false if a string is malformed.
bool Strings(Cursor* cursor, char** table, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    table[i] = cursor->String();
    if (table[i] == nullptr) return false;
  }
  table[count] = nullptr;
  return true;
}

// Flags that are flags, and nothing asked of the kernel for a session that is not confined.
bool Sensible(const wire::PlanFixed& fixed) {
  if (fixed.started_means_running > 1) return false;
  if (fixed.set_ids > 1 || fixed.set_groups > fixed.set_ids || fixed.confined > 1) return false;
  if (fixed.inner_domain > fixed.confined || fixed.outer_domain > fixed.confined) return false;
  if (fixed.stdio > 7) return false;
  if (fixed.cgroup > 1 || fixed.cgroup_kill > fixed.cgroup) return false;
  if (fixed.gate > fixed.confined || fixed.gate_inet > fixed.gate) return false;
  const uint32_t of_confined =
      fixed.filter_count | fixed.gate_directory_count | fixed.gate_socket_count | fixed.gate_closed_count;
  if (fixed.confined == 0 && of_confined != 0) return false;
  return fixed.gate == 0 || fixed.filter_count > 0;
}

bool WithinLimits(const wire::PlanFixed& fixed) {
  return fixed.candidate_count > 0 && fixed.candidate_count <= wire::kMaxStrings &&
         fixed.argument_count > 0 && fixed.argument_count <= wire::kMaxStrings &&
         fixed.env_count <= wire::kMaxStrings && fixed.group_count <= wire::kMaxGroups &&
         fixed.filter_count <= wire::kMaxFilter && fixed.gate_directory_count <= wire::kMaxStrings &&
         fixed.gate_socket_count <= wire::kMaxStrings && fixed.gate_closed_count <= wire::kMaxStrings;
}

bool IsBelow(const char* path, const char* directory) {
  const size_t length = strlen(directory);
  if (strncmp(path, directory, length) != 0) return false;
  const char* rest = path + length;
  if (directory[length - 1] != '/' && *rest++ != '/') return false;
  return *rest != '\0';
}

}  // namespace

size_t PlanPointerCount(const wire::PlanFixed& fixed) {
  // Six terminators and the extra slot in front of argv.
  return size_t{fixed.candidate_count} + fixed.argument_count + fixed.env_count + fixed.gate_directory_count +
         fixed.gate_socket_count + fixed.gate_closed_count + 7;
}

int DecodeReservation(char* bytes, size_t size, const char** temp_dir, const char** cgroup_name) {
  Cursor cursor(bytes, size);
  *temp_dir = cursor.String();
  *cgroup_name = cursor.String();
  return *temp_dir != nullptr && *cgroup_name != nullptr && cursor.AtEnd() ? 0 : EPROTO;
}

int DecodeAround(char* bytes, size_t size, ProtectedPlace* holes, size_t room, Around* around) {
  Cursor cursor(bytes, size);
  wire::AroundFixed fixed;
  if (!cursor.Copy(&fixed, sizeof fixed) || fixed.hole_count > room) return EPROTO;
  memcpy(around->rights, fixed.rights, sizeof fixed.rights);
  around->holes = holes;
  around->hole_count = fixed.hole_count;
  for (uint32_t i = 0; i < fixed.hole_count; ++i) {
    wire::AroundHole what;
    if (!cursor.Copy(&what, sizeof what) || what.state > wire::kWasOnlyThere || what.read_only > 1)
      return EPROTO;
    holes[i] = {nullptr, what, false};
  }
  around->path = cursor.String();
  if (around->path == nullptr || around->path[0] != '/') return EPROTO;
  for (uint32_t i = 0; i < fixed.hole_count; ++i) {
    holes[i].path = cursor.String();
    if (holes[i].path == nullptr || !IsBelow(holes[i].path, around->path)) return EPROTO;
    if (i > 0 && ComparePlaces(holes[i - 1].path, holes[i].path) > 0) return EPROTO;
  }
  return cursor.AtEnd() ? 0 : EPROTO;
}

int DecodePlan(char* bytes, size_t size, char** pointers, size_t pointer_capacity, PlanView* view) {
  Cursor cursor(bytes, size);
  wire::PlanFixed fixed;
  if (!cursor.Copy(&fixed, sizeof fixed)) return EPROTO;
  if (!WithinLimits(fixed) || !Sensible(fixed)) return EPROTO;
  if (PlanPointerCount(fixed) > pointer_capacity) return EMSGSIZE;

  view->signal_mask = fixed.signal_mask;
  view->started_means_running = fixed.started_means_running == 1;
  view->set_ids = fixed.set_ids == 1;
  view->set_groups = fixed.set_groups == 1;
  view->uid = fixed.uid;
  view->gid = fixed.gid;
  view->group_count = fixed.group_count;
  view->candidate_count = fixed.candidate_count;
  view->stdio = fixed.stdio;
  view->cgroup = fixed.cgroup == 1;
  view->cgroup_kill = fixed.cgroup_kill == 1;
  view->confined = fixed.confined == 1;
  view->inner_domain = fixed.inner_domain == 1;
  view->outer_domain = fixed.outer_domain == 1;
  view->filter_count = fixed.filter_count;
  view->gate = fixed.gate == 1;
  view->gate_inet = fixed.gate_inet == 1;
  view->filter = cursor.Filter(fixed.filter_count);
  if (view->filter == nullptr) return EPROTO;
  view->groups = cursor.Words(fixed.group_count);
  if (view->groups == nullptr) return EPROTO;
  view->cwd = cursor.String();
  view->temp_dir = cursor.String();
  view->cgroup_name = cursor.String();
  view->profile = cursor.String();
  view->mark = cursor.String();
  if (view->cwd == nullptr || view->temp_dir == nullptr || view->cgroup_name == nullptr ||
      view->profile == nullptr || view->mark == nullptr) {
    return EPROTO;
  }

  view->candidates = pointers;
  view->script_argv = view->candidates + fixed.candidate_count + 1;
  view->argv = view->script_argv + 1;
  view->env = view->argv + fixed.argument_count + 1;
  view->gate_directories = view->env + fixed.env_count + 1;
  view->gate_sockets = view->gate_directories + fixed.gate_directory_count + 1;
  view->gate_closed = view->gate_sockets + fixed.gate_socket_count + 1;
  view->script_argv[0] = nullptr;
  if (!Strings(&cursor, view->candidates, fixed.candidate_count)) return EPROTO;
  if (!Strings(&cursor, view->argv, fixed.argument_count)) return EPROTO;
  if (!Strings(&cursor, view->env, fixed.env_count)) return EPROTO;
  if (!Strings(&cursor, view->gate_directories, fixed.gate_directory_count)) return EPROTO;
  if (!Strings(&cursor, view->gate_sockets, fixed.gate_socket_count)) return EPROTO;
  if (!Strings(&cursor, view->gate_closed, fixed.gate_closed_count)) return EPROTO;
  return cursor.AtEnd() ? 0 : EPROTO;
}

}  // namespace spty
