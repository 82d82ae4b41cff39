#include "keeper/gate_thread_linux.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

namespace spty {
namespace {

// The deepest call needs half of it. A sanitizer makes frames several times larger.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStack = size_t{1} << 20;
#else
constexpr size_t kStack = size_t{64} << 10;
#endif

}  // namespace

int StartGateThread(void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return EAGAIN;
  int err = pthread_attr_setstacksize(&attributes, kStack);
  if (err == 0) err = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  if (err == 0) err = pthread_create(&thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return err == 0 ? 0 : EAGAIN;
}

}  // namespace spty
