#include "keeper/plan_view.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <random>

#include "keeper/plan.h"

namespace spty {
namespace {

Plan RichPlan() {
  Plan plan;
  plan.signal_mask = 0x123456789abcdef0;
  plan.set_ids = true;
  plan.identity = Identity{1000, 1001, true, {1001, 27, 4}};
  plan.cwd = "/home/somebody";
  plan.candidates = {"/usr/local/bin/tool", "/usr/bin/tool", "/bin/tool"};
  plan.argv = {"tool", "", "-x", "\xc3\xa4 \xff"};
  plan.env = {"HOME=/home/somebody", "EMPTY=", "=odd"};
  plan.temp_dir = "/tmp/of-its-own";
  plan.stdio = 5;
  plan.cgroup = true;
  plan.cgroup_kill = true;
  plan.cgroup_name = "leaf";
  plan.profile = "(version 1)";
  plan.mark = "/tmp/mark";
  plan.confined = true;
  plan.inner_domain = true;
  plan.outer_domain = true;
  plan.filter = {0x123456789abcdef0, 0xfedcba9876543210};
  plan.gate = true;
  plan.gate_inet = true;
  plan.gate_directories = {"/project", "/tmp/of-its-own"};
  plan.gate_sockets = {"/run/agent"};
  plan.gate_closed = {"/project/keys"};
  return plan;
}

std::string Encoded(const Plan& plan) {
  auto encoded = EncodePlan(plan);
  EXPECT_TRUE(encoded.ok());
  return encoded.value();
}

// Bytes and tables in blocks of exactly their size, so that a sanitizer sees every step beside them.
struct Decoded {
  explicit Decoded(const std::string& from, size_t spare_pointers = 0) : bytes(new char[from.size()]) {
    memcpy(bytes.get(), from.data(), from.size());
    wire::PlanFixed fixed{};
    if (from.size() >= sizeof fixed) memcpy(&fixed, from.data(), sizeof fixed);
    size_t capacity = std::min<size_t>(PlanPointerCount(fixed), size_t{1} << 16) + spare_pointers;
    pointers.reset(new char*[capacity]);
    err = DecodePlan(bytes.get(), from.size(), pointers.get(), capacity, &view);
  }

