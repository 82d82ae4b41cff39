#include "confine/seatbelt_profile.h"

#include <algorithm>
#include <set>

#include "confine/seatbelt_text.h"
#include "policy/path_text.h"

namespace spty {
namespace {

constexpr char kOwnTerminals[] =
    "(require-all (regex #\"^/dev/ttys[0-9]+$\") (extension \"com.apple.sandbox.pty\"))";

// One rule about one place, by one of its names.
struct PathRule {
  std::string path;
  const Grant* grant = nullptr;
  const Hole* hole = nullptr;
};

class ProfileWriter {
 public:
  ProfileWriter(const Policy& policy, const SeatbeltOptions& options) : policy_(policy), options_(options) {}

  Result<std::string> Write() {
    out_ = "(version 1)\n(deny default)\n";
    Processes();
    Services();
    out_ += "\n; path lookups\n(allow file-read-metadata)\n(allow file-read-data (literal \"/\"))\n";
    TRY(Files());
    TRY(Ancestors());
    TRY(Terminals());
    TRY(Network());
    TRY(Mark());
    return std::move(out_);
  }

 private:
  void Processes() {
    out_ +=
        "\n; processes\n(allow process-fork)\n"
        "(allow process-info* (target self) (target same-sandbox))\n"
        "(allow signal (target self))\n(allow signal (target children))\n"
        "(allow signal (target same-sandbox))\n";
  }

  void Services() {
    out_ += "\n; services\n(allow sysctl-read)\n(allow mach-lookup";
    const auto add = [&](std::span<const std::string_view> names) {
      for (const std::string_view name : names) out_ += "\n  (global-name \"" + std::string(name) + "\")";
    };
    add(SeatbeltServices());
    if (policy_.network().mode != NetworkMode::kNone) add(SeatbeltNetworkServices());
    // Names are shared by all processes of the user; the system's own segments are not for a session to
    // write.
    out_ +=
        ")\n(allow ipc-posix-sem)\n"
        "(allow ipc-posix-shm-read* ipc-posix-shm-write-create ipc-posix-shm-write-data "
        "ipc-posix-shm-write-unlink)\n"
        "(deny ipc-posix-shm-write-create ipc-posix-shm-write-data ipc-posix-shm-write-unlink\n"
        "  (ipc-posix-name-regex #\"^apple\\.\") (ipc-posix-name-regex #\"^com\\.apple\\.\"))\n";
  }

  std::vector<PathRule> SortedRules() const {
    std::vector<PathRule> rules;
    for (const Grant& grant : policy_.grants()) {
      for (std::string& path : Spellings(grant.path())) rules.push_back({std::move(path), &grant, nullptr});
    }
    for (const Hole& hole : policy_.holes()) {
      for (std::string& path : Spellings(hole.path)) {
        rules.push_back({OnDataVolume(path), nullptr, &hole});
        rules.push_back({std::move(path), nullptr, &hole});
      }
    }
    std::stable_sort(rules.begin(), rules.end(), [](const PathRule& a, const PathRule& b) {
      const int by_path = a.path.compare(b.path);
      return by_path != 0 ? by_path < 0 : a.hole != nullptr && b.hole == nullptr;
    });
    return rules;
  }

  bool IsGranted(const std::string& path) const {
    for (const Grant& grant : policy_.grants()) {
      for (const std::string& place : Spellings(grant.path())) {
        if (IsWithin(path, place)) return true;
      }
    }
    return false;
  }

  Result<void> Files() {
    out_ += "\n; grants and holes, from the root downwards\n";
    for (const PathRule& rule : SortedRules()) {
      if (rule.grant != nullptr) {
        TRY(AllowGrant(*rule.grant, rule.path));
      } else {
        TRY(DenyHole(*rule.hole, rule.path));
      }
    }
    return {};
  }

  Result<void> AllowGrant(const Grant& grant, const std::string& path) {
    TRY_ASSIGN(const std::string quoted, QuoteForProfile(path));
    const bool directory = grant.pin.type == FileType::kDirectory;
    const std::string filter = (directory ? "(subpath " : "(literal ") + quoted + ")";
    std::string operations;
    if (grant.rights >= Rights::kRead) operations += " file-read*";
    if (grant.rights >= Rights::kReadExecute) operations += " process-exec* file-map-executable";
    if (grant.rights >= Rights::kReadWrite) operations += " file-write* file-link";
    if (operations.empty()) return {};
    if (grant.kind == GrantKind::kDevice) operations += " file-ioctl";
    out_ += "(allow" + operations + " " + filter + ")\n";
    if (grant.rights != Rights::kReadWrite) return {};
    if (directory) out_ += "(allow network-bind network-inbound (local unix-socket " + filter + "))\n";
    if (MayHoldSockets(grant)) {
      out_ += "(allow network-outbound (remote unix-socket " + filter + "))\n";
    } else if (InsideSocketPlace(path)) {
      out_ += "(deny network-outbound (remote unix-socket " + filter + "))\n";
    }
    return {};
  }

  // By one of its names, in every form that this could get.
  Result<void> DenyHole(const Hole& hole, const std::string& path) {
    TRY_ASSIGN(const std::string quoted, QuoteForProfile(path));
    out_ += hole.denies_read ? "(deny file-read* process-exec* file-map-executable file-write* file-link"
                             : "(deny file-write* file-link";
    out_ += "\n  (subpath " + quoted + ")";
    // Elsewhere nothing is granted, however it is written.
    if (!hole.pin && IsGranted(path)) out_ += "\n  (regex " + AnyCaseRegex(path) + ")";
    out_ += ")\n";
    if (InsideSocketPlace(path)) {
      out_ += "(deny network-outbound (remote unix-socket (subpath " + quoted + ")))\n";
    }
    return {};
  }

