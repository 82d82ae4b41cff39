#include "settings/tighten.h"

#include <algorithm>

#include "settings/defaults.h"
#include "settings/text.h"
#include "settings/tighten_lists.h"

namespace spty {
namespace {

constexpr char kUntrusted[] = " An untrusted project can only take away.";

using Refusals = std::vector<Refusal>;

void Refuse(const Origin& at, std::string message, Refusals& refused) {
  refused.push_back({at, std::move(message) + kUntrusted});
}

// Enumerations in order of what they allow.
template <typename E>
void Lower(const Field<E>& asked, Sourced<E>& setting, Refusals& refused) {
  if (!asked || asked->value == setting.value) return;
  if (asked->value < setting.value) {
    setting = *asked;
  } else {
    Refuse(asked->origin,
           Quoted(NameOf(asked->value)) + " is more than the " + Quoted(NameOf(setting.value)) + " in force.",
           refused);
  }
}

// A switch of which one position is the tight one.
void Flip(const Field<bool>& asked, bool tight, Sourced<bool>& setting, Refusals& refused) {
  if (!asked || asked->value == setting.value) return;
  if (asked->value == tight) {
    setting = *asked;
  } else {
    Refuse(asked->origin, std::string("This stays ") + (tight ? "true." : "false."), refused);
  }
}

template <typename T>
void Cap(const Field<T>& asked, std::optional<Sourced<T>>& limit, Refusals& refused) {
  if (!asked) return;
  if (!limit || asked->value <= limit->value) {
    limit = asked;
  } else {
    Refuse(asked->origin, "The limit in force is lower.", refused);
  }
}

unsigned KindsOf(ApplyTo apply_to) {
  switch (apply_to) {
    case ApplyTo::kTerminal:
      return 1;
    case ApplyTo::kTool:
      return 2;
    case ApplyTo::kBoth:
      return 3;
    case ApplyTo::kNeither:
      break;
  }
  return 0;
}

// More kinds of session confined is tighter.
void WidenApplyTo(const Field<ApplyTo>& asked, Sourced<ApplyTo>& setting, Refusals& refused) {
  if (!asked) return;
  const unsigned before = KindsOf(setting.value);
  const unsigned wanted = KindsOf(asked->value);
  if ((before & ~wanted) != 0) Refuse(asked->origin, "Sessions that are confined stay confined.", refused);
  if ((before | wanted) == before) return;
  const bool both = (before | wanted) == 3;
  setting = {both ? ApplyTo::kBoth : asked->value, asked->origin};
}

// A profile is a bundle: each of its parts is taken if it is the tighter one.
void LowerProfile(const Field<Profile>& asked, Settings& settings, Refusals& refused) {
  if (!asked || asked->value == settings.profile.value) return;
  if (asked->value == Profile::kOff) return Refuse(asked->origin, "The sandbox stays on.", refused);
  const ProfileDefaults& wanted = DefaultsOf(asked->value);
  Refusals wider;
  const auto field = [&](auto value) { return Field<decltype(value)>({value, asked->origin}); };
  Lower(field(wanted.read_access), settings.read_access, wider);
  Lower(field(wanted.project_access), settings.project_access, wider);
  Lower(field(wanted.git_access), settings.git_access, wider);
  Lower(field(wanted.temp), settings.temp, wider);
  Lower(field(wanted.nested_pty), settings.nested_pty, wider);
  if (!wanted.network && settings.network_all.value) {
    settings.network_all = {false, asked->origin};
    settings.network_hosts = {{}, asked->origin};
  } else if (wanted.network && !settings.network_all.value) {
    wider.emplace_back();
  }
  if (!wanted.system_read_write) {
    std::erase_if(settings.read_write.items, [](const Sourced<std::string>& path) {
      return path.origin.layer == Layer::kDefault && path.value != "/dev";
    });
  }
  if (!wanted.ssh_agent) {
    std::erase_if(settings.unix_sockets.items, [](const Sourced<std::string>& path) {
      return path.origin.layer == Layer::kDefault && path.value == kSshAgentSocket;
    });
  }
  if (wider.empty()) {
    settings.profile = *asked;
  } else {
    Refuse(asked->origin,
           Quoted(NameOf(asked->value)) + " is applied only where it is tighter than what is in force.",
           refused);
  }
}

void LowerBackend(const Field<Backend>& asked, Settings& settings, Refusals& refused) {
  Sourced<Backend>& setting = settings.backend;
  if (!asked || asked->value == setting.value) return;
  // Which of two real ones protects better depends on the machine; that is the user's choice. With "noop" and
  // fail_if_unavailable no session starts at all, and a project must not change that either.
  if (setting.value == Backend::kNoop && !settings.fail_if_unavailable.value) {
    setting = *asked;
  } else {
    Refuse(asked->origin, "The backend stays " + Quoted(NameOf(setting.value)) + ".", refused);
  }
}

WritablePlaces WritableIn(const Settings& settings) {
  return {settings.read_write, settings.additional_read_write, settings.project_access.value,
          settings.allow_fs_write_all.value};
}

bool SameTexts(const PathList& a, const PathList& b) {
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    [](const auto& x, const auto& y) { return x.value == y.value; });
}

bool Same(const WritablePlaces& a, const WritablePlaces& b) {
  return a.project == b.project && a.everything == b.everything && SameTexts(a.system, b.system) &&
         SameTexts(a.additional, b.additional);
}

}  // namespace

