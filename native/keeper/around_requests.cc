#include "keeper/around_requests.h"

#include <errno.h>

#include "base/fd.h"
#include "keeper/pages.h"
#include "keeper/plan_view.h"

namespace spty {

// At the beginning of the pages of each; then the table of its protected places, then the payload.
struct AroundRequests::Kept {
  Around around;
  size_t room;  // of the table
  size_t payload_at;
  size_t payload_size;
  size_t size;

  char* At(size_t offset) { return reinterpret_cast<char*>(this) + offset; }
  static Kept* Of(Around* around) { return reinterpret_cast<Kept*>(around); }
};

AroundRequests::AroundRequests(AroundRequests&& other) noexcept { Take(other); }

AroundRequests& AroundRequests::operator=(AroundRequests&& other) noexcept {
  if (this != &other) {
    Clear();
    Take(other);
  }
  return *this;
}

void AroundRequests::Take(AroundRequests& other) {
  first_ = other.first_;
  last_ = other.last_;
  count_ = other.count_;
  bytes_ = other.bytes_;
  other.first_ = other.last_ = nullptr;
  other.count_ = other.bytes_ = 0;
}

int AroundRequests::Add(uint32_t length) {
  if (length < sizeof(wire::AroundFixed)) return EPROTO;
  if (count_ == wire::kMaxArounds || length > wire::kMaxPlanBytes - bytes_) return E2BIG;
  static_assert(offsetof(Kept, around) == 0);
  static_assert(sizeof(Kept) % alignof(ProtectedPlace) == 0 && sizeof(ProtectedPlace) % 8 == 0);
  // More than it can speak of.
  const size_t room = length / sizeof(wire::AroundHole);
  const size_t payload_at = sizeof(Kept) + room * sizeof(ProtectedPlace);
  const size_t size = payload_at + length;
  auto* kept = static_cast<Kept*>(MapPages(size));
  if (kept == nullptr) return ENOMEM;
  *kept = Kept{Around{}, room, payload_at, length, size};
  (last_ == nullptr ? first_ : last_->next) = &kept->around;
  last_ = &kept->around;
  ++count_;
  bytes_ += length;
  return 0;
}

char* AroundRequests::payload() {
  Kept* kept = Kept::Of(last_);
  return kept->At(kept->payload_at);
}

int AroundRequests::Complete(int directory) {
  Kept* kept = Kept::Of(last_);
  kept->around.directory = directory;
  auto* holes = reinterpret_cast<ProtectedPlace*>(kept->At(sizeof(Kept)));
  return DecodeAround(payload(), kept->payload_size, holes, kept->room, &kept->around);
}

void AroundRequests::Clear() {
  while (first_ != nullptr) {
    Kept* kept = Kept::Of(first_);
    first_ = kept->around.next;
    const Fd directory(kept->around.directory);
    munmap(kept, kept->size);
  }
  last_ = nullptr;
  count_ = bytes_ = 0;
}

}  // namespace spty
