// A throw-away directory tree with a home and a project in it. Removed with everything in it, also after a
// failure.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "policy/resolve_policy.h"
#include "settings/layers.h"

namespace spty {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "spty-policy-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "mkdtemp failed";
    // Canonical, so that expectations can be written as plain text.
    root_ = std::filesystem::canonical(name).string();
    Dir("home/me/project");
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::permissions(root_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(root_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string Path(const std::string& relative) const { return root_ + "/" + relative; }
  std::string home() const { return Path("home/me"); }
  std::string project() const { return Path("home/me/project"); }
  std::string Home(const std::string& relative) const { return home() + "/" + relative; }
  std::string Project(const std::string& relative) const { return project() + "/" + relative; }

  std::string Dir(const std::string& relative) const {
    std::filesystem::create_directories(Path(relative));
    return Path(relative);
  }
  std::string File(const std::string& relative, const std::string& text = "x") const {
    std::filesystem::create_directories(std::filesystem::path(Path(relative)).parent_path());
    std::ofstream(Path(relative)) << text;
    return Path(relative);
  }
  std::string Link(const std::string& relative, const std::string& target) const {
    std::filesystem::create_directories(std::filesystem::path(Path(relative)).parent_path());
    std::filesystem::create_symlink(target, Path(relative));
    return Path(relative);
  }

  // A policy of these (user) settings for the project.
  PolicyInput Input(const std::string& user_settings, const std::string& project_settings = "") const {
    LayersInput layers;
    layers.user = LayerText{user_settings, "", DocumentShape::kAuto};
    if (!project_settings.empty()) layers.project = LayerText{project_settings, "", DocumentShape::kAuto};
    SettingsResult<ResolvedSettings> resolved = ResolveSettings(layers);
    EXPECT_TRUE(resolved.ok()) << (resolved.ok() ? "" : Describe(resolved.error()));
    PolicyInput input;
    auto settings = std::make_shared<Settings>();
    if (resolved.ok()) *settings = resolved.value().settings;
    // The tree itself lies in one of these, and would be granted as a whole.
    std::erase_if(settings->read_write.items, [](const Sourced<std::string>& path) {
      return path.value == "/tmp" || path.value == "/var/tmp";
    });
    input.settings = std::move(settings);
    input.home = home();
    input.project_dir = project();
    input.cwd = project();
    return input;
  }

  // The same input with other settings.
  static void Change(PolicyInput& input, const std::function<void(Settings&)>& change) {
    auto settings = std::make_shared<Settings>(*input.settings);
    change(*settings);
    input.settings = std::move(settings);
  }

  std::shared_ptr<const Policy> Resolve(PolicyInput input) const {
    SettingsResult<std::shared_ptr<const Policy>> policy = ResolvePolicy(std::move(input));
    EXPECT_TRUE(policy.ok()) << (policy.ok() ? "" : Describe(policy.error()));
    return policy.ok() ? policy.value() : std::make_shared<const Policy>(PolicyParts{});
  }
  std::shared_ptr<const Policy> Resolve(const std::string& user_settings) const {
    return Resolve(Input(user_settings));
  }

  SettingsError ErrorOf(PolicyInput input) const {
    const auto policy = ResolvePolicy(std::move(input));
    EXPECT_FALSE(policy.ok());
    return policy.ok() ? SettingsError{} : policy.error();
  }

 private:
  std::string root_;
};

inline const Grant* FindGrant(const Policy& policy, const std::string& path) {
  for (const Grant& grant : policy.grants()) {
    if (grant.path() == path) return &grant;
  }
  return nullptr;
}

inline const Hole* FindHole(const Policy& policy, const std::string& path) {
  for (const Hole& hole : policy.holes()) {
    if (hole.path == path) return &hole;
  }
  return nullptr;
}

inline const SkippedPath* FindSkipped(const Policy& policy, const std::string& text) {
  for (const SkippedPath& skipped : policy.skipped()) {
    if (skipped.text == text) return &skipped;
  }
  return nullptr;
}

}  // namespace spty
