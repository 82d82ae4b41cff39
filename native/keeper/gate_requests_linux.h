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

// While an object lives the watcher looks after request `id`.
class RequestWatch {
 public:
  RequestWatch(int place, uint64_t id);
  ~RequestWatch();
  RequestWatch(const RequestWatch&) = delete;
  RequestWatch& operator=(const RequestWatch&) = delete;
  int error() const { return error_; }  // EAGAIN if nobody can watch

 private:
  int place_;
  int error_;
};

// A caller whose signal handler has SA_RESTART calls again by itself; if its socket had been connected
// meanwhile it would be told EISCONN, as if the program had called twice. So a result that nobody heard is
// kept, and the next call on that socket gets it.
//
// BeginResult before connecting; EndResult once the answer was sent (`heard`) or could not be.
void BeginResult(int place, uint64_t cookie);
void EndResult(int place, int result, bool heard);
// What to answer instead of `result`, which connect has just said about the socket of this place.
int ReconcileResult(int place, int result);

}  // namespace spty
