#include "confine/enforcement.h"

#include <algorithm>

#include "base/result.h"
#include "settings/json_writer.h"

namespace spty {
namespace {

// Before it a file could be emptied without the right to write it (Linux 6.2).
constexpr int kAbiWithTruncate = 3;
constexpr int kAbiWithDeviceIoctls = 5;
constexpr int kAbiWithScopes = 6;
constexpr int kAbiWithUnixSockets = 9;
constexpr size_t kNamedHoles = 3;

std::string NotToBeHad(const char* what, int err) {
  return std::string("this kernel, or a container around us, does not offer ") + what + " (" +
         ErrnoName(err) + ")";
}

class Planner {
 public:
  Planner(const Policy& policy, const HostFeatures& host) : policy_(policy), host_(host) {}

  ProtectionReport Judge(Protection protection) const {
    ProtectionReport report;
    report.protection = protection;
    const auto& required = policy_.required();
    report.wanted = std::find(required.begin(), required.end(), protection) != required.end();
    if (report.wanted) Fill(report);
    return report;
  }

  bool has_landlock() const { return host_.landlock_abi >= 1; }
  bool has_filter() const { return host_.seccomp_err == 0; }
  UnixSocketMode unix_sockets() const {
    if (has_filter() && host_.notify_err == 0) return UnixSocketMode::kGate;
    return has_filter() && host_.landlock_abi >= kAbiWithUnixSockets ? UnixSocketMode::kKernel
                                                                     : UnixSocketMode::kRefuse;
  }

 private:
  void Fill(ProtectionReport& report) const {
    switch (report.protection) {
      case Protection::kFiles:
        return Files(report);
      case Protection::kReadHoles:
        return ReadHoles(report);
      case Protection::kWriteHoles:
        return WriteHoles(report);
      case Protection::kPrivateTemp:
        return ByLandlock(report, "a directory of the session's own; the shared ones are not granted");
      case Protection::kPrivatePty:
        return ByLandlock(report,
                          "no terminals can be opened inside: a private set of them needs namespaces");
      case Protection::kUnixSockets:
        return UnixSockets(report);
      case Protection::kOutsiders:
        return Outsiders(report);
      case Protection::kNetwork:
        return Network(report);
      case Protection::kSyscalls:
        return BySeccomp(report);
      case Protection::kPrivileges:
        report.enforced_by = "no_new_privs";
        return;
      case Protection::kDescriptors:
        report.enforced_by = "close_range";
        return;
      case Protection::kEnvironment:
        report.enforced_by = "allowlist";
        return;
      case Protection::kLimits:
        if (host_.no_limits.empty()) report.enforced_by = "cgroup";
        report.reason = host_.no_limits;
        return;
    }
  }

  void ByLandlock(ProtectionReport& report, std::string reason) const {
    if (has_landlock()) report.enforced_by = "landlock";
    report.reason = has_landlock() ? std::move(reason) : NotToBeHad("Landlock", host_.landlock_err);
  }

  void BySeccomp(ProtectionReport& report) const {
    if (has_filter()) {
      report.enforced_by = "seccomp";
    } else {
      report.reason = NotToBeHad("seccomp filters", host_.seccomp_err);
    }
  }

  void Files(ProtectionReport& report) const {
    if (has_landlock() && host_.landlock_abi < kAbiWithTruncate) {
      report.reason =
          "this kernel cannot keep files from being emptied without the right to write them; that needs "
          "Linux 6.2";
      return;
    }
    ByLandlock(report, host_.landlock_abi < kAbiWithDeviceIoctls
                           ? "ioctls on granted devices are not restricted; that needs Linux 6.10"
                           : "");
  }

  void ReadHoles(ProtectionReport& report) const {
    ByLandlock(report,
               "what lies beside them was granted one by one when the session started; the directories that "
               "hold them cannot be listed, and what appears in those later cannot be read");
  }

  void WriteHoles(ProtectionReport& report) const {
    std::string names;
    size_t count = 0;
    for (const Hole& hole : policy_.holes()) {
      if (!hole.cuts_write || hole.kind != HoleKind::kGit) continue;
      if (++count <= kNamedHoles) names += (names.empty() ? "" : ", ") + hole.path;
    }
    if (count == 0) return ReadHoles(report);
    if (count > kNamedHoles) names += " and " + std::to_string(count - kNamedHoles) + " more";
    report.reason =
        names +
        " inside a writable directory cannot be protected without namespaces; allow writing there "
        "(git_access: \"full\"), make the project read-only, or set strict to false";
  }

