#include <cerrno>
#include <cstring>

#include "base/result.h"

namespace spty {
namespace {

struct NamedErrno {
  int err;
  const char* name;
};

// strerrorname_np is missing from musl, from glibc before 2.32 and from macOS; these are the ones a session
// can meet.
constexpr NamedErrno kNames[] = {
    {EPERM, "EPERM"},
    {ENOENT, "ENOENT"},
    {ESRCH, "ESRCH"},
    {EINTR, "EINTR"},
    {EIO, "EIO"},
    {ENXIO, "ENXIO"},
    {E2BIG, "E2BIG"},
    {ENOEXEC, "ENOEXEC"},
    {EBADF, "EBADF"},
    {ECHILD, "ECHILD"},
    {EAGAIN, "EAGAIN"},
    {ENOMEM, "ENOMEM"},
    {EACCES, "EACCES"},
    {EFAULT, "EFAULT"},
    {EBUSY, "EBUSY"},
    {EEXIST, "EEXIST"},
    {EXDEV, "EXDEV"},
    {ENODEV, "ENODEV"},
    {ENOTDIR, "ENOTDIR"},
    {EISDIR, "EISDIR"},
    {EINVAL, "EINVAL"},
    {ENFILE, "ENFILE"},
    {EMFILE, "EMFILE"},
    {ENOTTY, "ENOTTY"},
    {ETXTBSY, "ETXTBSY"},
    {EFBIG, "EFBIG"},
    {ENOSPC, "ENOSPC"},
    {EROFS, "EROFS"},
    {EPIPE, "EPIPE"},
    {ERANGE, "ERANGE"},
    {ENAMETOOLONG, "ENAMETOOLONG"},
    {ENOSYS, "ENOSYS"},
    {ELOOP, "ELOOP"},
    {EPROTO, "EPROTO"},
    {EMSGSIZE, "EMSGSIZE"},
    {ETIMEDOUT, "ETIMEDOUT"},
    {ECONNRESET, "ECONNRESET"},
    {ENOTSUP, "ENOTSUP"},
    {ENOBUFS, "ENOBUFS"},
    {ECANCELED, "ECANCELED"},
    {ESTALE, "ESTALE"},
    {EDQUOT, "EDQUOT"},
};

}  // namespace

std::string ErrnoName(int err) {
  for (const NamedErrno& entry : kNames) {
    if (entry.err == err) return entry.name;
  }
  return "E" + std::to_string(err);
}

std::string Describe(const Error& error) {
  std::string text = StageName(error.stage);
  if (!error.subject.empty()) text += ": " + error.subject;
  if (error.err != 0) text += ": " + std::string(strerror(error.err));
  return text;
}

bool IsShortage(int err) { return err == EMFILE || err == ENFILE || err == ENOMEM; }

}  // namespace spty
