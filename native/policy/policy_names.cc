// The spelling of the policy's enumerations in JSON.
#include "policy/policy.h"

namespace spty {
namespace {

constexpr EnumName<Rights> kRights[] = {{Rights::kNone, "none"},
                                        {Rights::kRead, "read"},
                                        {Rights::kReadExecute, "read+execute"},
                                        {Rights::kReadWrite, "read+write"}};

constexpr EnumName<Access> kAccesses[] = {{Access::kRead, "read"},
                                          {Access::kExecute, "execute"},
                                          {Access::kWrite, "write"},
                                          {Access::kConnect, "connect"}};

constexpr EnumName<GrantKind> kGrantKinds[] = {{GrantKind::kProject, "project"},
                                               {GrantKind::kSystem, "system"},
                                               {GrantKind::kAdditional, "additional"},
                                               {GrantKind::kDotfile, "dotfile"},
                                               {GrantKind::kDevice, "device"},
                                               {GrantKind::kGit, "git"},
                                               {GrantKind::kTemp, "temp"},
                                               {GrantKind::kBuiltin, "builtin"},
                                               {GrantKind::kEverything, "everything"}};

constexpr EnumName<HoleKind> kHoleKinds[] = {
    {HoleKind::kCredential, "credential"}, {HoleKind::kGit, "git"}, {HoleKind::kDevice, "device"}};

constexpr EnumName<NetworkMode> kNetworkModes[] = {
    {NetworkMode::kNone, "none"}, {NetworkMode::kFiltered, "filtered"}, {NetworkMode::kAll, "all"}};

constexpr EnumName<RepositoryKind> kRepositoryKinds[] = {{RepositoryKind::kAbsent, "absent"},
                                                         {RepositoryKind::kMain, "main"},
                                                         {RepositoryKind::kLinkedWorktree, "linked-worktree"},
                                                         {RepositoryKind::kSubmodule, "submodule"}};

constexpr EnumName<SkipReason> kSkipReasons[] = {{SkipReason::kMissing, "missing"},
                                                 {SkipReason::kUnsetVariable, "unset-variable"},
                                                 {SkipReason::kInsideHole, "inside-hole"},
                                                 {SkipReason::kNotVerified, "not-verified"},
                                                 {SkipReason::kWritableLink, "writable-link"},
                                                 {SkipReason::kNoSocket, "no-socket"}};

constexpr EnumName<Protection> kProtections[] = {
    {Protection::kFiles, "files"},
    {Protection::kReadHoles, "read-holes"},
    {Protection::kWriteHoles, "write-holes"},
    {Protection::kPrivateTemp, "private-temp"},
    {Protection::kPrivatePty, "private-pty"},
    {Protection::kUnixSockets, "unix-sockets"},
    {Protection::kOutsiders, "outsiders"},
    {Protection::kNetwork, "network"},
    {Protection::kSyscalls, "syscalls"},
    {Protection::kPrivileges, "privileges"},
    {Protection::kDescriptors, "descriptors"},
    {Protection::kEnvironment, "environment"},
    {Protection::kLimits, "limits"},
};

}  // namespace

template <>
std::span<const EnumName<Rights>> EnumNames() {
  return kRights;
}
template <>
std::span<const EnumName<Access>> EnumNames() {
  return kAccesses;
}
template <>
std::span<const EnumName<GrantKind>> EnumNames() {
  return kGrantKinds;
}
template <>
std::span<const EnumName<HoleKind>> EnumNames() {
  return kHoleKinds;
}
template <>
std::span<const EnumName<NetworkMode>> EnumNames() {
  return kNetworkModes;
}
template <>
std::span<const EnumName<RepositoryKind>> EnumNames() {
  return kRepositoryKinds;
}
template <>
std::span<const EnumName<SkipReason>> EnumNames() {
  return kSkipReasons;
}
template <>
std::span<const EnumName<Protection>> EnumNames() {
  return kProtections;
}

}  // namespace spty
