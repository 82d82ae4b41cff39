// RetryEintr: repeat a system call that a signal interrupted. For calls that are safe to repeat; never for
// close.
#pragma once

#include <errno.h>

namespace spty {

template <typename Call>
auto RetryEintr(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result == -1 && errno == EINTR);
  return result;
}

}  // namespace spty
