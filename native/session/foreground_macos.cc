#include <libproc.h>
#include <termios.h>
#include <unistd.h>

#include "session/foreground.h"
#include "track/process_ref.h"

namespace spty {

std::string ForegroundProgram(int master) {
  const pid_t group = tcgetpgrp(master);
  if (group <= 0) return "";
  const auto leader = ReadProcess(group);
  if (!leader) return "";
  // The arguments of another user's process (sudo) cannot be read; its name can.
  const auto argv = ArgumentsOf(*leader);
  return argv.empty() ? leader->name : argv[0];
}

}  // namespace spty