  std::unique_ptr<char[]> bytes;
  std::unique_ptr<char*[]> pointers;
  PlanView view;
  int err;
};

std::vector<std::string> Strings(char* const* table) {
  std::vector<std::string> strings;
  for (; *table != nullptr; ++table) strings.emplace_back(*table);
  return strings;
}

void ExpectSame(const PlanView& view, const Plan& plan) {
  EXPECT_EQ(view.signal_mask, plan.signal_mask);
  EXPECT_EQ(view.set_ids, plan.set_ids);
  EXPECT_STREQ(view.cwd, plan.cwd.c_str());
  EXPECT_EQ(Strings(view.candidates), plan.candidates);
  EXPECT_EQ(view.candidate_count, plan.candidates.size());
  EXPECT_EQ(Strings(view.argv), plan.argv);
  EXPECT_EQ(Strings(view.env), plan.env);
  EXPECT_EQ(view.argv, view.script_argv + 1);
  EXPECT_STREQ(view.temp_dir, plan.temp_dir.c_str());
  EXPECT_EQ(view.stdio, plan.stdio);
  EXPECT_EQ(view.cgroup, plan.cgroup);
  EXPECT_EQ(view.cgroup_kill, plan.cgroup_kill);
  EXPECT_STREQ(view.cgroup_name, plan.cgroup_name.c_str());
  EXPECT_STREQ(view.profile, plan.profile.c_str());
  EXPECT_STREQ(view.mark, plan.mark.c_str());
  EXPECT_EQ(view.confined, plan.confined);
  EXPECT_EQ(view.inner_domain, plan.inner_domain);
  EXPECT_EQ(view.outer_domain, plan.outer_domain);
  EXPECT_EQ(view.gate, plan.gate);
  EXPECT_EQ(view.gate_inet, plan.gate_inet);
  EXPECT_EQ(Strings(view.gate_directories), plan.gate_directories);
  EXPECT_EQ(Strings(view.gate_sockets), plan.gate_sockets);
  EXPECT_EQ(Strings(view.gate_closed), plan.gate_closed);
  ASSERT_EQ(view.filter_count, plan.filter.size());
  std::vector<uint64_t> filter(view.filter_count);
  if (!filter.empty()) memcpy(filter.data(), view.filter, filter.size() * sizeof(uint64_t));
  EXPECT_EQ(filter, plan.filter);
  if (!plan.set_ids) return;
  EXPECT_EQ(view.set_groups, plan.identity.set_groups);
  EXPECT_EQ(view.uid, plan.identity.uid);
  EXPECT_EQ(view.gid, plan.identity.gid);
  EXPECT_EQ(std::vector<uint32_t>(view.groups, view.groups + view.group_count), plan.identity.groups);
}

TEST(DecodePlan, ReadsWhatEncodePlanWrote) {
  for (bool set_ids : {false, true}) {
    Plan plan = RichPlan();
    plan.set_ids = set_ids;
    Decoded decoded(Encoded(plan));
    ASSERT_EQ(decoded.err, 0);
    ExpectSame(decoded.view, plan);
  }
}

TEST(DecodePlan, ReadsTheSmallestPlan) {
  Plan plan;
  plan.candidates = {""};
  plan.argv = {""};
  Decoded decoded(Encoded(plan));
  ASSERT_EQ(decoded.err, 0);
  ExpectSame(decoded.view, plan);
}

TEST(DecodePlan, ReadsAnEnvironmentOfTwoMebibytes) {
  Plan plan = RichPlan();
  for (int i = 0; i < 20'000; ++i) plan.env.push_back("V" + std::to_string(i) + "=" + std::string(100, 'v'));
  ASSERT_GT(Encoded(plan).size(), size_t{2} << 20);
  Decoded decoded(Encoded(plan));
  ASSERT_EQ(decoded.err, 0);
  ExpectSame(decoded.view, plan);
}

TEST(DecodePlan, RefusesEveryTruncation) {
  const std::string whole = Encoded(RichPlan());
  ASSERT_EQ(Decoded(whole).err, 0);
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_EQ(Decoded(whole.substr(0, size)).err, EPROTO) << size << " of " << whole.size() << " bytes";
  }
}

TEST(DecodePlan, RefusesTrailingBytes) {
  EXPECT_EQ(Decoded(Encoded(RichPlan()) + std::string(1, '\0')).err, EPROTO);
  EXPECT_EQ(Decoded(Encoded(RichPlan()) + "more").err, EPROTO);
}

TEST(DecodePlan, RefusesAStringWithoutItsTerminator) {
  Plan plan = RichPlan();
  std::string bytes = Encoded(plan);
  ASSERT_EQ(bytes.back(), '\0');
  bytes.back() = 'x';
  EXPECT_EQ(Decoded(bytes).err, EPROTO);
  bytes = Encoded(plan);
  size_t cwd_end = bytes.find("somebody") + 8;
  ASSERT_EQ(bytes[cwd_end], '\0');
  bytes[cwd_end] = 'x';
  EXPECT_EQ(Decoded(bytes).err, EPROTO);
}

TEST(DecodePlan, RefusesAnEmbeddedNul) {
  std::string bytes = Encoded(RichPlan());
  bytes[bytes.find("somebody") + 1] = '\0';
  EXPECT_EQ(Decoded(bytes).err, EPROTO);
}

TEST(DecodePlan, RefusesCountsThatAreTooLargeOrNone) {
  auto with = [](auto change) {
    std::string bytes = Encoded(RichPlan());
    wire::PlanFixed fixed;
    memcpy(&fixed, bytes.data(), sizeof fixed);
    change(&fixed);
    memcpy(bytes.data(), &fixed, sizeof fixed);
    return Decoded(bytes, 16).err;
  };
  EXPECT_EQ(with([](auto*) {}), 0);
  for (uint32_t bad : {0U, wire::kMaxStrings + 1, ~0U}) {
    EXPECT_EQ(with([bad](auto* fixed) { fixed->candidate_count = bad; }), EPROTO) << bad;
    EXPECT_EQ(with([bad](auto* fixed) { fixed->argument_count = bad; }), EPROTO) << bad;
  }
  for (uint32_t bad : {wire::kMaxStrings + 1, ~0U}) {
    EXPECT_EQ(with([bad](auto* fixed) { fixed->env_count = bad; }), EPROTO) << bad;
    EXPECT_EQ(with([bad](auto* fixed) { fixed->group_count = bad; }), EPROTO) << bad;
    EXPECT_EQ(with([bad](auto* fixed) { fixed->filter_count = bad; }), EPROTO) << bad;
    EXPECT_EQ(with([bad](auto* fixed) { fixed->gate_directory_count = bad; }), EPROTO) << bad;
    EXPECT_EQ(with([bad](auto* fixed) { fixed->gate_closed_count = bad; }), EPROTO) << bad;
    EXPECT_EQ(with([bad](auto* fixed) { fixed->gate_socket_count = bad; }), EPROTO) << bad;
  }
  // One more or less than there are.
  EXPECT_EQ(with([](auto* fixed) { ++fixed->env_count; }), EPROTO);
  EXPECT_EQ(with([](auto* fixed) { --fixed->env_count; }), EPROTO);
  EXPECT_EQ(with([](auto* fixed) { fixed->group_count = wire::kMaxGroups; }), EPROTO);
}

TEST(DecodePlan, RefusesGroupsWithoutIdsAndOddFlags) {
  auto with = [](uint32_t set_ids, uint32_t set_groups) {
    std::string bytes = Encoded(RichPlan());
    wire::PlanFixed fixed;
    memcpy(&fixed, bytes.data(), sizeof fixed);
    fixed.set_ids = set_ids;
    fixed.set_groups = set_groups;
    memcpy(bytes.data(), &fixed, sizeof fixed);
    return Decoded(bytes).err;
  };
  EXPECT_EQ(with(1, 1), 0);
  EXPECT_EQ(with(1, 0), 0);
  EXPECT_EQ(with(0, 0), 0);
  EXPECT_EQ(with(0, 1), EPROTO);
  EXPECT_EQ(with(2, 1), EPROTO);
  EXPECT_EQ(with(1, 2), EPROTO);
}

// A keeper that takes a half-confined plan for an ordinary one would start an unconfined shell.
TEST(DecodePlan, RefusesConfinementThatContradictsItself) {
  auto with = [](auto change) {
    std::string bytes = Encoded(RichPlan());
    wire::PlanFixed fixed;
    memcpy(&fixed, bytes.data(), sizeof fixed);
    change(&fixed);
    memcpy(bytes.data(), &fixed, sizeof fixed);
    return Decoded(bytes).err;
  };
  EXPECT_EQ(with([](auto*) {}), 0);
  EXPECT_EQ(with([](auto* fixed) { fixed->confined = 0; }), EPROTO);
  for (auto field : {&wire::PlanFixed::confined, &wire::PlanFixed::inner_domain,
                     &wire::PlanFixed::outer_domain, &wire::PlanFixed::gate, &wire::PlanFixed::gate_inet,
                     &wire::PlanFixed::cgroup, &wire::PlanFixed::cgroup_kill}) {
    EXPECT_EQ(with([field](auto* fixed) { fixed->*field = 2; }), EPROTO);
  }
  EXPECT_EQ(with([](auto* fixed) { fixed->gate = 0; }), EPROTO) << "inet without a gate";
}

TEST(DecodePlan, SaysWhenThePointersDoNotFit) {
  std::string bytes = Encoded(RichPlan());
  wire::PlanFixed fixed;
  memcpy(&fixed, bytes.data(), sizeof fixed);
  size_t capacity = PlanPointerCount(fixed);
  auto pointers = std::make_unique<char*[]>(capacity);
  PlanView view;
  EXPECT_EQ(DecodePlan(bytes.data(), bytes.size(), pointers.get(), capacity - 1, &view), EMSGSIZE);
  EXPECT_EQ(DecodePlan(bytes.data(), bytes.size(), pointers.get(), capacity, &view), 0);
}

// A byte, a count, a length or a piece changed at random. What is accepted must be readable to the last
// string, each as long as its length said: within the buffer, terminated, no NUL inside.
TEST(DecodePlan, NeverLeavesItsBytesWhateverTheySay) {
  const std::string valid = Encoded(RichPlan());
  size_t accepted = 0;
  for (uint32_t seed = 0; seed < 10'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::string bytes = valid;
    for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
      size_t at = random() % bytes.size();
      switch (random() % 5) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
          break;
        case 2: {
          const uint32_t tempting[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, wire::kMaxStrings};
          uint32_t word = tempting[random() % 6];
          memcpy(bytes.data() + std::min(at, bytes.size() - sizeof word), &word, sizeof word);
          break;
        }
        case 3:
          bytes.erase(at, 1 + random() % 8);
          break;
        default:
          bytes.insert(at, 1 + random() % 8, static_cast<char>(random() % 3));
          break;
      }
      if (bytes.empty()) bytes = "x";
    }
    Decoded decoded(bytes);
    if (decoded.err != 0) continue;
    ++accepted;
    const PlanView& view = decoded.view;
    size_t total = sizeof(wire::PlanFixed) + view.filter_count * sizeof(uint64_t) +
                   view.group_count * sizeof(uint32_t) + strlen(view.cwd) + 5 + strlen(view.temp_dir) + 5 +
                   strlen(view.cgroup_name) + 5 + strlen(view.profile) + 5 + strlen(view.mark) + 5;
    for (char** table :
         {view.candidates, view.argv, view.env, view.gate_directories, view.gate_sockets, view.gate_closed}) {
      for (; *table != nullptr; ++table) total += strlen(*table) + 5;
    }
    // Every byte is accounted for by a string of exactly its length: nothing hides behind a NUL.
    ASSERT_EQ(total, bytes.size());
  }
  // Both outcomes happen, or this shows nothing.
  EXPECT_GT(accepted, 100U);
  EXPECT_LT(accepted, 9'900U);
}

}  // namespace
}  // namespace spty
