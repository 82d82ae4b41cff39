// The part of tighten.h that concerns lists: paths, hosts, sockets, environment variables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.h"

namespace spty {

void TightenLists(const SettingsContent& asked, Settings& settings, std::vector<Refusal>& refused);
void TightenNetwork(const SettingsContent& asked, Settings& settings, std::vector<Refusal>& refused);

// One spelling for paths that mean the same to every reader: no doubled or trailing slashes, no "." parts,
// $HOME and ${HOME} as "~". Nothing is looked up.
std::string PathSpelling(std::string_view path);

}  // namespace spty
