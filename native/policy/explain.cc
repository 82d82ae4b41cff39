#include "policy/explain.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "policy/path_resolver.h"
#include "policy/path_text.h"
#include "policy/suggest.h"
#include "settings/json_writer.h"
#include "settings/text.h"

namespace spty {
namespace {

constexpr uint16_t kDefaultPort = 443;

struct HostAndPort {
  std::string_view host;
  uint16_t port = kDefaultPort;
};

HostAndPort SplitPort(std::string_view target) {
  const size_t colon = target.rfind(':');
  // More than one colon: an IPv6 address, which is no host name.
  if (colon == std::string_view::npos || target.find(':') != colon) return {target};
  uint16_t port = 0;
  const std::string_view digits = target.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) return {target};
  return {target.substr(0, colon), port};
}

bool LooksLikePath(std::string_view target) {
  return target.starts_with('/') || target.starts_with('~') || target.starts_with('.') ||
         target.starts_with('$');
}

void ExplainHost(const Policy& policy, Explanation& result) {
  const HostAndPort asked = SplitPort(result.target);
  const std::string host = NormalizeHost(asked.host).value_or("");
  result.resolved = host.empty() ? result.target : host + ":" + std::to_string(asked.port);
  const NetworkPolicy& network = policy.network();
  result.by = network.origin;
  result.allowed = network.Allows(asked.host, asked.port);
  const auto matching = [&](const HostList& list) -> const Origin* {
    for (const auto& item : list.items) {
      if (item.value.Matches(asked.host, asked.port)) return &item.origin;
    }
    return nullptr;
  };
  if (const Origin* denied = matching(network.denied);
      denied != nullptr && network.mode != NetworkMode::kNone) {
    result.by = *denied;
    result.reason = "The host is denied.";
  } else if (const Origin* listed = matching(network.hosts); listed != nullptr && !network.all_hosts) {
    result.by = *listed;
    result.reason = "The host is listed.";
  } else if (network.mode == NetworkMode::kNone) {
    result.reason = "The session has no network.";
  } else {
    result.reason = result.allowed ? "The network is open." : "The host is not listed.";
  }
  if (!result.allowed) result.suggestion = SuggestForHost(policy, host, asked.port);
}

void ExplainSocket(const Policy& policy, const PathLookup& target, Explanation& result) {
  if (const SocketRule* rule = policy.FindSocketRule(target.path)) {
    result.allowed = true;
    result.by = rule->origin;
    result.reason = "The socket is listed.";
    return;
  }
  const FileDecision decision = policy.Decide(target.path, Rights::kReadWrite);
  if (decision.allowed && MayHoldSockets(*decision.grant)) {
    result.allowed = true;
    result.by = decision.grant->origin;
    result.reason = "The socket is in the project or in the session's own temporary directory.";
    return;
  }
  result.by = policy.settings().unix_sockets.origin;
  result.reason = "The socket is not listed. Sockets that the session makes itself are allowed anywhere.";
  result.suggestion = SuggestForSocket(policy, target.path);
}

std::string ReasonFor(const Hole& hole) {
  switch (hole.kind) {
    case HoleKind::kCredential:
      return "It is cut out of every wider grant.";
    case HoleKind::kGit:
      return "It is Git metadata.";
    case HoleKind::kDevice:
      break;
  }
  if (!IsWithin(hole.path, "/dev")) return "What is mounted there shows the kernel or devices, not files.";
  return "Only the basic devices are granted.";
}

// The nearest directory that is there: itself, or the one in which it would have to be made.
std::string ExistingDirectory(PathResolver& resolver, const PathLookup& target) {
  if (target.pin) return target.pin->type == FileType::kDirectory ? target.path : std::string();
  for (std::string place = ParentOf(target.path); place != "/"; place = ParentOf(place)) {
    const Result<PathLookup> found = resolver.LookUp(place);
    if (found.ok() && found.value().pin) return found.value().path;
  }
  return "/";
}

// What a grant on Linux does not reach although it lies in it; empty if it is reached.
std::string BeyondReach(const Policy& policy, PathResolver& resolver, const PathLookup& target,
                        const Grant& grant, Access access) {
  if (policy.settings().platform != Platform::kLinux) return {};
  const bool of_kernel = IsWithin(target.path, "/proc") || IsWithin(target.path, "/sys");
  if (access == Access::kWrite && of_kernel)
    return "What the kernel shows there is granted for reading only.";
  const std::string directory = ExistingDirectory(resolver, target);
  if (directory.empty()) return {};
  for (const Hole& hole : policy.holes()) {
    if (!IsGrantedAround(grant, hole) || hole.path == directory || !IsWithin(hole.path, directory)) continue;
    return ShortenHome(directory, policy.home()) + " holds " + ShortenHome(hole.path, policy.home()) +
           ", which is protected: what else is in it when the session starts is granted, but it cannot be " +
           "listed, and nothing new can be made or reached in it.";
  }
  return {};
}

void ExplainFile(const Policy& policy, PathResolver& resolver, const PathLookup& target,
                 Explanation& result) {
  const FileDecision decision = policy.Decide(target.path, RightsFor(result.access));
  if (decision.allowed) result.reason = BeyondReach(policy, resolver, target, *decision.grant, result.access);
  result.allowed = decision.allowed && result.reason.empty();
  if (decision.allowed && !result.allowed) {
    result.by = decision.grant->origin;
    if (!target.pin) result.suggestion = SuggestCreation(policy, target.path);
    return;
  }
  if (result.allowed) {
    result.by = decision.grant->origin;
    result.reason = "Granted (" + std::string(NameOf(decision.grant->rights)) + ") with " +
                    ShortenHome(decision.grant->path(), policy.home()) + ".";
    return;
  }
  if (decision.hole != nullptr) {
    result.by = decision.hole->origin;
    result.reason = ReasonFor(*decision.hole);
  } else {
    result.by = policy.confined_by();
    result.reason = "No setting grants it.";
  }
  result.suggestion = SuggestForPath(policy, resolver, result.access, target, decision.hole);
}

}  // namespace

