#include "base/stage.h"

namespace spty {

const char* StageName(Stage stage) {
  switch (stage) {
    case Stage::kNone:
      return "none";
    case Stage::kRequest:
      return "request";
    case Stage::kPty:
      return "pty";
    case Stage::kKeeper:
      return "keeper";
    case Stage::kPlan:
      return "plan";
    case Stage::kPump:
      return "pump";
    case Stage::kIdentity:
      return "identity";
    case Stage::kSettings:
      return "settings";
    case Stage::kPolicy:
      return "policy";
    case Stage::kConfinement:
      return "confinement";
    case Stage::kTemp:
      return "temp";
    case Stage::kSubreaper:
      return "subreaper";
    case Stage::kFork:
      return "fork";
    case Stage::kOuterDomain:
      return "domain";
    case Stage::kGate:
      return "gate";
    case Stage::kSession:
      return "session";
    case Stage::kTerminal:
      return "terminal";
    case Stage::kStdio:
      return "stdio";
    case Stage::kSignals:
      return "signals";
    case Stage::kCwd:
      return "cwd";
    case Stage::kGroups:
      return "groups";
    case Stage::kGid:
      return "gid";
    case Stage::kUid:
      return "uid";
    case Stage::kDescriptors:
      return "descriptors";
    case Stage::kExec:
      return "exec";
    case Stage::kCgroup:
      return "cgroup";
    case Stage::kMark:
      return "mark";
    case Stage::kPrivileges:
      return "privileges";
    case Stage::kLandlock:
      return "landlock";
    case Stage::kSeccomp:
      return "seccomp";
    case Stage::kSeatbelt:
      return "seatbelt";
    case Stage::kResize:
      return "resize";
    case Stage::kWrite:
      return "write";
    case Stage::kRead:
      return "read";
    case Stage::kSignal:
      return "signal";
  }
  return "unknown";
}

}  // namespace spty
