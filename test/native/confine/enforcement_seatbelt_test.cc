#include <gtest/gtest.h>

#include <cerrno>

#include "confine/enforcement.h"
#include "policy/scratch.h"

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

// By the lists of macOS, as far as they exist here.
std::shared_ptr<const Policy> PolicyOfAMac(const std::string& text) {
  const Scratch scratch;
  LayersInput layers;
  layers.user = LayerText{text, "", DocumentShape::kAuto};
  layers.platform = Platform::kMacos;
  const auto resolved = ResolveSettings(layers);
  EXPECT_TRUE(resolved.ok()) << text;
  PolicyInput input = scratch.Input("{}");
  if (resolved.ok()) input.settings = std::make_shared<const Settings>(resolved.value().settings);
  return scratch.Resolve(std::move(input));
}

std::string RefusalOnAMac(const std::string& settings) {
  const auto policy = PolicyOfAMac(settings);
  return RefusalOf(*policy, PlanEnforcement(*policy, Mac()));
}

// There is no proxy yet that could tell hosts apart: see SeatbeltProfileTest for what such a session reaches.
TEST(SeatbeltEnforcementTest, CertainHostsAreRefusedIfStrictAndReportedIfNot) {
  for (const char* asked : {R"("network_hosts": ["example.org"])",
                            R"("allow_network": true, "denied_domains": ["evil.example"])"}) {
    const std::string settings = std::string(R"({"enabled": true, )") + asked;
    const std::string refusal = RefusalOnAMac(settings + "}");
    EXPECT_EQ(refusal.find("network: the network cannot be restricted to certain hosts yet"), 0U) << refusal;
    const std::string lenient = settings + R"(, "strict": false})";
    EXPECT_EQ(RefusalOnAMac(lenient), "");
    const Enforcement enforcement = PlanEnforcement(*PolicyOfAMac(lenient), Mac());
    EXPECT_TRUE(enforcement.confined);
    EXPECT_FALSE(enforcement.inet);
    EXPECT_EQ(Missing(enforcement), Names{"network"});
  }
  for (const char* plain :
       {R"({"enabled": true, "allow_network": true})", R"({"enabled": true, "allow_network": false})"})
    EXPECT_EQ(RefusalOnAMac(plain), "") << plain;
}

TEST(SeatbeltEnforcementTest, AnotherBackendIsRefusedIfStrictOrDemanded) {
  const std::string landlock = R"({"enabled": true, "backend": "landlock")";
  EXPECT_NE(RefusalOnAMac(landlock + "}"), "");
  EXPECT_NE(RefusalOnAMac(landlock + R"(, "strict": false, "fail_if_unavailable": true})"), "");
  EXPECT_EQ(RefusalOnAMac(landlock + R"(, "strict": false, "fail_if_unavailable": false})"), "");
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
    const auto policy = PolicyOfAMac(std::string(R"({"enabled": true, "profile": ")") + profile + "\"}");
    EXPECT_FALSE(policy->required().empty());
    EXPECT_TRUE(PlanEnforcement(*policy, Mac()).Unmet().empty()) << profile;
  }
}

}  // namespace
}  // namespace spty
