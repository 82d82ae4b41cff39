#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>

#include "base/eintr.h"
#include "base/fd.h"
#include "session/foreground.h"

namespace spty {

std::string ForegroundProgram(int master) {
  pid_t group = tcgetpgrp(master);
  if (group <= 0) return "";
  std::string path = "/proc/" + std::to_string(group) + "/cmdline";
  Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return "";
  char buffer[4096];
  ssize_t size = RetryEintr([&] { return read(file.get(), buffer, sizeof buffer); });
  if (size <= 0) return "";
  return std::string(buffer, strnlen(buffer, static_cast<size_t>(size)));
}

}  // namespace spty
