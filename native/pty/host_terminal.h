// The terminal that a host itself runs in, while it shows a session there.
#pragma once

#include <termios.h>

#include "base/result.h"

namespace spty {

// Every byte passes unchanged in both directions; returns the line settings to go back to. {pty, errno} if
// `fd` is no terminal. Also from the background, where the kernel would stop the process instead.
Result<termios> MakeRaw(int fd);

// After what was written has been shown.
Result<void> RestoreLine(int fd, const termios& line);

// Whether keys of this terminal are for us. A terminal that is not our controlling one never stops us.
bool InForeground(int fd);

struct KeySignals {
  int suspend = -1;     // the key that suspends; -1: keys are just keys
  int foreground = -1;  // the group that keys are for; -1: none
};

// What the line discipline of a session makes of keys, by the master.
KeySignals ReadKeySignals(int master);

// Ends this process as `signal` does by default, without a core: the one that counts is the program's.
// Returns only if that signal ends nobody.
void EndBySignal(int signal);

}  // namespace spty
