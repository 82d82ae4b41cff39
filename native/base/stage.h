// The named steps of a session's life. One enum for addon, keeper and JavaScript: an error always says at
// which step it happened. Numbers travel over the control socket, so they are fixed: append, never renumber.
#pragma once

#include <stdint.h>  // not <cstdint>: also part of the keeper, which has no C++ library

namespace spty {

enum class Stage : uint16_t {
  kNone = 0,
  // In the host, before any process exists.
  kRequest = 1,   // the caller's options
  kPty = 2,       // master, slave, termios, window size
  kKeeper = 3,    // finding, starting and greeting the keeper
  kPlan = 4,      // sending or decoding the plan
  kPump = 5,      // the I/O thread
  kIdentity = 6,  // user and group look-up
  kSettings = 7,
  kPolicy = 8,
  kConfinement = 9,  // from the policy to what the kernel is asked for
  kTemp = 10,        // making the session's private temporary directory
  // In the keeper.
  kSubreaper = 20,
  kFork = 21,
  kOuterDomain = 22,  // the keeper's own Landlock domain
  kGate = 23,         // answering connect(2) and listen(2) for the session
  // In the child.
  kSession = 30,   // setsid
  kTerminal = 31,  // TIOCSCTTY
  kStdio = 32,
  kSignals = 33,
  kCwd = 34,
  kGroups = 35,
  kGid = 36,
  kUid = 37,
  kDescriptors = 38,  // close_range
  kExec = 39,
  kCgroup = 40,      // making the session's control group, or joining it
  kMark = 41,        // macOS: the directory by which the session's processes are told
  kPrivileges = 50,  // capabilities, no_new_privs
  kLandlock = 51,
  kSeccomp = 52,
  kSeatbelt = 53,
  // While the session runs.
  kResize = 60,
  kWrite = 61,
  kRead = 62,
  kSignal = 63,
};

// "exec", "cwd", ...; "unknown" for a number this build does not know. Never null.
const char* StageName(Stage stage);

}  // namespace spty
