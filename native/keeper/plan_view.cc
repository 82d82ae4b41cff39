#include "keeper/plan_view.h"

#include <errno.h>
#include <string.h>

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

}  // namespace

size_t PlanPointerCount(const wire::PlanFixed& fixed) {
  // Three terminators and the extra slot in front of argv.
  return size_t{fixed.candidate_count} + fixed.argument_count + fixed.env_count + 4;
}

int DecodePlan(char* bytes, size_t size, char** pointers, size_t pointer_capacity, PlanView* view) {
  Cursor cursor(bytes, size);
  wire::PlanFixed fixed;
  if (!cursor.Copy(&fixed, sizeof fixed)) return EPROTO;
  if (fixed.candidate_count == 0 || fixed.candidate_count > wire::kMaxStrings) return EPROTO;
  if (fixed.argument_count == 0 || fixed.argument_count > wire::kMaxStrings) return EPROTO;
  if (fixed.env_count > wire::kMaxStrings || fixed.group_count > wire::kMaxGroups) return EPROTO;
  if (fixed.set_ids > 1 || fixed.set_groups > fixed.set_ids) return EPROTO;
  if (PlanPointerCount(fixed) > pointer_capacity) return EMSGSIZE;

  view->signal_mask = fixed.signal_mask;
  view->set_ids = fixed.set_ids == 1;
  view->set_groups = fixed.set_groups == 1;
  view->uid = fixed.uid;
  view->gid = fixed.gid;
  view->group_count = fixed.group_count;
  view->candidate_count = fixed.candidate_count;
  view->groups = cursor.Words(fixed.group_count);
  if (view->groups == nullptr) return EPROTO;
  view->cwd = cursor.String();
  if (view->cwd == nullptr) return EPROTO;

  view->candidates = pointers;
  view->script_argv = view->candidates + fixed.candidate_count + 1;
  view->argv = view->script_argv + 1;
  view->env = view->argv + fixed.argument_count + 1;
  view->script_argv[0] = nullptr;
  if (!Strings(&cursor, view->candidates, fixed.candidate_count)) return EPROTO;
  if (!Strings(&cursor, view->argv, fixed.argument_count)) return EPROTO;
  if (!Strings(&cursor, view->env, fixed.env_count)) return EPROTO;
  return cursor.AtEnd() ? 0 : EPROTO;
}

}  // namespace spty