  void UnixSockets(ProtectionReport& report) const {
    if (unix_sockets() == UnixSocketMode::kGate) {
      report.enforced_by = "connect-gate";
      if (host_.diag_err != 0) {
        report.reason = "no UNIX socket with a path can be connected to, as nobody can tell whose it is: " +
                        NotToBeHad("socket diagnostics", host_.diag_err);
      }
      return;
    }
    if (unix_sockets() == UnixSocketMode::kKernel) {
      return ByLandlock(report,
                        "files moved from another writable directory into the project are copied instead");
    }
    if (!has_filter()) return BySeccomp(report);
    report.enforced_by = "seccomp";
    report.reason =
        "no UNIX socket can be made at all: " + NotToBeHad("seccomp notifications", host_.notify_err);
  }

  // seccomp cannot see whom a signal goes to: where the scopes are missing there is nothing else.
  void Outsiders(ProtectionReport& report) const {
    report.essential = false;
    if (host_.landlock_abi >= kAbiWithScopes) {
      report.enforced_by = "landlock";
    } else if (has_landlock()) {
      report.reason =
          "processes of the same user outside the session can be signalled; that needs Linux 6.12";
    } else {
      report.reason = NotToBeHad("Landlock", host_.landlock_err);
    }
  }

  void Network(ProtectionReport& report) const {
    if (policy_.network().mode == NetworkMode::kNone) return BySeccomp(report);
    report.reason =
        "the network cannot be restricted to certain hosts yet; all of it is refused instead. Allow all of "
        "it "
        "(allow_network: true, no denied_domains), or none";
  }

  const Policy& policy_;
  const HostFeatures& host_;
};

std::string BackendMissing(const Policy& policy, const Planner& planner, const HostFeatures& host) {
  if (policy.backend() == Backend::kSeatbelt) return "the backend \"seatbelt\" is for macOS";
  if (!planner.has_landlock()) return NotToBeHad("Landlock", host.landlock_err);
  if (policy.backend() == Backend::kLandlockBwrap)
    return "the backend \"landlock-bwrap\" needs namespaces, which are not supported yet";
  return "";
}

}  // namespace

std::vector<const ProtectionReport*> Enforcement::Unmet() const {
  std::vector<const ProtectionReport*> unmet;
  for (const ProtectionReport& report : protections) {
    if (report.missing() && report.essential) unmet.push_back(&report);
  }
  return unmet;
}

std::string RefusalOf(const Policy& policy, const Enforcement& enforcement) {
  if (!enforcement.backend_missing.empty() && (policy.strict() || policy.fail_if_unavailable()))
    return enforcement.backend_missing;
  std::string text;
  if (!policy.strict()) return text;
  for (const ProtectionReport* report : enforcement.Unmet()) {
    if (!text.empty()) text += "; ";
    text += std::string(NameOf(report->protection)) + ": " + report->reason;
  }
  return text;
}

Enforcement PlanEnforcement(const Policy& policy, const HostFeatures& features) {
  Enforcement enforcement;
  enforcement.features = features;
  if (!policy.confined()) {
    enforcement.reason = "not asked for (" + Describe(policy.confined_by()) + ")";
    return enforcement;
  }
  if (features.seatbelt) return PlanSeatbelt(policy, features);
  const Planner planner(policy, features);
  enforcement.backend_missing = BackendMissing(policy, planner, features);
  enforcement.confined = planner.has_landlock() || planner.has_filter();
  enforcement.applied = true;
  if (!enforcement.confined) enforcement.reason = "neither Landlock nor seccomp filters are to be had";
  enforcement.unix_sockets = planner.unix_sockets();
  enforcement.inet = policy.network().mode == NetworkMode::kAll;
  for (const EnumName<Protection>& entry : EnumNames<Protection>()) {
    enforcement.protections.push_back(planner.Judge(entry.value));
  }
  return enforcement;
}

std::string EnforcementToJson(const Enforcement& enforcement) {
  JsonWriter out;
  out.BeginObject().Key("confined").Bool(enforcement.confined);
  if (!enforcement.reason.empty()) out.Key("reason").String(enforcement.reason);
  const HostFeatures& features = enforcement.features;
  out.Key("backend").String(!enforcement.confined       ? "none"
                            : features.seatbelt         ? "seatbelt"
                            : features.landlock_abi > 0 ? "landlock"
                                                        : "none");
  if (!enforcement.backend_missing.empty()) out.Key("backendMissing").String(enforcement.backend_missing);
  out.Key("landlockAbi").Integer(static_cast<uint64_t>(enforcement.features.landlock_abi));
  out.Key("landlockErrata").Integer(static_cast<uint64_t>(enforcement.features.landlock_errata));
  out.Key("protections").BeginArray();
  for (const ProtectionReport& report : enforcement.protections) {
    out.BeginObject().Key("name").String(NameOf(report.protection)).Key("wanted").Bool(report.wanted);
    if (!report.enforced_by.empty()) out.Key("enforcedBy").String(report.enforced_by);
    if (report.missing()) out.Key("missing").Bool(true);
    if (!report.reason.empty()) out.Key("reason").String(report.reason);
    out.EndObject();
  }
  out.EndArray().EndObject();
  return out.Take();
}

}  // namespace spty
