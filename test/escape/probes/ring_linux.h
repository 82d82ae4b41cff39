// One io_uring request at a time, without a library.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace attempt {

// Pinned: old headers lack the newer operations.
inline constexpr uint8_t kRingConnect = 16;
inline constexpr uint8_t kRingOpenat = 18;
inline constexpr uint8_t kRingWrite = 23;
inline constexpr uint8_t kRingSocket = 45;

struct RingRequest {
  uint8_t opcode;
  uint8_t flags;
  uint16_t priority;
  int32_t fd;
  uint64_t offset;
  uint64_t address;
  uint32_t length;
  uint32_t operation_flags;
  uint64_t user_data;
  uint64_t unused[3];
};
static_assert(sizeof(RingRequest) == 64);

class Ring {
 public:
  // 0 or an errno.
  int Open() {
    Parameters parameters{};
    fd_ = static_cast<int>(syscall(kSetup, 4, &parameters));
    if (fd_ == -1) return errno;
    const Offsets& sq = parameters.sq;
    const Offsets& cq = parameters.cq;
    // One mapping holds both rings since 5.4.
    ring_ = static_cast<char*>(Map(4096, 0));
    requests_ = static_cast<RingRequest*>(Map(parameters.sq_entries * sizeof(RingRequest), 0x10000000));
    if (ring_ == MAP_FAILED || requests_ == MAP_FAILED) return errno;
    sq_tail_ = reinterpret_cast<uint32_t*>(ring_ + sq.tail);
    sq_array_ = reinterpret_cast<uint32_t*>(ring_ + sq.array);
    cq_head_ = reinterpret_cast<uint32_t*>(ring_ + cq.head);
    // Its sixth word says where the entries are.
    completions_ = reinterpret_cast<Completion*>(ring_ + cq.dropped);
    mask_ = *reinterpret_cast<uint32_t*>(ring_ + cq.mask);
    sq_mask_ = *reinterpret_cast<uint32_t*>(ring_ + sq.mask);
    return 0;
  }

  // The result, or -errno.
  int Do(const RingRequest& request) {
    const uint32_t place = *sq_tail_ & sq_mask_;
    requests_[place] = request;
    sq_array_[place] = place;
    __atomic_store_n(sq_tail_, *sq_tail_ + 1, __ATOMIC_RELEASE);
    if (syscall(kEnter, fd_, 1, 1, 1U, nullptr, 0) == -1) return -errno;
    const int result = completions_[*cq_head_ & mask_].result;
    __atomic_store_n(cq_head_, *cq_head_ + 1, __ATOMIC_RELEASE);
    return result;
  }

 private:
  static constexpr long kSetup = 425;
  static constexpr long kEnter = 426;

  // struct io_sqring_offsets and io_cqring_offsets: the fifth and sixth words differ in meaning.
  struct Offsets {
    uint32_t head, tail, mask, entries, flags, dropped, array, reserved;
    uint64_t more;
  };
  struct Parameters {
    uint32_t sq_entries, cq_entries, flags, cpu, idle, features, wq_fd, reserved[3];
    Offsets sq, cq;
  };
  struct Completion {
    uint64_t user_data;
    int32_t result;
    uint32_t flags;
  };

  void* Map(size_t size, off_t offset) {
    return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
  }

  int fd_ = -1;
  char* ring_ = nullptr;
  RingRequest* requests_ = nullptr;
  uint32_t* sq_tail_ = nullptr;
  uint32_t* sq_array_ = nullptr;
  uint32_t* cq_head_ = nullptr;
  Completion* completions_ = nullptr;
  uint32_t mask_ = 0;
  uint32_t sq_mask_ = 0;
};

}  // namespace attempt
