#include "confine/enforcement.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "policy/scratch.h"

namespace spty {
namespace {

HostFeatures Modern() {
  HostFeatures features;
  features.landlock_abi = 7;
  return features;
}

class EnforcementTest : public ::testing::Test {
 protected:
  Enforcement Plan(const std::string& settings, const HostFeatures& features = Modern()) {
    PolicyInput input = scratch_.Input(settings);
    if (input.settings->temp.value == TempMode::kPrivate) input.temp_dir = scratch_.Dir("temp");
    policy_ = scratch_.Resolve(std::move(input));
    return PlanEnforcement(*policy_, features);
  }

  static const ProtectionReport& Of(const Enforcement& enforcement, Protection protection) {
    for (const ProtectionReport& report : enforcement.protections) {
      if (report.protection == protection) return report;
    }
    ADD_FAILURE() << "no report about " << NameOf(protection);
    return enforcement.protections.front();
  }

  Scratch scratch_;
  std::shared_ptr<const Policy> policy_;
};

TEST_F(EnforcementTest, DefaultSettingsAreFullyEnforcedOnAModernKernel) {
  const Enforcement enforcement = Plan(R"({"enabled": true})");
  EXPECT_TRUE(enforcement.confined);
  EXPECT_TRUE(enforcement.Unmet().empty());
  EXPECT_EQ(Of(enforcement, Protection::kFiles).enforced_by, "landlock");
  EXPECT_EQ(Of(enforcement, Protection::kUnixSockets).enforced_by, "connect-gate");
  EXPECT_EQ(Of(enforcement, Protection::kOutsiders).enforced_by, "landlock");
  EXPECT_EQ(Of(enforcement, Protection::kSyscalls).enforced_by, "seccomp");
  EXPECT_TRUE(enforcement.inet);
  EXPECT_FALSE(Of(enforcement, Protection::kNetwork).wanted);
}

TEST_F(EnforcementTest, EveryProtectionIsReportedAndEveryWantedOneHasAWordAboutIt) {
  for (const char* profile : {"terminal", "agent", "workspace", "read-only", "network-allow-all"}) {
    for (int abi = 0; abi <= 10; ++abi) {
      HostFeatures features = Modern();
      features.landlock_abi = abi;
      features.landlock_err = abi == 0 ? ENOSYS : 0;
      const Enforcement enforcement =
          Plan(std::string(R"({"enabled": true, "profile": ")") + profile + "\"}", features);
      EXPECT_EQ(enforcement.protections.size(), EnumNames<Protection>().size());
      for (const ProtectionReport& report : enforcement.protections) {
        EXPECT_EQ(report.missing(), report.wanted && report.enforced_by.empty());
        if (report.missing()) {
          EXPECT_FALSE(report.reason.empty()) << NameOf(report.protection);
        }
      }
    }
  }
}

TEST_F(EnforcementTest, NotAskedForIsNotConfined) {
  const Enforcement enforcement = Plan(R"({"enabled": false})");
  EXPECT_FALSE(enforcement.confined);
  EXPECT_TRUE(enforcement.Unmet().empty());
  EXPECT_NE(enforcement.reason.find("enabled"), std::string::npos) << enforcement.reason;
}

TEST_F(EnforcementTest, WithoutLandlockTheFilesAreMissing) {
  HostFeatures features;
  features.landlock_err = ENOSYS;
  const Enforcement enforcement = Plan(R"({"enabled": true, "profile": "workspace"})", features);
  EXPECT_TRUE(enforcement.confined) << "the rest is still enforced, if the caller lets it start";
  EXPECT_NE(enforcement.backend_missing.find("ENOSYS"), std::string::npos) << enforcement.backend_missing;
  EXPECT_TRUE(Of(enforcement, Protection::kFiles).missing());
  EXPECT_TRUE(Of(enforcement, Protection::kPrivateTemp).missing());
  EXPECT_EQ(Of(enforcement, Protection::kNetwork).enforced_by, "seccomp");
  EXPECT_FALSE(enforcement.Unmet().empty());
}

TEST_F(EnforcementTest, OldAbisLackWhatTheyLack) {
  HostFeatures features = Modern();
  features.landlock_abi = 2;
  EXPECT_TRUE(Of(Plan(R"({"enabled": true})", features), Protection::kFiles).missing());
  features.landlock_abi = 3;
  Enforcement enforcement = Plan(R"({"enabled": true})", features);
  EXPECT_EQ(Of(enforcement, Protection::kFiles).enforced_by, "landlock");
  EXPECT_FALSE(Of(enforcement, Protection::kFiles).reason.empty()) << "ioctls";
  // Signals cannot be held back by anything else: reported, and strict goes on.
  EXPECT_TRUE(Of(enforcement, Protection::kOutsiders).missing());
  EXPECT_TRUE(enforcement.Unmet().empty());
  features.landlock_abi = 6;
  EXPECT_FALSE(Of(Plan(R"({"enabled": true})", features), Protection::kOutsiders).missing());
}

TEST_F(EnforcementTest, WithoutNotificationsThereAreNoUnixSockets) {
  HostFeatures features = Modern();
  features.notify_err = EBUSY;
  const Enforcement enforcement = Plan(R"({"enabled": true})", features);
  EXPECT_EQ(enforcement.unix_sockets, UnixSocketMode::kRefuse);
  EXPECT_EQ(Of(enforcement, Protection::kUnixSockets).enforced_by, "seccomp");
  EXPECT_NE(Of(enforcement, Protection::kUnixSockets).reason.find("EBUSY"), std::string::npos);
  EXPECT_TRUE(enforcement.Unmet().empty());
}

TEST_F(EnforcementTest, WithoutSocketDiagnosticsTheGateOpensNothingAndSaysSo) {
  EXPECT_EQ(Of(Plan(R"({"enabled": true})"), Protection::kUnixSockets).reason, "");
  HostFeatures features = Modern();
  features.diag_err = EPROTONOSUPPORT;
  const Enforcement enforcement = Plan(R"({"enabled": true})", features);
  const ProtectionReport& report = Of(enforcement, Protection::kUnixSockets);
  EXPECT_EQ(report.enforced_by, "connect-gate");
  EXPECT_TRUE(report.reason.starts_with("no UNIX socket with a path can be connected to")) << report.reason;
}

TEST_F(EnforcementTest, WithNothingAtAllThePrivilegesAreStillGivenUp) {
  HostFeatures features = Modern();
  features.landlock_abi = 0;
  features.landlock_err = features.seccomp_err = features.notify_err = ENOSYS;
  const Enforcement enforcement = Plan(R"({"enabled": true, "strict": false})", features);
  EXPECT_FALSE(enforcement.confined);
  EXPECT_TRUE(enforcement.applied);
  EXPECT_EQ(Of(enforcement, Protection::kPrivileges).enforced_by, "no_new_privs");
  EXPECT_FALSE(Plan(R"({"enabled": false})", features).applied);
}

// Only where the gate is not to be had: it needs no right that one writable directory has and another lacks.
TEST_F(EnforcementTest, LandlockDecidesAboutUnixSocketsWhereItCanAndTheGateCannot) {
  HostFeatures features = Modern();
  features.landlock_abi = 9;
  EXPECT_EQ(Plan(R"({"enabled": true})", features).unix_sockets, UnixSocketMode::kGate);
  features.notify_err = EBUSY;
  const Enforcement enforcement = Plan(R"({"enabled": true})", features);
  EXPECT_EQ(enforcement.unix_sockets, UnixSocketMode::kKernel);
  EXPECT_EQ(Of(enforcement, Protection::kUnixSockets).enforced_by, "landlock");
}

TEST_F(EnforcementTest, WithoutSeccompStrictCannotGoOn) {
  HostFeatures features = Modern();
  features.seccomp_err = EINVAL;
  const Enforcement enforcement = Plan(R"({"enabled": true, "profile": "workspace"})", features);
  for (Protection protection : {Protection::kSyscalls, Protection::kUnixSockets, Protection::kNetwork})
    EXPECT_TRUE(Of(enforcement, protection).missing()) << NameOf(protection);
}

TEST_F(EnforcementTest, GitMetadataInAWritableProjectIsNamed) {
  scratch_.Dir("home/me/project/.git");
  const Enforcement enforcement = Plan(R"({"enabled": true, "git_access": "read"})");
  const ProtectionReport& report = Of(enforcement, Protection::kWriteHoles);
  EXPECT_TRUE(report.missing());
  EXPECT_NE(report.reason.find(scratch_.Project(".git")), std::string::npos) << report.reason;
  EXPECT_NE(report.reason.find("git_access"), std::string::npos) << report.reason;
  EXPECT_FALSE(enforcement.Unmet().empty());
  // In a project that nobody can write to there is nothing to protect.
  EXPECT_FALSE(Of(Plan(R"({"enabled": true, "profile": "read-only"})"), Protection::kWriteHoles).missing());
}

TEST_F(EnforcementTest, CertainHostsOnlyIsNotPossibleYetAndClosesTheNetwork) {
  const Enforcement enforcement = Plan(R"({"enabled": true, "network_hosts": ["example.org"]})");
  EXPECT_TRUE(Of(enforcement, Protection::kNetwork).missing());
  EXPECT_FALSE(enforcement.inet);
}

TEST_F(EnforcementTest, BackendsOfOtherMachinesAreMissing) {
  EXPECT_NE(Plan(R"({"enabled": true, "backend": "seatbelt"})").backend_missing, "");
  EXPECT_NE(Plan(R"({"enabled": true, "backend": "landlock-bwrap"})").backend_missing, "");
  EXPECT_EQ(Plan(R"({"enabled": true, "backend": "landlock"})").backend_missing, "");
}

}  // namespace
}  // namespace spty
