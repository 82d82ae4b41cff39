// A policy for people and programs.
#include "policy/policy.h"
#include "settings/json_writer.h"

namespace spty {
namespace {

void WriteOrigin(JsonWriter& out, const Origin& origin) {
  out.Key("by").BeginObject().Key("layer").String(LayerName(origin.layer));
  out.Key("pointer").String(origin.pointer).EndObject();
}

void WriteGrants(JsonWriter& out, const Policy& policy) {
  out.Key("grants").BeginArray();
  for (const Grant& grant : policy.grants()) {
    out.BeginObject().Key("path").String(grant.path()).Key("rights").String(NameOf(grant.rights));
    out.Key("kind").String(NameOf(grant.kind));
    WriteOrigin(out, grant.origin);
    out.EndObject();
  }
  out.EndArray();
}

void WriteHoles(JsonWriter& out, const Policy& policy) {
  out.Key("holes").BeginArray();
  for (const Hole& hole : policy.holes()) {
    out.BeginObject().Key("path").String(hole.path).Key("denies").String(hole.denies_read ? "read+write"
                                                                                          : "write");
    out.Key("kind").String(NameOf(hole.kind)).Key("exists").Bool(hole.pin.has_value());
    out.Key("cutsRead").Bool(hole.cuts_read).Key("cutsWrite").Bool(hole.cuts_write);
    WriteOrigin(out, hole.origin);
    out.EndObject();
  }
  out.EndArray();
}

void WriteHosts(JsonWriter& out, std::string_view key, const HostList& hosts) {
  out.Key(key).BeginArray();
  for (const auto& host : hosts.items) out.String(host.value.ToString());
  out.EndArray();
}

void WriteReach(JsonWriter& out, const Policy& policy) {
  out.Key("unixSockets").BeginArray();
  for (const SocketRule& rule : policy.unix_sockets()) {
    out.BeginObject().Key("path").String(rule.path).Key("exists").Bool(rule.exists);
    WriteOrigin(out, rule.origin);
    out.EndObject();
  }
  out.EndArray();
  const NetworkPolicy& network = policy.network();
  out.Key("network").BeginObject().Key("mode").String(NameOf(network.mode));
  out.Key("allHosts").Bool(network.all_hosts);
  WriteHosts(out, "hosts", network.hosts);
  WriteHosts(out, "denied", network.denied);
  WriteOrigin(out, network.origin);
  out.EndObject();
}

void WriteRepositories(JsonWriter& out, const Policy& policy) {
  out.Key("repositories").BeginArray();
  for (const GitRepository& repo : policy.repositories()) {
    out.BeginObject().Key("kind").String(NameOf(repo.kind)).Key("worktree").String(repo.worktree);
    out.Key("gitDir").String(repo.git_dir).Key("commonDir").String(repo.common_dir);
    out.Key("verified").Bool(repo.verified).EndObject();
  }
  out.EndArray();
}

void WriteSkipped(JsonWriter& out, const Policy& policy) {
  out.Key("skipped").BeginArray();
  for (const SkippedPath& skipped : policy.skipped()) {
    out.BeginObject().Key("text").String(skipped.text).Key("path").String(skipped.path);
    out.Key("reason").String(NameOf(skipped.reason)).Key("message").String(skipped.message);
    WriteOrigin(out, skipped.origin);
    out.EndObject();
  }
  out.EndArray();
}

void WriteLimits(JsonWriter& out, const Limits& limits) {
  out.Key("limits").BeginObject();
  if (limits.processes) out.Key("processes").Integer(limits.processes->value);
  if (limits.memory_bytes) out.Key("memoryBytes").Integer(limits.memory_bytes->value);
  if (limits.cpu_percent) out.Key("cpuPercent").Number(limits.cpu_percent->value);
  out.EndObject();
}

}  // namespace

std::string PolicyToJson(const Policy& policy) {
  JsonWriter out;
  out.BeginObject().Key("confined").Bool(policy.confined());
  WriteOrigin(out, policy.confined_by());
  out.Key("kind").String(NameOf(policy.kind())).Key("project").String(policy.project());
  out.Key("gitAccess").String(NameOf(policy.git_access())).Key("temp").String(NameOf(policy.temp()));
  out.Key("nestedPty").String(NameOf(policy.nested_pty())).Key("backend").String(NameOf(policy.backend()));
  out.Key("strict").Bool(policy.strict()).Key("failIfUnavailable").Bool(policy.fail_if_unavailable());
  WriteGrants(out, policy);
  WriteHoles(out, policy);
  WriteReach(out, policy);
  WriteRepositories(out, policy);
  WriteSkipped(out, policy);
  WriteLimits(out, policy.limits());
  out.Key("required").BeginArray();
  for (Protection protection : policy.required()) out.String(NameOf(protection));
  out.EndArray().Key("environment").BeginArray();
  for (const EnvVar& var : policy.environment()) out.String(var.name);
  out.EndArray().EndObject();
  return out.Take();
}

}  // namespace spty