  bool InsideSocketPlace(const std::string& path) const {
    for (const Grant& grant : policy_.grants()) {
      if (!MayHoldSockets(grant)) continue;
      for (const std::string& place : Spellings(grant.path())) {
        if (IsWithin(path, place)) return true;
      }
    }
    return false;
  }

  // The directories above a hole that could be moved. Above a hole that does not exist some may not exist
  // either, and could come to be under a name in another case.
  Result<void> Ancestors() {
    std::set<std::string> filters;
    for (const Hole& hole : policy_.holes()) {
      TRY(PinAncestors(hole.path, hole, filters));
      for (const std::string& path : Spellings(hole.path))
        TRY(PinAncestors(OnDataVolume(path), hole, filters));
    }
    if (filters.empty()) return {};
    out_ += "\n; what holds a hole stays where it is\n(deny file-write-unlink file-write-create";
    for (const std::string& filter : filters) out_ += "\n  " + filter;
    out_ += ")\n";
    return {};
  }

  Result<void> PinAncestors(std::string path, const Hole& hole, std::set<std::string>& filters) {
    while (path != "/") {
      path = ParentOf(path);
      // Elsewhere nothing can be moved anyway.
      if (!policy_.Decide(path, Rights::kReadWrite).allowed) continue;
      // Of /private itself the links are no names, but files beside it.
      for (const std::string& name : path == "/private" ? std::vector<std::string>{path} : Spellings(path)) {
        TRY_ASSIGN(const std::string quoted, QuoteForProfile(name));
        filters.insert(hole.pin ? "(literal " + quoted + ")" : "(regex " + AnyCaseRegexOfOne(name) + ")");
      }
    }
    return {};
  }

  Result<void> Terminals() {
    out_ +=
        "\n; terminals\n(allow file-read-metadata (subpath \"/dev\"))\n"
        "(allow file-read* file-write-data (subpath \"/dev/fd\"))\n"
        "(allow file-read* file-write-data file-ioctl (literal \"/dev/tty\")";
    if (!options_.terminal.empty()) {
      TRY_ASSIGN(const std::string terminal, QuoteForProfile(options_.terminal));
      out_ += " (literal " + terminal + ")";
    }
    out_ += ")\n";
    if (policy_.nested_pty() == NestedPty::kOff) return {};
    // The kernel marks the terminals that the session makes itself; those of others stay out of reach.
    out_ +=
        "(allow pseudo-tty)\n(allow file-read* file-write* file-ioctl (literal \"/dev/ptmx\"))\n"
        "(allow file-read* file-write* file-ioctl " +
        std::string(kOwnTerminals) + ")\n";
    return {};
  }

  Result<void> Network() {
    out_ += "\n; network\n(allow system-socket (socket-domain AF_UNIX))\n";
    const NetworkMode mode = policy_.network().mode;
    if (mode == NetworkMode::kAll) {
      // Not network*: that would open every UNIX socket as well.
      out_ +=
          "(allow system-socket (socket-domain AF_ROUTE) (socket-domain AF_SYSTEM))\n"
          "(allow network-outbound (remote ip \"*:*\"))\n"
          "(allow network-bind network-inbound (local ip \"*:*\"))\n";
    } else if (mode == NetworkMode::kFiltered && options_.proxy_port != 0) {
      out_ +=
          "(allow network-outbound (remote tcp \"localhost:" + std::to_string(options_.proxy_port) + "\"))\n";
    }
    for (const SocketRule& rule : policy_.unix_sockets()) {
      for (const std::string& path : Spellings(rule.path)) {
        TRY_ASSIGN(const std::string quoted, QuoteForProfile(path));
        out_ += "(allow network-outbound (remote unix-socket (subpath " + quoted + ")))\n";
      }
    }
    return {};
  }

  Result<void> Mark() {
    out_ += "\n; the session's mark\n";
    for (const std::string& mark : Spellings(options_.mark)) {
      TRY_ASSIGN(const std::string whole, QuoteForProfile(mark));
      TRY_ASSIGN(const std::string allow, QuoteForProfile(mark + "/allow"));
      out_ += "(deny file-read* file-write* (subpath " + whole + "))\n";
      out_ += "(allow file-read* (subpath " + allow + "))\n";
    }
    return {};
  }

  const Policy& policy_;
  const SeatbeltOptions& options_;
  std::string out_;
};

}  // namespace

Result<std::string> SeatbeltProfile(const Policy& policy, const SeatbeltOptions& options) {
  return ProfileWriter(policy, options).Write();
}

Result<std::string> TrackingProfile(const std::string& mark, std::span<const std::string> unmarked) {
  std::string out = "(version 1)\n(allow default)\n";
  if (!unmarked.empty()) {
    out += "(allow process-exec* (with no-sandbox)";
    for (const std::string& program : unmarked) {
      TRY_ASSIGN(const std::string quoted, QuoteForProfile(program));
      out += "\n  (literal " + quoted + ")";
    }
    out += ")\n";
  }
  for (const std::string& spelling : Spellings(mark)) {
    TRY_ASSIGN(const std::string deny, QuoteForProfile(spelling + "/deny"));
    TRY_ASSIGN(const std::string allow, QuoteForProfile(spelling + "/allow"));
    out += "(deny file-read* (subpath " + deny + "))\n(allow file-read* (subpath " + allow + "))\n";
  }
  return out;
}

}  // namespace spty
