#include "settings/tighten_lists.h"

#include <algorithm>

#include "settings/text.h"

namespace spty {
namespace {

using Refusals = std::vector<Refusal>;

bool Lists(const PathList& list, std::string_view path) {
  const std::string spelling = PathSpelling(path);
  return std::any_of(list.items.begin(), list.items.end(),
                     [&](const auto& item) { return PathSpelling(item.value) == spelling; });
}

// Only paths that are granted already, by the same name, survive. A path *below* a granted one does not: it
// could be a symbolic link that the project itself planted there.
void KeepPaths(const std::optional<PathList>& asked, PathList& setting, Refusals& refused) {
  if (!asked) return;
  PathList kept{{}, asked->origin};
  for (const auto& item : setting.items) {
    if (Lists(*asked, item.value)) kept.items.push_back(item);
  }
  for (const auto& item : asked->items) {
    if (Lists(setting, item.value)) continue;
    refused.push_back({item.origin, Quoted(item.value) +
                                        " is not granted: an untrusted project can only choose among "
                                        "the paths that are granted already."});
  }
  setting = std::move(kept);
}

template <typename T, typename List>
bool AnyCovers(const List& list, const T& value) {
  return std::any_of(list.items.begin(), list.items.end(),
                     [&](const auto& item) { return item.value.Covers(value); });
}

// The intersection of two lists of patterns: what either side says, if the other side covers it.
template <typename List>
void Intersect(const List& asked, List& setting, Refusals& refused) {
  List kept{{}, asked.origin};
  for (const auto& item : setting.items) {
    if (AnyCovers(asked, item.value)) kept.items.push_back(item);
  }
  for (const auto& item : asked.items) {
    if (!AnyCovers(setting, item.value)) {
      refused.push_back(
          {item.origin, Quoted(item.value.ToString()) +
                            " is not allowed: an untrusted project can only choose among what is "
                            "allowed already."});
    } else if (!AnyCovers(kept, item.value)) {
      kept.items.push_back(item);
    }
  }
  setting = std::move(kept);
}

// Lists of what is forbidden grow.
void AddPaths(const std::optional<PathList>& asked, PathList& setting, Refusals& refused) {
  if (!asked) return;
  // An explicit list replaces the one before it, so what it leaves out it asks to open.
  const bool removes = std::any_of(setting.items.begin(), setting.items.end(),
                                   [&](const auto& item) { return !Lists(*asked, item.value); });
  for (const auto& item : asked->items) {
    // Also if it is listed already: the later origin outranks a grant that would win over the earlier one.
    setting.items.push_back(item);
  }
  if (removes) {
    refused.push_back(
        {asked->origin, "Paths that are denied stay denied: an untrusted project can only add to them."});
  }
}

}  // namespace

void TightenLists(const SettingsContent& asked, Settings& settings, Refusals& refused) {
  KeepPaths(asked.executable, settings.executable, refused);
  KeepPaths(asked.read_only, settings.read_only, refused);
  KeepPaths(asked.read_write, settings.read_write, refused);
  KeepPaths(asked.additional_executable, settings.additional_executable, refused);
  KeepPaths(asked.additional_read_only, settings.additional_read_only, refused);
  KeepPaths(asked.additional_read_write, settings.additional_read_write, refused);
  KeepPaths(asked.unix_sockets, settings.unix_sockets, refused);
  AddPaths(asked.denied_read, settings.denied_read, refused);
  if (asked.allowed_env_vars) Intersect(*asked.allowed_env_vars, settings.allowed_env_vars, refused);
}

namespace {

void TightenHosts(const SettingsContent& asked, Settings& settings, Refusals& refused) {
  const bool asks_all = (asked.allow_network && asked.allow_network->value) ||
                        (asked.allow_all_hosts && asked.allow_all_hosts->value);
  if (asks_all && !settings.network_all.value) {
    const Origin& at = asked.allow_network && asked.allow_network->value ? asked.allow_network->origin
                                                                         : asked.allow_all_hosts->origin;
    refused.push_back({at, "The network stays as it is: an untrusted project cannot open it."});
  }
  const bool switched_off = asked.allow_network && !asked.allow_network->value;
  const bool names_hosts = asked.network_hosts && !asked.network_hosts->items.empty();
  if (names_hosts && !asks_all) {
    if (settings.network_all.value) {
      settings.network_hosts = *asked.network_hosts;
      settings.network_all = {false, asked.network_hosts->origin};
    } else {
      Intersect(*asked.network_hosts, settings.network_hosts, refused);
    }
    return;
  }
  if (switched_off && !asks_all) {
    settings.network_all = *asked.allow_network;
    settings.network_hosts = {{}, asked.allow_network->origin};
  } else if (asked.network_hosts && !names_hosts && !settings.network_all.value) {
    settings.network_hosts = *asked.network_hosts;
  }
}

}  // namespace

void TightenNetwork(const SettingsContent& asked, Settings& settings, Refusals& refused) {
  if (asked.denied_domains) {
    for (const auto& item : asked.denied_domains->items) settings.denied_domains.items.push_back(item);
  }
  TightenHosts(asked, settings, refused);
  DropHostLookup(settings);
}

std::string PathSpelling(std::string_view path) {
  std::string rest(path);
  for (std::string_view home : {"$HOME", "${HOME}"}) {
    if (rest == home || rest.starts_with(std::string(home) + "/")) rest.replace(0, home.size(), "~");
  }
  std::string result;
  if (rest.starts_with('/')) result = "/";
  for (size_t at = 0; at <= rest.size();) {
    const size_t slash = std::min(rest.find('/', at), rest.size());
    const std::string_view part = std::string_view(rest).substr(at, slash - at);
    at = slash + 1;
    if (part.empty() || part == ".") continue;
    if (!result.empty() && result.back() != '/') result += '/';
    result += part;
  }
  return result.empty() ? "." : result;
}

}  // namespace spty
