// What Seatbelt enforces. One profile does nearly all of it, or none of it.
#include <algorithm>

#include "base/result.h"
#include "confine/enforcement.h"

namespace spty {
namespace {

void BySeatbelt(ProtectionReport& report, std::string reason) {
  report.enforced_by = "seatbelt";
  report.reason = std::move(reason);
}

void Fill(const Policy& policy, ProtectionReport& report) {
  switch (report.protection) {
    case Protection::kFiles:
      return BySeatbelt(report, "file metadata, and the names in \"/\", can be read everywhere else");
    case Protection::kReadHoles:
    case Protection::kWriteHoles:
      return BySeatbelt(report, "the directories that hold them cannot be removed, renamed or replaced");
    case Protection::kPrivateTemp:
      return BySeatbelt(report, "a directory of the session's own; the shared ones are not granted");
    case Protection::kPrivatePty:
      return BySeatbelt(report, "only terminals that the session opens itself");
    case Protection::kUnixSockets:
      return BySeatbelt(report,
                        "also sockets that the session makes, outside the project and its own temporary "
                        "directory");
    case Protection::kOutsiders:
    case Protection::kPrivileges:
      return BySeatbelt(report, "");
    case Protection::kSyscalls:
      return BySeatbelt(report, "by what a system call does, not by its number");
    case Protection::kNetwork:
      if (policy.network().mode == NetworkMode::kNone) return BySeatbelt(report, "");
      report.reason =
          "the network cannot be restricted to certain hosts yet; all of it is refused instead. Allow all of "
          "it "
          "(allow_network: true, no denied_domains), or none";
      return;
    case Protection::kDescriptors:
      report.enforced_by = "close-on-exec";
      return;
    case Protection::kEnvironment:
      report.enforced_by = "allowlist";
      return;
    case Protection::kLimits:
      report.reason = "macOS cannot limit a group of processes";
      return;
  }
}

// What needs no profile.
bool StandsAlone(Protection protection) {
  return protection == Protection::kDescriptors || protection == Protection::kEnvironment ||
         protection == Protection::kLimits;
}

}  // namespace

Enforcement PlanSeatbelt(const Policy& policy, const HostFeatures& features) {
  Enforcement enforcement;
  enforcement.features = features;
  enforcement.confined = features.seatbelt_err == 0;
  enforcement.applied = enforcement.confined;
  enforcement.inet = policy.network().mode == NetworkMode::kAll;
  const std::string missing = enforcement.confined ? ""
                                                   : "a Seatbelt profile cannot be entered here (" +
                                                         ErrnoName(features.seatbelt_err) +
                                                         "): is there one around us already?";
  if (policy.backend() == Backend::kLandlock || policy.backend() == Backend::kLandlockBwrap) {
    enforcement.backend_missing =
        "the backend \"" + std::string(NameOf(policy.backend())) + "\" is for Linux";
  } else {
    enforcement.backend_missing = missing;
  }
  const auto& required = policy.required();
  for (const EnumName<Protection>& entry : EnumNames<Protection>()) {
    ProtectionReport report;
    report.protection = entry.value;
    report.wanted = std::find(required.begin(), required.end(), entry.value) != required.end();
    if (report.wanted && (enforcement.confined || StandsAlone(entry.value))) {
      Fill(policy, report);
    } else if (report.wanted) {
      report.reason = missing;
    }
    enforcement.protections.push_back(std::move(report));
  }
  return enforcement;
}

}  // namespace spty
