// What only looks like files. Also part of the keeper: no C++ library here.
#pragma once

namespace spty {

// Whether writing to what `fd` refers to, whose canonical name `path` is, changes the system or other
// processes and not files. However wide a grant is, it does not mean that. If it cannot be told the answer is
// yes.
bool IsKernelInterface(int fd, const char* path);

// Whether `path` is `ancestor`, which is not "/", or below it.
bool IsAtOrBelow(const char* path, const char* ancestor);

}  // namespace spty
