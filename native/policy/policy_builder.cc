#include "policy/policy_builder.h"

#include <cerrno>
#include <cstring>

#include "policy/path_text.h"
#include "policy/planted_links.h"
#include "settings/text.h"

namespace spty {

SettingsError PolicyError(const Origin& at, std::string message, std::string suggestion, std::string path,
                          int err) {
  SettingsError error;
  error.code = kErrPolicy;
  error.at = at;
  error.message = std::move(message);
  error.suggestion = std::move(suggestion);
  error.path = std::move(path);
  error.err = err;
  return error;
}

namespace {

std::string AdviceFor(int err) {
  if (err == EMFILE || err == ENFILE) {
    return "Dispose of policies that are no longer needed, or raise the limit of open files.";
  }
  return "Remove it from the settings, or make it accessible.";
}

}  // namespace

void PolicyBuilder::Skip(const Sourced<std::string>& text, const std::string& path, SkipReason reason,
                         std::string message) {
  parts.skipped.push_back({text.value, path, reason, std::move(message), text.origin});
}

SettingsResult<bool> PolicyBuilder::Pin(const Sourced<std::string>& text, GrantRequest& request) {
  Expansion expansion = resolver.Expand(text.value);
  switch (expansion.outcome) {
    case Expansion::Outcome::kPath:
      break;
    case Expansion::Outcome::kUnsetVariable:
      Skip(text, "", SkipReason::kUnsetVariable, "The variable " + expansion.text + " is not set.");
      return false;
    case Expansion::Outcome::kNoProject:
      return PolicyError(text.origin,
                         Quoted(text.value) + " is relative to the project, and there is no project.",
                         "Pass projectDir, or write an absolute path.");
    case Expansion::Outcome::kBadSyntax:
      return PolicyError(text.origin, Quoted(text.value) + " cannot be expanded. " + expansion.text, "");
  }
  Result<PathLookup> found = resolver.LookUp(expansion.text);
  if (!found.ok()) {
    return PolicyError(text.origin,
                       Quoted(text.value) + " may exist, but where it leads cannot be told: " +
                           std::strerror(found.error().err) + ".",
                       AdviceFor(found.error().err), expansion.text, found.error().err);
  }
  if (!found.value().pin) {
    Skip(text, found.value().path, SkipReason::kMissing, "There is no such file or directory.");
    return false;
  }
  request.link_directories = LinkDirectoriesOfTheUser(resolver, found.value());
  request.grant.pin = std::move(*found.value().pin);
  request.grant.origin = text.origin;
  request.spelled = std::move(expansion.text);
  request.text = text.value;
  request.is_explicit = text.origin.layer != Layer::kDefault;
  return true;
}

Failure PolicyBuilder::GrantOne(const Sourced<std::string>& text, Rights rights, GrantKind kind) {
  GrantRequest request;
  const SettingsResult<bool> pinned = Pin(text, request);
  if (!pinned.ok()) return pinned.error();
  if (!pinned.value()) return std::nullopt;
  request.grant.rights = rights;
  request.grant.kind = kind;
  rules.AddGrant(std::move(request));
  return std::nullopt;
}

// Whoever depends on the project and on the private directory gets an error, all others go on without.
Failure DropPlantedGrants(PolicyBuilder& builder) {
  for (const GrantRequest& request : builder.rules.TakePlanted(builder.once_writable)) {
    const Grant& grant = request.grant;
    const std::string message = Quoted(request.text) + " leads through a symbolic link in " +
                                Quoted(request.link_directories.front()) +
                                ". Sessions may write there, so one of them may have made the link.";
    const std::string advice = "Write " + Quoted(grant.path()) + " if that is what you mean.";
    if (grant.kind == GrantKind::kProject || grant.kind == GrantKind::kTemp)
      return PolicyError(grant.origin, message, advice, grant.path(), ELOOP);
    builder.parts.skipped.push_back(
        {request.text, grant.path(), SkipReason::kWritableLink, message + " " + advice, grant.origin});
  }
  return std::nullopt;
}

Failure PolicyBuilder::GrantList(const PathList& list, Rights rights, GrantKind kind) {
  for (const Sourced<std::string>& text : list.items) {
    if (Failure failure = GrantOne(text, rights, kind)) return failure;
  }
  return std::nullopt;
}

}  // namespace spty
