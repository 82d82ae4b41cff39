#include <gtest/gtest.h>

#include <cerrno>

#include "confine/enforcement.h"
#include "sbpl/mac_policy.h"

namespace spty {
namespace {

HostFeatures Mac(int err = 0) {
  HostFeatures features;
  features.landlock_err = features.seccomp_err = features.notify_err = ENOSYS;
  features.seatbelt = true;
  features.seatbelt_err = err;
  return features;
}

// A policy that asks for everything.
Policy Demanding(NetworkMode network = NetworkMode::kNone, Backend backend = Backend::kAuto) {
  PolicyParts parts;
  parts.confined = true;
  parts.network.mode = network;
  for (const EnumName<Protection>& entry : EnumNames<Protection>()) parts.required.push_back(entry.value);
  auto settings = std::make_shared<Settings>();
  settings->backend.value = backend;
  parts.settings = std::move(settings);
  return Policy(std::move(parts));
}

std::vector<std::string> Missing(const Enforcement& enforcement) {
  std::vector<std::string> names;
  for (const ProtectionReport& report : enforcement.protections) {
    EXPECT_TRUE(!report.missing() || !report.reason.empty()) << NameOf(report.protection);
    if (report.missing()) names.emplace_back(NameOf(report.protection));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(SeatbeltEnforcementTest, OnlyLimitsAreMissing) {
  const Enforcement enforcement = PlanEnforcement(Demanding(), Mac());
  EXPECT_TRUE(enforcement.confined);
  EXPECT_EQ(enforcement.protections.size(), EnumNames<Protection>().size());
  EXPECT_EQ(Missing(enforcement), Names{"limits"});
  EXPECT_EQ(enforcement.backend_missing, "");
  EXPECT_NE(EnforcementToJson(enforcement).find("\"backend\":\"seatbelt\""), std::string::npos)
      << EnforcementToJson(enforcement);
}

TEST(SeatbeltEnforcementTest, CertainHostsCannotBeTold) {
  EXPECT_EQ(Missing(PlanEnforcement(Demanding(NetworkMode::kFiltered), Mac())), (Names{"network", "limits"}));
}

TEST(SeatbeltEnforcementTest, InsideAnotherProfileNothingIsClaimed) {
  const Enforcement enforcement = PlanEnforcement(Demanding(), Mac(EPERM));
  EXPECT_FALSE(enforcement.confined);
  for (const ProtectionReport& report : enforcement.protections) EXPECT_NE(report.enforced_by, "seatbelt");
  EXPECT_FALSE(enforcement.Unmet().empty());
  EXPECT_NE(enforcement.backend_missing.find("EPERM"), std::string::npos);
}

TEST(SeatbeltEnforcementTest, LandlockIsForLinux) {
  const Policy policy = Demanding(NetworkMode::kNone, Backend::kLandlock);
  EXPECT_NE(PlanEnforcement(policy, Mac()).backend_missing.find("Linux"), std::string::npos);
}

TEST(SeatbeltEnforcementTest, TheExamplesAreEnforced) {
  for (const char* profile : {"terminal", "agent", "workspace", "read-only", "network-allow-all"}) {
    const auto policy = sbpl::MacPolicy(std::string(R"({"enabled": true, "profile": ")") + profile + "\"}");
    EXPECT_TRUE(PlanEnforcement(*policy, Mac()).Unmet().empty()) << profile;
  }
}

}  // namespace
}  // namespace spty
