#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keeper/gate.h"
#include "keeper/gate_identity_linux.h"
#include "keeper/gate_perform_linux.h"
#include "keeper/gate_requests_linux.h"
#include "keeper/gate_thread_linux.h"
#include "uapi/seccomp_notify.h"

namespace spty {
namespace {

// Threads take turns: whoever takes a request first makes sure that another one is left to receive, then does
// the work itself. So nobody waits for somebody else's slow host, and a single caller costs no thread start.
constexpr int kMaxIdle = 2;
constexpr rlim_t kWantedDescriptors = rlim_t{8} * kGateMaxThreads;

int gate_listener = -1;
int watched = -1;  // the listener, until the first thread has it; main thread only
GateRules gate_rules;
int idle = 0;  // threads that receive, or are about to
uint32_t turned_away = 0;

struct Start {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  bool done = false;
  int err = 0;
};

// Whatever the kernel's structs grow to.
union Notification {
  uapi::SeccompNotif notif;
  char room[256];
};

// Waits for the next request. False when there will be none.
bool Receive(Notification* request) {
  for (;;) {
    memset(request, 0, sizeof *request);  // else EINVAL
    if (syscall(SYS_ioctl, gate_listener, uapi::kSeccompNotifRecv, request) == 0) return true;
    if (errno == EINTR) continue;
    if (errno != ENOENT) return false;
    // Either that caller is gone, or everybody is (since Linux 6.11).
    pollfd state{gate_listener, POLLIN, 0};
    if (poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0) return false;
  }
}

void* Serve(void* argument);

bool StartServing() {
  int place = ClaimPlace();
  if (place < 0) return false;
  __atomic_add_fetch(&idle, 1, __ATOMIC_SEQ_CST);
  // A number in a pointer's place, which nothing is read through.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (StartGateThread(Serve, reinterpret_cast<void*>(static_cast<intptr_t>(place))) == 0) return true;
  __atomic_sub_fetch(&idle, 1, __ATOMIC_SEQ_CST);
  LeavePlace(place);
  return false;
}

// False if enough others are waiting.
bool BecomeIdle() {
  int others = __atomic_load_n(&idle, __ATOMIC_SEQ_CST);
  do {
    if (others >= kMaxIdle) return false;
  } while (
      !__atomic_compare_exchange_n(&idle, &others, others + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return true;
}

// No thread to be had: refuse at once rather than let others wait.
void TurnAway(const Notification& request) {
  __atomic_add_fetch(&turned_away, 1, __ATOMIC_SEQ_CST);
  AnswerRequest(gate_listener, request.notif.id, EAGAIN);
}

// Takes the next request that this thread is free to perform. False when there will be none.
bool Take(Notification* request) {
  while (Receive(request)) {
    if (__atomic_sub_fetch(&idle, 1, __ATOMIC_SEQ_CST) > 0 || StartServing()) return true;
    // This one must go on receiving.
    __atomic_add_fetch(&idle, 1, __ATOMIC_SEQ_CST);
    TurnAway(*request);
  }
  return false;
}

void ServeFrom(int place) {
  FillPlace(place);
  Notification request;
  while (Take(&request)) {
    PerformRequest(gate_listener, request.notif, gate_rules, place);
    if (!BecomeIdle()) break;
  }
  LeavePlace(place);
}

void* Serve(void* argument) {
  ServeFrom(static_cast<int>(reinterpret_cast<intptr_t>(argument)));
  return nullptr;
}

// Whoever may look into this process could take the listener from it. That concerns the whole process, and
// comes after a change of identity, which sets it, too.
int HideFromOthers() { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ? errno : 0; }

// The first thread, from which all others inherit their identity.
void* ServeFirst(void* argument) {
  auto* start = static_cast<Start*>(argument);
  int err = TakeOnIdentity(gate_rules);
  if (err == 0) err = HideFromOthers();
  int place = err == 0 ? ClaimPlace() : -1;
  if (err == 0) __atomic_add_fetch(&idle, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_lock(&start->lock);
  start->err = err;
  start->done = true;
  pthread_cond_signal(&start->changed);
  pthread_mutex_unlock(&start->lock);
  if (err == 0) ServeFrom(place);
  return nullptr;
}

int CheckKernel(int listener) {
  uapi::SeccompNotifSizes sizes{};
  if (syscall(SYS_seccomp, uapi::kSeccompGetNotifSizes, 0, &sizes) == -1) return errno;
  if (sizes.notif > sizeof(Notification) || sizes.resp != sizeof(uapi::SeccompNotifResp)) return EOPNOTSUPP;
  // Not a listener: ENOTTY or so. A listener knows no request 0.
  uint64_t none = 0;
  if (syscall(SYS_ioctl, listener, uapi::kSeccompNotifIdValid, &none) == -1 && errno != ENOENT &&
      errno != EINVAL)
    return errno;
  // A /proc of another pid namespace has other numbers.
  char self[32] = {};
  if (readlink("/proc/self", self, sizeof self - 1) == -1) return errno;
  return atol(self) == getpid() ? 0 : ESRCH;
}

// Each request under way holds two descriptors, and some more for a moment.
int RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == -1) return errno;
  if (limit.rlim_cur >= kWantedDescriptors) return 0;
  limit.rlim_cur = limit.rlim_max < kWantedDescriptors ? limit.rlim_max : kWantedDescriptors;
  return setrlimit(RLIMIT_NOFILE, &limit) == -1 ? errno : 0;
}

int StartFirst() {
  Start start;
  sigset_t mask;
  sigset_t before;
  sigfillset(&mask);
  sigdelset(&mask, kGateInterrupt);
  if (int err = pthread_sigmask(SIG_SETMASK, &mask, &before); err != 0) return err;
  int err = StartGateThread(ServeFirst, &start);
  if (err == 0) {
    pthread_mutex_lock(&start.lock);
    while (!start.done) pthread_cond_wait(&start.changed, &start.lock);
    err = start.err;
    pthread_mutex_unlock(&start.lock);
  }
  if (int restored = pthread_sigmask(SIG_SETMASK, &before, nullptr); err == 0) err = restored;
  return err;
}

}  // namespace

int StartGate(Fd listener, const GateRules& rules) {
  if (gate_listener != -1) return EALREADY;
  if (int err = CheckKernel(listener.get()); err != 0) return err;
  if (int err = RaiseDescriptorLimit(); err != 0) return err;
  if (int err = PrepareRequests(listener.get()); err != 0) return err;
  gate_rules = rules;
  gate_listener = listener.get();
  // Only a change of identity can be refused: if there is one it is tried now.
  const bool at_once = rules.set_ids || rules.set_groups;
  if (int err = at_once ? StartFirst() : HideFromOthers(); err != 0) return err;
  const int fd = listener.Take();  // the process'
  if (!at_once) watched = fd;
  return 0;
}

int GateToWatch() { return watched; }

void OnGateReady() {
  pollfd state{watched, POLLIN, 0};
  if (poll(&state, 1, 0) <= 0) return;
  if ((state.revents & POLLIN) == 0) {
    watched = -1;  // nobody is left who could ask
    return;
  }
  if (StartFirst() == 0) {
    watched = -1;
    return;
  }
  // There is one: this does not wait. If its caller has died since, the kernel says so.
  Notification request;
  memset(&request, 0, sizeof request);
  if (syscall(SYS_ioctl, gate_listener, uapi::kSeccompNotifRecv, &request) == 0) TurnAway(request);
}

uint32_t GateTurnedAway() { return __atomic_load_n(&turned_away, __ATOMIC_SEQ_CST); }

}  // namespace spty
