#include "keeper/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/eintr.h"
#include "base/socket.h"
#include "keeper/pages.h"

namespace spty {
namespace {

int ReadExactly(int fd, void* into, size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    ssize_t got = RetryEintr([&] { return read(fd, at, size); });
    if (got == -1) return errno;
    if (got == 0) return ECONNRESET;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return 0;
}

struct PassedFds {
  Fd fds[wire::kMaxPlanFds];
  uint32_t count = 0;
};

// Takes what one control message carries. Owned before anything is judged: a surplus one must not stay open.
bool TakeFds(const cmsghdr* part, PassedFds* passed) {
  bool fits = true;
  const auto* data = CMSG_DATA(part);
  for (size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
    int number;
    memcpy(&number, data + at, sizeof number);
    Fd fd(number);
    if (MarkReceived(number) != 0) fits = false;
    if (passed->count < wire::kMaxPlanFds) {
      passed->fds[passed->count++] = static_cast<Fd&&>(fd);
    } else {
      fits = false;
    }
  }
  return fits;
}

// Reads the header together with the descriptors that come with its first byte.
int ReceiveHeader(int control, wire::Header* header, PassedFds* passed) {
  iovec part{header, sizeof *header};
  alignas(cmsghdr) char ancillary[CMSG_SPACE(wire::kMaxPlanFds * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary;
  message.msg_controllen = sizeof ancillary;
  ssize_t got = RetryEintr([&] { return recvmsg(control, &message, kReceiveCloexec); });
  if (got == -1) return errno;
  if (got == 0) return ECONNRESET;
  for (cmsghdr* part_header = CMSG_FIRSTHDR(&message); part_header != nullptr;
       part_header = CMSG_NXTHDR(&message, part_header)) {
    if (part_header->cmsg_level != SOL_SOCKET || part_header->cmsg_type != SCM_RIGHTS) continue;
    // The padding of CMSG_SPACE has room for one more descriptor, which nobody should have sent.
    if (!TakeFds(part_header, passed)) return EPROTO;
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) return EPROTO;
  auto received = static_cast<size_t>(got);
  return ReadExactly(control, reinterpret_cast<char*>(header) + received, sizeof *header - received);
}

// Gives each descriptor its meaning: exactly as many as the plan speaks of, in its order.
bool Assign(PassedFds* passed, ReceivedPlan* plan) {
  uint32_t next = 0;
  const auto take = [&](Fd* into) {
    if (next >= passed->count) return false;
    *into = static_cast<Fd&&>(passed->fds[next++]);
    return true;
  };
  if (!take(&plan->slave)) return false;
  if (plan->view.inner_domain && !take(&plan->inner_domain)) return false;
  if (plan->view.outer_domain && !take(&plan->outer_domain)) return false;
  if (plan->view.cgroup &&
      !(take(&plan->cgroup_dir) && take(&plan->cgroup_events) && take(&plan->cgroup_place)))
    return false;
  if (plan->view.cgroup_kill && !take(&plan->cgroup_kill)) return false;
  for (uint32_t i = 0; i < 3; ++i) {
    if (((plan->view.stdio >> i) & 1) != 0 && !take(&plan->stdio[i])) return false;
  }
  return next == passed->count;
}

// Only kept: reading directories takes as long as they are large, while the host wants to be rid of its plan,
// and may have to say that the session is over.
int KeepAround(int control, const wire::Header& header, PassedFds* passed, AroundRequests* arounds) {
  if (passed->count != 1) return EPROTO;
  if (int err = arounds->Add(header.length); err != 0) return err;
  if (int err = ReadExactly(control, arounds->payload(), header.length); err != 0) return err;
  return arounds->Complete(passed->fds[0].Take());
}

// A later one adds to an earlier one.
int Note(int control, const wire::Header& header, PassedFds* passed, Reserved* reserved) {
  constexpr uint32_t kMost = sizeof reserved->bytes / sizeof reserved->bytes[0];
  if (reserved->count == kMost || header.length > wire::kMaxReservation || passed->count > 1) return EPROTO;
  char* bytes = reserved->bytes[reserved->count++];
  if (int err = ReadExactly(control, bytes, header.length); err != 0) return err;
  const char* temp_dir = nullptr;
  const char* cgroup_name = nullptr;
  if (int err = DecodeReservation(bytes, header.length, &temp_dir, &cgroup_name); err != 0) return err;
  if ((cgroup_name[0] != '\0') != (passed->count == 1)) return EPROTO;
  if (temp_dir[0] != '\0') reserved->temp_dir = temp_dir;
  if (cgroup_name[0] == '\0') return 0;
  reserved->cgroup_name = cgroup_name;
  reserved->cgroup_place = static_cast<Fd&&>(passed->fds[0]);
  return 0;
}

}  // namespace

int ReceivePlan(int control, Reserved* reserved, ReceivedPlan* plan) {
  wire::Header header;
  PassedFds passed;
  for (;;) {
    if (int err = ReceiveHeader(control, &header, &passed); err != 0) return err;
    if (header.magic != wire::kMagic || header.version != wire::kVersion || header.fd_count != passed.count)
      return EPROTO;
    if (header.type != wire::Type::kReserve && header.type != wire::Type::kAround) break;
    if (int err = header.type == wire::Type::kReserve ? Note(control, header, &passed, reserved)
                                                      : KeepAround(control, header, &passed, &plan->arounds);
        err != 0)
      return err;
    while (passed.count > 0) passed.fds[--passed.count].Reset();
  }
  if (header.type == wire::Type::kProbe && header.length == 0 && passed.count == 0) {
    plan->probe = true;
    return 0;
  }
  if (header.type != wire::Type::kPlan || passed.count == 0 || header.length < sizeof(wire::PlanFixed) ||
      header.length > wire::kMaxPlanBytes) {
    return EPROTO;
  }
  auto* bytes = static_cast<char*>(MapPages(header.length));
  if (bytes == nullptr) return errno;
  if (int err = ReadExactly(control, bytes, header.length); err != 0) return err;
  wire::PlanFixed fixed;
  memcpy(&fixed, bytes, sizeof fixed);
  size_t capacity = PlanPointerCount(fixed);
  if (capacity > size_t{4} * wire::kMaxStrings) return EPROTO;
  auto* pointers = static_cast<char**>(MapPages(capacity * sizeof(char*)));
  if (pointers == nullptr) return errno;
  if (int err = DecodePlan(bytes, header.length, pointers, capacity, &plan->view); err != 0) return err;
  if (!Assign(&passed, plan)) return EPROTO;
  return plan->arounds.first() == nullptr || plan->inner_domain.valid() ? 0 : EPROTO;
}

int SendFrame(int control, wire::Type type, const void* payload, size_t size) {
  wire::Header header{wire::kMagic, wire::kVersion, type, static_cast<uint32_t>(size), 0};
  iovec parts[2] = {{&header, sizeof header}, {const_cast<void*>(payload), size}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = size > 0 ? 2 : 1;
  // A few dozen bytes into an otherwise empty socket buffer: never partial.
  ssize_t sent = RetryEintr([&] { return sendmsg(control, &message, kSendQuietly); });
  if (sent == -1) return errno;
  return static_cast<size_t>(sent) == sizeof header + size ? 0 : EIO;
}

int ReceiveSignal(int control) {
  wire::Header header;
  wire::Signal signal;
  if (ReadExactly(control, &header, sizeof header) != 0) return 0;
  if (header.magic != wire::kMagic || header.version != wire::kVersion ||
      header.type != wire::Type::kSignal || header.length != sizeof signal) {
    return 0;
  }
  if (ReadExactly(control, &signal, sizeof signal) != 0) return 0;
  return signal.number > 0 ? signal.number : 0;
}

}  // namespace spty
