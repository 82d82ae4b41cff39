// What a session may talk to, and what all of it needs from the kernel.
#include "policy/path_text.h"
#include "policy/planted_links.h"
#include "policy/policy_builder.h"
#include "settings/text.h"

namespace spty {
namespace {

// Its value comes from the environment and is usually a name in a directory that every session may write:
// only what is the agent's socket now counts, no directory and no place where one may be made later.
bool IsAgentSocket(const Sourced<std::string>& text) { return text.value == "$SSH_AUTH_SOCK"; }

}  // namespace

Failure AddSockets(PolicyBuilder& builder) {
  for (const Sourced<std::string>& text : builder.settings.unix_sockets.items) {
    const Expansion expansion = builder.resolver.Expand(text.value);
    if (expansion.outcome == Expansion::Outcome::kUnsetVariable) {
      builder.Skip(text, "", SkipReason::kUnsetVariable, "The variable " + expansion.text + " is not set.");
      continue;
    }
    if (expansion.outcome != Expansion::Outcome::kPath) {
      return PolicyError(text.origin, Quoted(text.value) + " cannot be resolved to a socket.",
                         "Write an absolute path.");
    }
    Result<PathLookup> found = builder.resolver.LookUp(expansion.text);
    if (!found.ok()) {
      // Where nobody can look nobody can connect either; an explicit one is worth an error.
      if (text.origin.layer == Layer::kDefault) continue;
      return PolicyError(text.origin, Quoted(text.value) + " may exist, but where it leads cannot be told.",
                         "Remove it from the settings, or make it accessible.", expansion.text,
                         found.error().err);
    }
    const PathLookup& place = found.value();
    if (const std::string* directory = FindUntrustedForSockets(
            place.link_directories, builder.parts, builder.canonical_home, builder.once_writable)) {
      builder.Skip(text, place.path, SkipReason::kWritableLink,
                   Quoted(expansion.text) + " leads through a symbolic link in " + Quoted(*directory) +
                       ", which a session may have made. Write " + Quoted(place.path) +
                       " if that is what you mean.");
      continue;
    }
    const bool exists = place.pin.has_value();
    if (IsAgentSocket(text) && (!exists || place.pin->type != FileType::kSocket)) {
      builder.Skip(text, place.path, exists ? SkipReason::kNoSocket : SkipReason::kMissing,
                   exists ? "This is not a socket." : "There is no such socket.");
      continue;
    }
    if (!exists && text.origin.layer != Layer::kDefault) {
      builder.Skip(text, place.path, SkipReason::kMissing, "There is no such socket yet.");
    }
    builder.parts.unix_sockets.push_back(
        {place.path, exists, text.origin, exists ? place.pin->type : FileType::kOther});
  }
  return std::nullopt;
}

void AddNetwork(PolicyBuilder& builder) {
  const Settings& settings = builder.settings;
  NetworkPolicy& network = builder.parts.network;
  network.hosts = settings.network_hosts;
  network.denied = settings.denied_domains;
  network.all_hosts = settings.network_all.value;
  network.origin = settings.network_all.origin;
  if (network.all_hosts) {
    network.mode = network.denied.items.empty() ? NetworkMode::kAll : NetworkMode::kFiltered;
  } else {
    network.mode = network.hosts.items.empty() ? NetworkMode::kNone : NetworkMode::kFiltered;
  }
}

void AddRequiredProtections(PolicyBuilder& builder) {
  PolicyParts& parts = builder.parts;
  const Settings& settings = builder.settings;
  std::vector<Protection>& required = parts.required;
  required = {Protection::kFiles,      Protection::kUnixSockets, Protection::kOutsiders,
              Protection::kSyscalls,   Protection::kPrivileges,  Protection::kDescriptors,
              Protection::kEnvironment};
  const auto need = [&](bool condition, Protection protection) {
    if (condition) required.push_back(protection);
  };
  bool read_holes = false;
  bool write_holes = false;
  for (const Hole& hole : parts.holes) {
    read_holes = read_holes || hole.cuts_read;
    write_holes = write_holes || hole.cuts_write;
  }
  need(read_holes, Protection::kReadHoles);
  need(write_holes, Protection::kWriteHoles);
  need(settings.temp.value == TempMode::kPrivate, Protection::kPrivateTemp);
  need(settings.nested_pty.value == NestedPty::kPrivate, Protection::kPrivatePty);
  need(parts.network.mode != NetworkMode::kAll, Protection::kNetwork);
  need(settings.max_processes || settings.max_memory_bytes || settings.max_cpu_percent, Protection::kLimits);
}

}  // namespace spty