std::vector<Refusal> Tighten(const SettingsContent& asked, Settings& settings) {
  Refusals refused;
  WritablePlaces before = WritableIn(settings);
  Flip(asked.enabled, true, settings.enabled, refused);
  WidenApplyTo(asked.apply_to, settings.apply_to, refused);
  LowerProfile(asked.profile, settings, refused);
  Lower(asked.read_access, settings.read_access, refused);
  Lower(asked.git_access, settings.git_access, refused);
  Lower(asked.temp, settings.temp, refused);
  Lower(asked.nested_pty, settings.nested_pty, refused);
  TightenLists(asked, settings, refused);
  TightenNetwork(asked, settings, refused);
  Flip(asked.allow_fs_write_all, false, settings.allow_fs_write_all, refused);
  Flip(asked.allow_unsandboxed, false, settings.allow_unsandboxed, refused);
  Flip(asked.allow_wide_project, false, settings.allow_wide_project, refused);
  Flip(asked.strict, true, settings.strict, refused);
  // Before the next line: the user's own fail_if_unavailable counts.
  LowerBackend(asked.backend, settings, refused);
  Flip(asked.fail_if_unavailable, true, settings.fail_if_unavailable, refused);
  Cap(asked.max_processes, settings.max_processes, refused);
  Cap(asked.max_memory_bytes, settings.max_memory_bytes, refused);
  Cap(asked.max_cpu_percent, settings.max_cpu_percent, refused);
  DropSharedTemp(settings);
  // A denial, too, makes places unwritable where sessions have left links.
  if (!Same(before, WritableIn(settings)) || asked.denied_read)
    settings.before_tightening = std::move(before);
  return refused;
}

void RefusePermissions(const PermissionsContent& asked, std::vector<Refusal>& refused) {
  const auto flag = [&](const Field<bool>& field) {
    if (field && field->value) Refuse(field->origin, "A project cannot approve this for itself.", refused);
  };
  const auto list = [&](const auto& field) {
    if (!field) return;
    for (const auto& item : field->items)
      Refuse(item.origin, "A project cannot approve this for itself.", refused);
  };
  list(asked.network_hosts);
  list(asked.write_paths);
  flag(asked.allow_all_hosts);
  flag(asked.allow_git_access);
  flag(asked.allow_fs_write_all);
  flag(asked.allow_unsandboxed);
}

}  // namespace spty
