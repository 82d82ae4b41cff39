// The enumerations of the settings and their spelling in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spty {

enum class Platform : uint8_t { kLinux, kMacos, kWindows };
enum class SessionKind : uint8_t { kTerminal, kTool };
enum class ApplyTo : uint8_t { kTerminal, kTool, kBoth, kNeither };
enum class Profile : uint8_t { kTerminal, kAgent, kWorkspace, kReadOnly, kNetworkAllowAll, kOff };
// The remaining ones are in order of what they allow: a smaller value is tighter.
enum class ReadAccess : uint8_t { kListed, kAll };
enum class ProjectAccess : uint8_t { kReadOnly, kReadWrite };
enum class GitAccess : uint8_t { kNone, kRead, kCommit, kFull };
enum class TempMode : uint8_t { kPrivate, kShared };
enum class NestedPty : uint8_t { kOff, kPrivate, kShared };
enum class Backend : uint8_t { kAuto, kSeatbelt, kLandlock, kLandlockBwrap, kNoop };

template <typename E>
struct EnumName {
  E value;
  std::string_view name;
};

// Every value of an enumeration with its name. Specialised in types.cc.
template <typename E>
std::span<const EnumName<E>> EnumNames();

template <typename E>
std::string_view NameOf(E value) {
  for (const EnumName<E>& entry : EnumNames<E>()) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

template <typename E>
std::optional<E> EnumFromName(std::string_view name) {
  for (const EnumName<E>& entry : EnumNames<E>()) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

template <>
std::span<const EnumName<Platform>> EnumNames();
template <>
std::span<const EnumName<SessionKind>> EnumNames();
template <>
std::span<const EnumName<ApplyTo>> EnumNames();
template <>
std::span<const EnumName<Profile>> EnumNames();
template <>
std::span<const EnumName<ReadAccess>> EnumNames();
template <>
std::span<const EnumName<ProjectAccess>> EnumNames();
template <>
std::span<const EnumName<GitAccess>> EnumNames();
template <>
std::span<const EnumName<TempMode>> EnumNames();
template <>
std::span<const EnumName<NestedPty>> EnumNames();
template <>
std::span<const EnumName<Backend>> EnumNames();

}  // namespace spty
