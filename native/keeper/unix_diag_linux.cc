#include "keeper/unix_diag_linux.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include "base/eintr.h"
#include "base/fd.h"
#include "uapi/unix_diag.h"

namespace spty {
namespace {

// A listing in several pieces may miss a socket when others of its hash chain vanish between two pieces. So
// what counts is everything that was in any of several listings.
constexpr int kListings = 3;

struct Request {
  uapi::NetlinkHeader header;
  uapi::UnixDiagRequest body;
};

class Listing {
 public:
  Listing(const ListenerQuery& query, ListenerFound* found) : query_(query), found_(found) {}

  // Reads one whole listing. 0 or an errno.
  int Run() {
    Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, uapi::kNetlinkSockDiag));
    if (!socket.valid()) return errno;
    Request request{};
    request.header.length = sizeof request;
    request.header.type = uapi::kSockDiagByFamily;
    request.header.flags = uapi::kNetlinkRequest | uapi::kNetlinkDump;
    request.body.family = AF_UNIX;
    request.body.states = uapi::kUnixDiagListening;
    request.body.show = uapi::kUnixDiagShowName | uapi::kUnixDiagShowVfs;
    uapi::NetlinkAddress kernel{AF_NETLINK, 0, 0, 0};
    ssize_t sent = RetryEintr([&] {
      return sendto(socket.get(), &request, sizeof request, 0, reinterpret_cast<sockaddr*>(&kernel),
                    sizeof kernel);
    });
    if (sent == -1) return errno;
    while (!done_) {
      if (int err = ReadPiece(socket.get()); err != 0) return err;
    }
    return 0;
  }

  // How many pieces with sockets it came in.
  int pieces() const { return pieces_; }

 private:
  int ReadPiece(int socket) {
    // The kernel makes its pieces as large as the reader's buffer, up to this. Some 300 sockets fit.
    alignas(uapi::NetlinkHeader) char buffer[32768];
    uapi::NetlinkAddress from{};
    iovec area{buffer, sizeof buffer};
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &area;
    message.msg_iovlen = 1;
    ssize_t got = RetryEintr([&] { return recvmsg(socket, &message, 0); });
    if (got == -1) return errno;
    if (got == 0 || (message.msg_flags & MSG_TRUNC) != 0) return EPROTO;
    if (from.pid != 0) return 0;  // not from the kernel
    in_piece_ = false;
    uint32_t left = static_cast<uint32_t>(got);
    for (char* at = buffer; left >= sizeof(uapi::NetlinkHeader) && !done_;) {
      uapi::NetlinkHeader header;
      memcpy(&header, at, sizeof header);
      if (header.length < sizeof header || header.length > left) return EPROTO;
      if (int err = ReadMessage(header, at + sizeof header); err != 0) return err;
      uint32_t step = uapi::NetlinkAlign(header.length);
      if (step >= left) break;
      at += step;
      left -= step;
    }
    if (in_piece_) ++pieces_;
    return 0;
  }

  int ReadMessage(const uapi::NetlinkHeader& header, const char* body) {
    uint32_t size = header.length - static_cast<uint32_t>(sizeof header);
    if (header.type == uapi::kNetlinkError || header.type == uapi::kNetlinkDone) {
      int32_t err = 0;
      if (size >= sizeof err) memcpy(&err, body, sizeof err);
      done_ = true;
      // ENOENT: a kernel without unix_diag.
      if (err != 0) return -err;
      return header.type == uapi::kNetlinkError ? EPROTO : 0;
    }
    if (header.type != uapi::kSockDiagByFamily) return 0;
    uapi::UnixDiagMessage message;
    if (size < sizeof message) return EPROTO;
    memcpy(&message, body, sizeof message);
    in_piece_ = true;
    ReadSocket(message, body + sizeof message, size - static_cast<uint32_t>(sizeof message));
    return 0;
  }

  void ReadSocket(const uapi::UnixDiagMessage& message, const char* at, uint32_t left) {
    uapi::UnixDiagVfs file{};
    bool has_file = false;
    const char* name = "";
    size_t name_size = 0;
    while (left >= sizeof(uapi::NetlinkAttribute)) {
      uapi::NetlinkAttribute attribute;
      memcpy(&attribute, at, sizeof attribute);
      if (attribute.length < sizeof attribute || attribute.length > left) return;
      const char* value = at + sizeof attribute;
      size_t size = attribute.length - sizeof attribute;
      if (attribute.type == uapi::kUnixDiagVfs && size >= sizeof file) {
        memcpy(&file, value, sizeof file);
        has_file = true;
      } else if (attribute.type == uapi::kUnixDiagName) {
        name = value;
        name_size = size;
      }
      uint32_t step = uapi::NetlinkAlign(attribute.length);
      if (step >= left) break;
      at += step;
      left -= step;
    }
    if (has_file && file.device == query_.device && file.inode == query_.inode)
      Keep(message, name, name_size);
  }

  void Keep(const uapi::UnixDiagMessage& message, const char* name, size_t name_size) {
    uint64_t cookie = uint64_t{message.cookie[1]} << 32 | message.cookie[0];
    if (found_->count > 0 && found_->cookie == cookie) return;  // listed twice
    found_->count = found_->count == 0 ? 1 : 2;
    found_->cookie = cookie;
    if (name_size >= sizeof found_->name) name_size = 0;  // no kernel does that
    memcpy(found_->name, name, name_size);
    found_->name[name_size] = '\0';
  }

  const ListenerQuery& query_;
  ListenerFound* found_;
  int pieces_ = 0;
  bool in_piece_ = false;
  bool done_ = false;
};

class Turn {
 public:
  explicit Turn(pthread_mutex_t* lock) : lock_(lock) { pthread_mutex_lock(lock_); }
  ~Turn() { pthread_mutex_unlock(lock_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  pthread_mutex_t* lock_;
};

}  // namespace

uint32_t KernelDevice(uint64_t device) {
  dev_t number = static_cast<dev_t>(device);
  return static_cast<uint32_t>(major(number)) << 20 | static_cast<uint32_t>(minor(number));
}

int FindListener(const ListenerQuery& query, ListenerFound* found) {
  // One at a time: each walks over all sockets of the machine, and what the gate does is not counted against
  // the session's limits.
  static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  const Turn mine(&turn);
  *found = {};
  for (int i = 0; i < kListings; ++i) {
    Listing listing(query, found);
    if (int err = listing.Run(); err != 0) return err;
    if (listing.pieces() < 2) return 0;
  }
  return 0;
}

}  // namespace spty
