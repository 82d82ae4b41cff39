#include "keeper/gate_sockets_linux.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace spty {
namespace {

constexpr int kSoCookie = 57;             // Linux 4.12; musl's headers lack it
constexpr uint32_t kFirstCapacity = 512;  // one page

// Open addressing; 0 is an empty place (the kernel counts from 1). Guarded by `lock`.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
uint64_t* table = nullptr;
uint32_t capacity = 0;  // a power of two, at least twice `count`
uint32_t count = 0;

// Where `cookie` is in `places`, or the empty place where it belongs.
uint64_t* Find(uint64_t* places, uint32_t size, uint64_t cookie) {
  // Multiplied because consecutive numbers are the usual case, and per-CPU batches of them too.
  uint64_t at = (cookie * 0x9e3779b97f4a7c15U) >> 32;
  for (;; ++at) {
    uint64_t* place = &places[at & (size - 1)];
    if (*place == cookie || *place == 0) return place;
  }
}

uint64_t* Map(uint32_t size) {
  void* memory = mmap(nullptr, size_t{size} * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint64_t*>(memory);
}

int Grow() {
  uint32_t larger = capacity == 0 ? kFirstCapacity : capacity * 2;
  uint64_t* places = Map(larger);
  if (places == nullptr) return ENOMEM;
  for (uint32_t i = 0; i < capacity; ++i) {
    if (table[i] != 0) *Find(places, larger, table[i]) = table[i];
  }
  if (table != nullptr) munmap(table, size_t{capacity} * sizeof(uint64_t));
  table = places;
  capacity = larger;
  return 0;
}

int AddLocked(uint64_t cookie) {
  if (count * 2 >= capacity) {
    if (count >= kMaxOwnSockets) return ENOBUFS;
    if (int err = Grow(); err != 0) return err;
  }
  uint64_t* place = Find(table, capacity, cookie);
  if (*place == 0) ++count;
  *place = cookie;
  return 0;
}

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 31)) * 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9U;
  return value ^ (value >> 32);
}

// Another entry of the same table: no cookie has the highest bit.
uint64_t FileKey(uint64_t cookie, uint64_t device, uint64_t inode) {
  return Mix(Mix(Mix(cookie) ^ device) ^ inode) | uint64_t{1} << 63;
}

}  // namespace

int CookieOf(int socket, uint64_t* cookie) {
  socklen_t size = sizeof *cookie;
  if (getsockopt(socket, SOL_SOCKET, kSoCookie, cookie, &size) == -1) return errno;
  return size == sizeof *cookie && *cookie != 0 ? 0 : EPROTO;
}

int AddOwnSocket(uint64_t cookie) {
  pthread_mutex_lock(&lock);
  int err = AddLocked(cookie);
  pthread_mutex_unlock(&lock);
  return err;
}

bool IsOwnSocket(uint64_t cookie) {
  pthread_mutex_lock(&lock);
  bool own = table != nullptr && cookie != 0 && *Find(table, capacity, cookie) == cookie;
  pthread_mutex_unlock(&lock);
  return own;
}

int AddOwnFile(uint64_t cookie, uint64_t device, uint64_t inode) {
  return AddOwnSocket(FileKey(cookie, device, inode));
}

bool IsOwnFile(uint64_t cookie, uint64_t device, uint64_t inode) {
  return IsOwnSocket(FileKey(cookie, device, inode));
}

}  // namespace spty
