// Which UNIX socket listens there? Asked from the kernel (unix_diag), in this process' network namespace.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace spty {

struct ListenerQuery {
  uint32_t device = 0;  // as KernelDevice() says
  uint32_t inode = 0;   // the lower 32 bits
};

struct ListenerFound {
  int count = 0;  // 0, 1, or 2 for "more than one": then nothing else here means anything
  uint64_t cookie = 0;
  char name[110] = {};  // as it was bound, terminated: at most 108 bytes, which the kernel reports with a NUL
};

// major << 20 | minor, as the kernel has it, of a C library's dev_t.
uint32_t KernelDevice(uint64_t device);

// All sockets that listen on such a file. 0 or an errno if the kernel cannot be asked.
int FindListener(const ListenerQuery& query, ListenerFound* found);

}  // namespace spty
