// Where a value came from: which layer, and which place in that layer's document. Every value of the resolved
// settings and every rule of a policy carries one, so that explain() can name the setting behind a decision.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spty {

// In order of precedence: a later layer overrides an earlier one.
enum class Layer : uint8_t { kDefault, kUser, kUserPlatform, kProject, kPermissions, kCaller };

// "default", "user", "user-platform", "project", "permissions", "caller".
std::string_view LayerName(Layer layer);

struct Origin {
  Layer layer = Layer::kDefault;
  // RFC 6901, relative to the document as it was handed over.
  std::string pointer;

  bool operator==(const Origin&) const = default;
};

// "user:/terminal/sandbox/allow_network", or "default" for a built-in value.
std::string Describe(const Origin& origin);

// Appends one reference token, escaped as RFC 6901 asks.
std::string AppendPointer(std::string_view pointer, std::string_view token);
std::string AppendPointer(std::string_view pointer, size_t index);

template <typename T>
struct Sourced {
  T value{};
  Origin origin;

  bool operator==(const Sourced&) const = default;
};

// A list with the origin of the whole array and of each element.
template <typename T>
struct SourcedList {
  std::vector<Sourced<T>> items;
  Origin origin;

  bool operator==(const SourcedList&) const = default;
};

using PathList = SourcedList<std::string>;

}  // namespace spty
