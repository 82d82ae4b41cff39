#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "base/fd.h"

namespace spty {

// A child that has done `prepare` and then waits; ended and reaped with this object.
class WaitingChild {
 public:
  explicit WaitingChild(const std::function<void()>& prepare = [] {}) {
    int ends[2];
    if (pipe(ends) != 0) return;
    const Fd ready(ends[0]);
    Fd say(ends[1]);
    pid_ = fork();
    if (pid_ == 0) {
      prepare();
      (void)!write(ends[1], "r", 1);
      for (;;) pause();
    }
    say.Reset();
    char byte = 0;
    (void)!read(ready.get(), &byte, 1);
  }
  ~WaitingChild() { End(); }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

  pid_t pid() const { return pid_; }
  // Never -1 or 0, which are everybody: it may not have been had.
  void Kill() const {
    if (pid_ > 0) kill(pid_, SIGKILL);
  }
  void End() {
    if (pid_ <= 0) return;
    Kill();
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace spty
