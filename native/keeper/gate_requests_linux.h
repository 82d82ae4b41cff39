// The requests under way, one place for each thread of the gate.
//
// A caller that dies, or is interrupted by a signal, no longer waits for its answer, but the kernel does not
// say so: somebody has to ask. A watcher does, and interrupts the thread that connects for nobody, so that it
// lets go of its copy of the socket. The watcher is started with the first connect and wakes up only while
// there are some.
#pragma once

#include <stdint.h>

namespace spty {

// Its handler does nothing; it makes a blocking call fail with EINTR. Every gate thread has all other signals
// blocked. A stray one is harmless: whoever is interrupted asks whether its caller still waits.
inline constexpr int kGateInterrupt = 60;  // no C library uses it

// Once, before the first thread: 0 or an errno.
int PrepareRequests(int listener);

// A place for the calling thread, to be given back when it ends. Negative if all are taken.
int ClaimPlace();
void FillPlace(int place);  // by the thread itself: its number
void LeavePlace(int place);

// A connect under way. While it lives the watcher looks after its caller.
//
// A caller whose signal handler has SA_RESTART calls again by itself, for the same socket. Whoever still
// connects for its first call is then sent away before the second one begins, or it would be woken in its
// stead. And if the first one had succeeded, the caller would be told EISCONN, as if the program had called
// twice: so a result that nobody heard is kept, and the next call on that socket gets it.
class UnderWay {
 public:
  // `cookie` is the socket's.
  UnderWay(int place, uint64_t request, uint64_t cookie);
  ~UnderWay();
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

  int error() const { return error_; }  // EAGAIN if nobody can watch
  // What to answer when connect has said `result`.
  int Answer(int result);
  // The caller did not wait for the answer.
  void Keep(int result);

 private:
  int place_;
  uint64_t cookie_;
  int error_;
};

}  // namespace spty
