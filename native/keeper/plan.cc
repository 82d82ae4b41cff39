#include "keeper/plan.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "keeper/place_order.h"
#include "keeper/wire.h"

namespace spty {
namespace {

void AppendBytes(std::string* out, const void* data, size_t size) {
  out->append(static_cast<const char*>(data), size);
}

Result<void> AppendString(std::string* out, const std::string& text) {
  if (text.size() >= wire::kMaxPlanBytes) return Error{Stage::kPlan, E2BIG, ""};
  if (text.find('\0') != std::string::npos) return Error{Stage::kPlan, EINVAL, "a string with a NUL byte"};
  auto length = static_cast<uint32_t>(text.size());
  AppendBytes(out, &length, sizeof length);
  AppendBytes(out, text.c_str(), text.size() + 1);
  return {};
}

Result<void> AppendStrings(std::string* out, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) TRY(AppendString(out, text));
  return {};
}

size_t EncodedSize(const std::vector<std::string>& texts) {
  size_t size = 0;
  for (const std::string& text : texts) size += text.size() + sizeof(uint32_t) + 1;
  return size;
}

}  // namespace

Result<std::string> EncodeReservation(const Reservation& reservation) {
  std::string out;
  TRY(AppendString(&out, reservation.temp_dir));
  TRY(AppendString(&out, reservation.cgroup_name));
  if (out.size() > wire::kMaxReservation) return Error{Stage::kPlan, E2BIG, ""};
  return out;
}

Result<std::string> EncodeAround(const RulesAround& around) {
  wire::AroundFixed fixed{};
  static_assert(sizeof fixed.rights == sizeof around.rights);
  memcpy(fixed.rights, around.rights, sizeof fixed.rights);
  if (around.holes.size() > wire::kMaxStrings) return Error{Stage::kPlan, E2BIG, ""};
  fixed.hole_count = static_cast<uint32_t>(around.holes.size());
  std::vector<const RulesAround::Hole*> order;
  order.reserve(around.holes.size());
  for (const RulesAround::Hole& hole : around.holes) order.push_back(&hole);
  std::ranges::sort(order, [](const RulesAround::Hole* a, const RulesAround::Hole* b) {
    return ComparePlaces(a->path.c_str(), b->path.c_str()) < 0;
  });
  std::string out;
  AppendBytes(&out, &fixed, sizeof fixed);
  for (const RulesAround::Hole* hole : order) AppendBytes(&out, &hole->what, sizeof hole->what);
  TRY(AppendString(&out, around.path));
  for (const RulesAround::Hole* hole : order) TRY(AppendString(&out, hole->path));
  if (out.size() > wire::kMaxPlanBytes) return Error{Stage::kPlan, E2BIG, ""};
  return out;
}

Result<std::string> EncodePlan(const Plan& plan) {
  if (plan.candidates.empty() || plan.argv.empty()) return Error{Stage::kPlan, EINVAL, "nothing to execute"};
  if (plan.candidates.size() > wire::kMaxStrings || plan.argv.size() > wire::kMaxStrings ||
      plan.env.size() > wire::kMaxStrings || plan.identity.groups.size() > wire::kMaxGroups ||
      plan.gate_directories.size() > wire::kMaxStrings || plan.gate_sockets.size() > wire::kMaxStrings ||
      plan.gate_closed.size() > wire::kMaxStrings || plan.filter.size() > wire::kMaxFilter) {
    return Error{Stage::kPlan, E2BIG, ""};
  }
  wire::PlanFixed fixed{};
  fixed.signal_mask = plan.signal_mask;
  fixed.started_means_running = plan.started_means_running ? 1 : 0;
  fixed.candidate_count = static_cast<uint32_t>(plan.candidates.size());
  fixed.argument_count = static_cast<uint32_t>(plan.argv.size());
  fixed.env_count = static_cast<uint32_t>(plan.env.size());
  if (plan.set_ids) {
    fixed.set_ids = 1;
    fixed.set_groups = plan.identity.set_groups ? 1 : 0;
    fixed.uid = plan.identity.uid;
    fixed.gid = plan.identity.gid;
    fixed.group_count = static_cast<uint32_t>(plan.identity.groups.size());
  }
  fixed.stdio = plan.stdio;
  fixed.cgroup = plan.cgroup ? 1 : 0;
  fixed.cgroup_kill = plan.cgroup && plan.cgroup_kill ? 1 : 0;
  if (plan.confined) {
    fixed.confined = 1;
    fixed.inner_domain = plan.inner_domain ? 1 : 0;
    fixed.outer_domain = plan.outer_domain ? 1 : 0;
    fixed.filter_count = static_cast<uint32_t>(plan.filter.size());
    fixed.gate = plan.gate ? 1 : 0;
    fixed.gate_inet = plan.gate_inet ? 1 : 0;
    fixed.gate_directory_count = static_cast<uint32_t>(plan.gate_directories.size());
    fixed.gate_socket_count = static_cast<uint32_t>(plan.gate_sockets.size());
    fixed.gate_closed_count = static_cast<uint32_t>(plan.gate_closed.size());
  }
  std::string out;
  out.reserve(sizeof fixed + fixed.filter_count * sizeof(uint64_t) + fixed.group_count * sizeof(uint32_t) +
              plan.cwd.size() + plan.temp_dir.size() + plan.profile.size() + plan.mark.size() + 32 +
              EncodedSize(plan.candidates) + EncodedSize(plan.argv) + EncodedSize(plan.env) +
              EncodedSize(plan.gate_directories) + EncodedSize(plan.gate_sockets) +
              EncodedSize(plan.gate_closed));
  AppendBytes(&out, &fixed, sizeof fixed);
  AppendBytes(&out, plan.filter.data(), fixed.filter_count * sizeof(uint64_t));
  AppendBytes(&out, plan.identity.groups.data(), fixed.group_count * sizeof(uint32_t));
  TRY(AppendString(&out, plan.cwd));
  TRY(AppendString(&out, plan.temp_dir));
  TRY(AppendString(&out, plan.cgroup_name));
  TRY(AppendString(&out, plan.profile));
  TRY(AppendString(&out, plan.mark));
  TRY(AppendStrings(&out, plan.candidates));
  TRY(AppendStrings(&out, plan.argv));
  TRY(AppendStrings(&out, plan.env));
  if (plan.confined) {
    TRY(AppendStrings(&out, plan.gate_directories));
    TRY(AppendStrings(&out, plan.gate_sockets));
    TRY(AppendStrings(&out, plan.gate_closed));
  }
  if (out.size() > wire::kMaxPlanBytes) return Error{Stage::kPlan, E2BIG, ""};
  return out;
}

}  // namespace spty