Explanation Explain(const Policy& policy, Access access, std::string_view target) {
  Explanation result;
  result.access = access;
  result.target = target;
  result.resolved = target;
  if (!policy.confined()) {
    result.allowed = true;
    result.by = policy.confined_by();
    result.reason = "The session is not confined.";
    return result;
  }
  if (access == Access::kConnect && !LooksLikePath(target)) {
    ExplainHost(policy, result);
    return result;
  }
  PathResolver resolver(policy.home(), policy.project(), policy.environment());
  const Expansion expansion = resolver.Expand(target);
  const bool has_nul = target.find('\0') != std::string_view::npos;
  if (has_nul || expansion.outcome != Expansion::Outcome::kPath) {
    result.by = policy.confined_by();
    result.reason = "This is not a path that can be resolved.";
    return result;
  }
  const Result<PathLookup> found = resolver.LookUp(expansion.text);
  if (!found.ok()) {
    result.by = policy.confined_by();
    result.resolved = expansion.text;
    result.reason = std::string("It cannot be resolved: ") + std::strerror(found.error().err) + ".";
    return result;
  }
  result.resolved = found.value().path;
  if (access == Access::kConnect) {
    ExplainSocket(policy, found.value(), result);
  } else {
    ExplainFile(policy, resolver, found.value(), result);
  }
  return result;
}

std::string ExplanationToText(const Explanation& e) {
  std::string text = std::string(NameOf(e.access)) + " " + Quoted(e.target);
  if (e.resolved != e.target) text += " (" + Quoted(e.resolved) + ")";
  text += std::string(": ") + (e.allowed ? "allowed" : "denied") + ". " + e.reason + "\n";
  text += e.by.layer == Layer::kDefault
              ? "Decided by the default of " + e.by.pointer + ".\n"
              : "Decided by " + e.by.pointer + " (" + std::string(LayerName(e.by.layer)) + ").\n";
  if (e.suggestion) {
    text += "To allow it: " + e.suggestion->text + "\n";
    if (!e.suggestion->caution.empty()) text += "Do not do that lightly: " + e.suggestion->caution + "\n";
  }
  return text;
}

std::string ExplanationToJson(const Explanation& e) {
  JsonWriter out;
  out.BeginObject().Key("access").String(NameOf(e.access)).Key("target").String(e.target);
  out.Key("resolved").String(e.resolved).Key("allowed").Bool(e.allowed);
  out.Key("by")
      .BeginObject()
      .Key("layer")
      .String(LayerName(e.by.layer))
      .Key("pointer")
      .String(e.by.pointer)
      .EndObject();
  out.Key("reason").String(e.reason);
  if (e.suggestion) {
    out.Key("suggestion").BeginObject().Key("text").String(e.suggestion->text);
    if (!e.suggestion->pointer.empty()) {
      out.Key("pointer").String(e.suggestion->pointer).Key("value").String(e.suggestion->value);
    }
    if (!e.suggestion->caution.empty()) out.Key("caution").String(e.suggestion->caution);
    out.EndObject();
  }
  out.Key("text").String(ExplanationToText(e)).EndObject();
  return out.Take();
}

}  // namespace spty
