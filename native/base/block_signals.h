// Signals belong to the host's threads: one of ours would otherwise be picked to run its handlers. A new
// thread inherits the mask that its creator has at that moment.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace spty {

class BlockAllSignals {
 public:
  BlockAllSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockAllSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockAllSignals(const BlockAllSignals&) = delete;
  BlockAllSignals& operator=(const BlockAllSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace spty
