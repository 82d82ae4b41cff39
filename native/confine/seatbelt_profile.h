// A policy as a profile of Seatbelt, the sandbox of macOS. Pure text: what it says is tested everywhere.
//
// The last rule that matches decides, so the order of the sections is part of their meaning:
//   1. everything is denied;
//   2. processes: fork, signals and information, within the session;
//   3. services: sysctl, the listed Mach services, POSIX semaphores and shared memory;
//   4. what every path lookup needs: metadata, and the names in "/";
//   5. the policy's grants and holes together, sorted by path, at one path the hole first. What matches a
//      path is then ordered from the root downwards, so that the last match is the longest rule, and the
//      grant at the place of a hole: just what Policy::Decide says. Each name of a hole has its own place in
//      that order, also the one through the data volume. A file may get a second name (file-link, which is
//      about the file and about the new name) where both may be written;
//   6. for each hole in a writable place: its ancestors can be neither removed, renamed nor replaced, since
//      rules go by path and a directory that moves takes what is in it away from them;
//   7. terminals and /dev/fd, out of the hole that is the rest of /dev;
//   8. the network; UNIX sockets by path are in 5, the policy's list of them is here;
//   9. the session's mark, which nothing above may blur.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"

namespace spty {

struct SeatbeltOptions {
  // The directory by whose name every process of the session can be told: "allow" in it may be read, "deny"
  // may not, and no other profile says both.
  std::string mark;
  // The session's own terminal, "/dev/ttys003".
  std::string terminal;
  // Where the proxy for certain hosts listens on this machine; 0: there is none, and without one such a
  // policy has no network at all.
  uint16_t proxy_port = 0;
};

// For a confined policy. {confinement, EINVAL, path} for a path that cannot be written down safely.
Result<std::string> SeatbeltProfile(const Policy& policy, const SeatbeltOptions& options);

// Marks the session, and restricts as little as a profile can. The kernel executes no setuid or setgid
// program under a profile, and lets nobody under one that denies anything enter another. So the listed
// programs run without it, and with them whatever they start: these are not marked.
Result<std::string> TrackingProfile(const std::string& mark, std::span<const std::string> unmarked);

// What runs programs in profiles of their own: Swift's and Homebrew's builds use it.
inline constexpr char kSandboxExec[] = "/usr/bin/sandbox-exec";

// The Mach services that a session may look up. None leads to LaunchServices (which starts programs outside
// the session), to the pasteboard, or to the keychain.
std::span<const std::string_view> SeatbeltServices();
// Those that it may look up besides if it has a network: name resolution and certificates.
std::span<const std::string_view> SeatbeltNetworkServices();

}  // namespace spty
