#include "keeper/gate_sockets_linux.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace spty {
namespace {

constexpr int kSoCookie = 57;  // Linux 4.12; musl's headers lack it
constexpr uint32_t kFirstCapacity = 256;

struct Own {
  uint64_t cookie;  // 0: an empty place (the kernel counts from 1)
  uint64_t device;
  uint64_t inode;

  bool operator==(const Own& other) const {
    return cookie == other.cookie && device == other.device && inode == other.inode;
  }
};

// Open addressing. Guarded by `lock`.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Own* table = nullptr;
uint32_t capacity = 0;  // a power of two, at least twice `count`
uint32_t count = 0;

// Where `own` is in `places`, or the empty place where it belongs.
Own* Find(Own* places, uint32_t size, const Own& own) {
  // Multiplied because consecutive numbers are the usual case, and per-CPU batches of them too.
  uint64_t at = (own.cookie * 0x9e3779b97f4a7c15U) >> 32;
  for (;; ++at) {
    Own* place = &places[at & (size - 1)];
    if (*place == own || place->cookie == 0) return place;
  }
}

Own* Map(uint32_t size) {
  void* memory =
      mmap(nullptr, size_t{size} * sizeof(Own), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Own*>(memory);
}

int Grow() {
  uint32_t larger = capacity == 0 ? kFirstCapacity : capacity * 2;
  Own* places = Map(larger);
  if (places == nullptr) return ENOMEM;
  for (uint32_t i = 0; i < capacity; ++i) {
    if (table[i].cookie != 0) *Find(places, larger, table[i]) = table[i];
  }
  if (table != nullptr) munmap(table, size_t{capacity} * sizeof(Own));
  table = places;
  capacity = larger;
  return 0;
}

int AddLocked(const Own& own) {
  if (count * 2 >= capacity) {
    if (count >= kMaxOwnSockets) return ENOBUFS;
    if (int err = Grow(); err != 0) return err;
  }
  Own* place = Find(table, capacity, own);
  if (place->cookie == 0) ++count;
  *place = own;
  return 0;
}

}  // namespace

int CookieOf(int socket, uint64_t* cookie) {
  socklen_t size = sizeof *cookie;
  if (getsockopt(socket, SOL_SOCKET, kSoCookie, cookie, &size) == -1) return errno;
  return size == sizeof *cookie && *cookie != 0 ? 0 : EPROTO;
}

int AddOwnSocket(uint64_t cookie, uint64_t device, uint64_t inode) {
  if (cookie == 0) return EINVAL;
  pthread_mutex_lock(&lock);
  int err = AddLocked({cookie, device, inode});
  pthread_mutex_unlock(&lock);
  return err;
}

bool IsOwnSocket(uint64_t cookie, uint64_t device, uint64_t inode) {
  pthread_mutex_lock(&lock);
  bool own =
      table != nullptr && cookie != 0 && Find(table, capacity, {cookie, device, inode})->cookie == cookie;
  pthread_mutex_unlock(&lock);
  return own;
}

}  // namespace spty
