#include "keeper/gate_requests_linux.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "keeper/gate.h"
#include "keeper/gate_caller_linux.h"
#include "keeper/gate_thread_linux.h"

namespace spty {
namespace {

constexpr long kWatchPeriodNs = 100'000'000;
constexpr uint32_t kKept = 64;
constexpr int kPatience = 2000;
constexpr long kPauseNs = 50'000;

struct Place {
  uint64_t request;  // 0: none
  uint64_t cookie;   // of its socket
  int32_t taken;
  int32_t thread;
};

// Shared by all threads: accessed with atomic operations only.
Place places[kGateMaxThreads];
int watched_listener = -1;
int timer = -1;
int armed = 0;
uint32_t high_water = 0;  // places from here on were never taken

pthread_mutex_t watcher_lock = PTHREAD_MUTEX_INITIALIZER;
bool watcher_runs = false;

struct Kept {
  uint64_t cookie;
  int result;
};
pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
Kept kept[kKept];
uint32_t next_kept = 0;

template <typename T>
T Load(const T* value) {
  return __atomic_load_n(value, __ATOMIC_SEQ_CST);
}
template <typename T>
void Store(T* to, T value) {
  __atomic_store_n(to, value, __ATOMIC_SEQ_CST);
}

void OnInterrupt(int) {}

void Arm() {
  if (__atomic_exchange_n(&armed, 1, __ATOMIC_SEQ_CST) != 0) return;
  itimerspec once{};
  once.it_value.tv_nsec = kWatchPeriodNs;
  timerfd_settime(timer, 0, &once, nullptr);  // cannot fail with these arguments
}

// The thread may just have begun or ended its call: then this is for nothing, and we come again.
void Interrupt(const Place& place) {
  int32_t thread = Load(&place.thread);
  if (thread > 0) syscall(SYS_tgkill, getpid(), thread, kGateInterrupt);
}

void InterruptAbandoned() {
  bool any = false;
  uint32_t end = Load(&high_water);
  for (uint32_t i = 0; i < end; ++i) {
    uint64_t request = Load(&places[i].request);
    if (request == 0) continue;
    any = true;
    if (!StillWaiting(watched_listener, request)) Interrupt(places[i]);
  }
  if (any) Arm();
}

void* Watch(void*) {
  for (;;) {
    uint64_t expirations = 0;
    if (read(timer, &expirations, sizeof expirations) == -1) continue;  // EINTR only
    // First this, then the look: a request that comes in between arms it again.
    Store(&armed, 0);
    InterruptAbandoned();
  }
  return nullptr;
}

int StartWatcher() {
  if (__atomic_load_n(&watcher_runs, __ATOMIC_ACQUIRE)) return 0;
  pthread_mutex_lock(&watcher_lock);
  int err = 0;
  if (!watcher_runs) err = StartGateThread(Watch, nullptr);
  if (err == 0) __atomic_store_n(&watcher_runs, true, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&watcher_lock);
  return err;
}

// Sends away whoever connects the same socket for a call that its caller has given up. False if there is
// none.
bool SendAwayAbandoned(int except, uint64_t cookie) {
  bool any = false;
  uint32_t end = Load(&high_water);
  for (uint32_t i = 0; i < end; ++i) {
    if (static_cast<int>(i) == except || Load(&places[i].cookie) != cookie) continue;
    uint64_t request = Load(&places[i].request);
    if (request == 0 || StillWaiting(watched_listener, request)) continue;
    any = true;
    Interrupt(places[i]);
  }
  return any;
}

// Takes the result kept for a socket. False if there is none.
bool TakeKept(uint64_t cookie, int* result) {
  bool found = false;
  pthread_mutex_lock(&kept_lock);
  for (Kept& entry : kept) {
    if (entry.cookie != cookie) continue;
    found = true;
    *result = entry.result;
    entry.cookie = 0;
  }
  pthread_mutex_unlock(&kept_lock);
  return found;
}

}  // namespace

int PrepareRequests(int listener) {
  watched_listener = listener;
  struct sigaction action {};
  action.sa_handler = OnInterrupt;
  if (sigaction(kGateInterrupt, &action, nullptr) == -1) return errno;
  Fd fd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  if (!fd.valid()) return errno;
  timer = fd.Take();  // the process'
  return 0;
}

int ClaimPlace() {
  for (uint32_t i = 0; i < kGateMaxThreads; ++i) {
    if (__atomic_exchange_n(&places[i].taken, 1, __ATOMIC_SEQ_CST) != 0) continue;
    uint32_t end = Load(&high_water);
    while (end < i + 1 && !__atomic_compare_exchange_n(&high_water, &end, i + 1, false, __ATOMIC_SEQ_CST,
                                                       __ATOMIC_SEQ_CST)) {
    }
    return static_cast<int>(i);
  }
  return -1;
}

void FillPlace(int place) { Store(&places[place].thread, static_cast<int32_t>(syscall(SYS_gettid))); }

void LeavePlace(int place) {
  Store(&places[place].thread, 0);
  Store(&places[place].taken, 0);
}

UnderWay::UnderWay(int place, uint64_t request, uint64_t cookie)
    : place_(place), cookie_(cookie), error_(StartWatcher()) {
  Store(&places[place].request, request);
  Store(&places[place].cookie, cookie);
  Arm();
  // It needs a few system calls to be gone. One that cannot be interrupted is not waited for.
  for (int i = 0; i < kPatience && SendAwayAbandoned(place, cookie); ++i) {
    timespec pause{0, kPauseNs};
    nanosleep(&pause, nullptr);
  }
}

UnderWay::~UnderWay() {
  Store(&places[place_].cookie, uint64_t{0});
  Store(&places[place_].request, uint64_t{0});
}

int UnderWay::Answer(int result) {
  int kept_result = 0;
  if (result != EISCONN && result != EALREADY) return result;
  if (!TakeKept(cookie_, &kept_result)) return result;
  return result == EISCONN ? 0 : kept_result;
}

void UnderWay::Keep(int result) {
  if (result != 0 && result != EINPROGRESS) return;
  pthread_mutex_lock(&kept_lock);
  kept[next_kept++ % kKept] = {cookie_, result};
  pthread_mutex_unlock(&kept_lock);
}

}  // namespace spty
