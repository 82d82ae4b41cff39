#include "session/stdio_check.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace spty {
namespace {

Error Unfit(const char* why) { return Error{Stage::kStdio, EINVAL, why}; }

Result<void> CheckSocket(int fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  int type = 0;
  socklen_t type_size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) != 0) return Error{Stage::kStdio, errno, ""};
  if (type != SOCK_STREAM || getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0)
    return Unfit("a socket without a connection");
  return peer.ss_family == AF_UNIX ? Result<void>() : Unfit("a network connection");
}

}  // namespace

Result<void> CheckStdio(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return Error{Stage::kStdio, errno, std::to_string(fd)};
  switch (status.st_mode & S_IFMT) {
    case S_IFIFO:
    case S_IFREG:
      return {};
    case S_IFCHR:
      return isatty(fd) == 1 ? Unfit("a terminal") : Result<void>();
    case S_IFSOCK:
      return CheckSocket(fd);
    case S_IFDIR:
      return Unfit("a directory");
    default:
      return Unfit("what is neither a pipe nor a file");
  }
}

}  // namespace spty
