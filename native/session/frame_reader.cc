#include "session/frame_reader.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/eintr.h"

namespace spty {
namespace {

// The payload size that a frame type has, or no such frame.
bool PayloadSize(wire::Type type, size_t* size) {
  switch (type) {
    case wire::Type::kStarted:
      *size = sizeof(wire::Started);
      return true;
    case wire::Type::kFailed:
      *size = sizeof(wire::Failed);
      return true;
    case wire::Type::kExited:
      *size = sizeof(wire::Exited);
      return true;
    case wire::Type::kDone:
    case wire::Type::kEmptied:
      *size = sizeof(wire::Done);
      return true;
    case wire::Type::kFeatures:
      *size = sizeof(wire::Features);
      return true;
    case wire::Type::kWorking:
      *size = 0;
      return true;
    case wire::Type::kPlan:
    case wire::Type::kSignal:
    case wire::Type::kProbe:
    case wire::Type::kReserve:
    case wire::Type::kAround:
      break;
  }
  return false;
}

}  // namespace

// How many bytes the frame that has begun to arrive takes in all.
Result<size_t> FrameReader::Needed() const {
  if (size_ < sizeof(wire::Header)) return sizeof(wire::Header);
  wire::Header header;
  memcpy(&header, bytes_, sizeof header);
  size_t payload = 0;
  if (header.magic != wire::kMagic || header.version != wire::kVersion ||
      !PayloadSize(header.type, &payload) || header.length != payload) {
    return Error{Stage::kKeeper, EPROTO, "the keeper beside the addon speaks another version"};
  }
  return sizeof header + payload;
}

Result<FrameReader::Status> FrameReader::Next(int control, Frame* frame) {
  for (;;) {
    TRY_ASSIGN(size_t needed, Needed());
    if (size_ == needed && size_ >= sizeof(wire::Header)) {
      wire::Header header;
      memcpy(&header, bytes_, sizeof header);
      frame->type = header.type;
      memcpy(&frame->failed, bytes_ + sizeof header, header.length);
      size_ = 0;
      return Status::kFrame;
    }
    ssize_t got = RetryEintr([&] { return recv(control, bytes_ + size_, needed - size_, MSG_DONTWAIT); });
    if (got == -1 && errno == EAGAIN) return Status::kNothing;
    if (got == 0 || (got == -1 && errno == ECONNRESET)) return Status::kClosed;
    if (got == -1) return Error{Stage::kKeeper, errno, "control socket"};
    size_ += static_cast<size_t>(got);
  }
}

}  // namespace spty
