#include "settings/types.h"

namespace spty {
namespace {

constexpr EnumName<Platform> kPlatforms[] = {
    {Platform::kLinux, "linux"}, {Platform::kMacos, "macos"}, {Platform::kWindows, "windows"}};

constexpr EnumName<SessionKind> kSessionKinds[] = {{SessionKind::kTerminal, "terminal"},
                                                   {SessionKind::kTool, "tool"}};

constexpr EnumName<ApplyTo> kApplyTos[] = {{ApplyTo::kTerminal, "terminal"},
                                           {ApplyTo::kTool, "tool"},
                                           {ApplyTo::kBoth, "both"},
                                           {ApplyTo::kNeither, "neither"}};

constexpr EnumName<Profile> kProfiles[] = {{Profile::kTerminal, "terminal"},
                                           {Profile::kAgent, "agent"},
                                           {Profile::kWorkspace, "workspace"},
                                           {Profile::kReadOnly, "read-only"},
                                           {Profile::kNetworkAllowAll, "network-allow-all"},
                                           {Profile::kOff, "off"}};

constexpr EnumName<ReadAccess> kReadAccesses[] = {{ReadAccess::kListed, "listed"}, {ReadAccess::kAll, "all"}};

constexpr EnumName<ProjectAccess> kProjectAccesses[] = {{ProjectAccess::kReadOnly, "read-only"},
                                                        {ProjectAccess::kReadWrite, "read-write"}};

constexpr EnumName<GitAccess> kGitAccesses[] = {{GitAccess::kNone, "none"},
                                                {GitAccess::kRead, "read"},
                                                {GitAccess::kCommit, "commit"},
                                                {GitAccess::kFull, "full"}};

constexpr EnumName<TempMode> kTempModes[] = {{TempMode::kShared, "shared"}, {TempMode::kPrivate, "private"}};

constexpr EnumName<NestedPty> kNestedPtys[] = {
    {NestedPty::kShared, "shared"}, {NestedPty::kPrivate, "private"}, {NestedPty::kOff, "off"}};

constexpr EnumName<Backend> kBackends[] = {{Backend::kAuto, "auto"},
                                           {Backend::kSeatbelt, "seatbelt"},
                                           {Backend::kLandlock, "landlock"},
                                           {Backend::kLandlockBwrap, "landlock-bwrap"},
                                           {Backend::kNoop, "noop"}};

}  // namespace

template <>
std::span<const EnumName<Platform>> EnumNames() {
  return kPlatforms;
}
template <>
std::span<const EnumName<SessionKind>> EnumNames() {
  return kSessionKinds;
}
template <>
std::span<const EnumName<ApplyTo>> EnumNames() {
  return kApplyTos;
}
template <>
std::span<const EnumName<Profile>> EnumNames() {
  return kProfiles;
}
template <>
std::span<const EnumName<ReadAccess>> EnumNames() {
  return kReadAccesses;
}
template <>
std::span<const EnumName<ProjectAccess>> EnumNames() {
  return kProjectAccesses;
}
template <>
std::span<const EnumName<GitAccess>> EnumNames() {
  return kGitAccesses;
}
template <>
std::span<const EnumName<TempMode>> EnumNames() {
  return kTempModes;
}
template <>
std::span<const EnumName<NestedPty>> EnumNames() {
  return kNestedPtys;
}
template <>
std::span<const EnumName<Backend>> EnumNames() {
  return kBackends;
}

}  // namespace spty
