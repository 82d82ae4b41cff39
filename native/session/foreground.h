// What runs in the foreground of a terminal.
#pragma once

#include <string>

namespace spty {

// argv[0] of the leader of the terminal's foreground process group; "" if that cannot be told.
std::string ForegroundProgram(int master);

}  // namespace spty
