// The host's handle on one keeper.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "keeper/plan.h"
#include "session/frame_reader.h"

namespace spty {

class KeeperProcess {
 public:
  // Starts the program at `path`: in a session of its own (a Ctrl-C in the host's terminal is not meant for
  // it), all signals blocked, /dev/null as stdio, its control socket the only other descriptor.
  static Result<KeeperProcess> Start(const std::string& path);
  KeeperProcess(KeeperProcess&&) noexcept;
  KeeperProcess& operator=(KeeperProcess&&) = delete;
  // If the keeper has not been reaped: ends its session and waits for it, until a second after it was told.
  ~KeeperProcess();

  // Tells the keeper what is about to be made for the session, so that it can remove that if there is never a
  // plan. `place` is the directory of the cgroup, or -1.
  Result<void> Reserve(const Reservation& reservation, int place);
  // Sends the plan with the descriptors that it speaks of.
  Result<void> SendPlan(const std::string& plan, std::span<const int> fds);
  // Asks what the kernel offers. The keeper ends after its answer.
  Result<wire::Features> Probe();
  // Waits for the next frame; an error if the keeper closes or says nothing for ten seconds.
  Result<Frame> Await();

  // Asks for a signal to the shell. Any thread. False if the session is over.
  bool SendSignal(int number);
  // Tells the keeper that the session is over. Any thread, any number of times.
  void EndSession();

  pid_t pid() const { return pid_; }
  int control() const { return control_.get(); }
  FrameReader& frames() { return frames_; }
  // Once the keeper has closed its end: waits for its last instructions and forgets it.
  void Reap();
  // Ends the session and forgets the keeper without waiting; whoever starts the next one reaps it.
  void ReapLater();

 private:
  Result<void> Send(wire::Type type, const std::string& payload, std::span<const int> fds);
  KeeperProcess(Fd control, pid_t pid) : control_(std::move(control)), pid_(pid) {}

  std::mutex sending_;
  bool ended_ = false;
  std::chrono::steady_clock::time_point ended_at_{};
  Fd control_;
  FrameReader frames_;
  pid_t pid_ = 0;
};

}  // namespace spty
