// What each profile means while nothing else is said.
#include "settings/defaults.h"

namespace spty {
namespace {

constexpr ProfileDefaults kTerminal = {.read_access = ReadAccess::kListed,
                                       .project_access = ProjectAccess::kReadWrite,
                                       .system_read_write = true,
                                       .network = true,
                                       .git_access = GitAccess::kFull,
                                       .temp = TempMode::kShared,
                                       .nested_pty = NestedPty::kShared,
                                       .ssh_agent = true};

constexpr ProfileDefaults kAgent = {.read_access = ReadAccess::kAll,
                                    .project_access = ProjectAccess::kReadWrite,
                                    .system_read_write = false,
                                    .network = false,
                                    .git_access = GitAccess::kNone,
                                    .temp = TempMode::kPrivate,
                                    .nested_pty = NestedPty::kPrivate,
                                    .ssh_agent = false};

constexpr ProfileDefaults kWorkspace = {.read_access = ReadAccess::kListed,
                                        .project_access = ProjectAccess::kReadWrite,
                                        .system_read_write = false,
                                        .network = false,
                                        .git_access = GitAccess::kFull,
                                        .temp = TempMode::kPrivate,
                                        .nested_pty = NestedPty::kPrivate,
                                        .ssh_agent = false};

constexpr ProfileDefaults kReadOnly = {.read_access = ReadAccess::kListed,
                                       .project_access = ProjectAccess::kReadOnly,
                                       .system_read_write = false,
                                       .network = false,
                                       .git_access = GitAccess::kRead,
                                       .temp = TempMode::kPrivate,
                                       .nested_pty = NestedPty::kOff,
                                       .ssh_agent = false};

constexpr ProfileDefaults kNetworkAllowAll = {.read_access = ReadAccess::kListed,
                                              .project_access = ProjectAccess::kReadWrite,
                                              .system_read_write = false,
                                              .network = true,
                                              .git_access = GitAccess::kFull,
                                              .temp = TempMode::kPrivate,
                                              .nested_pty = NestedPty::kPrivate,
                                              .ssh_agent = false};

constexpr ProfileDefaults kOff = {.read_access = ReadAccess::kAll,
                                  .project_access = ProjectAccess::kReadWrite,
                                  .system_read_write = true,
                                  .network = true,
                                  .git_access = GitAccess::kFull,
                                  .temp = TempMode::kShared,
                                  .nested_pty = NestedPty::kShared,
                                  .ssh_agent = true};

}  // namespace

const ProfileDefaults& DefaultsOf(Profile profile) {
  switch (profile) {
    case Profile::kTerminal:
      return kTerminal;
    case Profile::kAgent:
      return kAgent;
    case Profile::kWorkspace:
      return kWorkspace;
    case Profile::kReadOnly:
      return kReadOnly;
    case Profile::kNetworkAllowAll:
      return kNetworkAllowAll;
    case Profile::kOff:
      break;
  }
  return kOff;
}

}  // namespace spty
