// The steps of ResolvePolicy that fill a RuleSet. Each looks up its own part of the settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/path_resolver.h"
#include "policy/resolve_policy.h"
#include "policy/rule_set.h"

namespace spty {

using Failure = std::optional<SettingsError>;

SettingsError PolicyError(const Origin& at, std::string message, std::string suggestion,
                          std::string path = "", int err = 0);

struct PolicyBuilder {
  const PolicyInput& input;
  const Settings& settings;
  PathResolver resolver;
  std::string canonical_home;
  RuleSet rules;
  PolicyParts parts;
  // Of the links that led to the project, those that a process of this user can have made.
  std::vector<std::string> project_links;
  // What other sessions of the same user's settings could write; see planted_links.h.
  std::vector<std::string> once_writable;
  // Whether a directory can have a second name; see second_names.h.
  bool mounts_share = false;

  // Fills in the path of a setting; false if it was skipped, which has then been noted.
  SettingsResult<bool> Pin(const Sourced<std::string>& text, GrantRequest& request);
  Failure GrantList(const PathList& list, Rights rights, GrantKind kind);
  Failure GrantOne(const Sourced<std::string>& text, Rights rights, GrantKind kind);
  void Skip(const Sourced<std::string>& text, const std::string& path, SkipReason reason,
            std::string message);
};

Failure AddProject(PolicyBuilder& builder);
Failure AddSystemPaths(PolicyBuilder& builder);
Failure AddUserPaths(PolicyBuilder& builder);
Failure AddTemp(PolicyBuilder& builder);
Failure AddCredentialHoles(PolicyBuilder& builder);
Failure AddGit(PolicyBuilder& builder);
// Both before the rules are settled.
Failure NoteOnceWritable(PolicyBuilder& builder);
Failure DropPlantedGrants(PolicyBuilder& builder);
// After that: which links may be followed to a socket depends on them.
Failure AddSockets(PolicyBuilder& builder);
void AddNetwork(PolicyBuilder& builder);
void AddRequiredProtections(PolicyBuilder& builder);

}  // namespace spty
