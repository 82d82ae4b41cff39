#include "binding/stay_loaded.h"

#include <dlfcn.h>
#include <errno.h>

namespace spty {

// Not by a linker flag: macOS has none. GCC's libstdc++ happens to have the same effect, by its unique
// symbols; libc++ has not.
Result<void> StayLoaded() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&StayLoaded), &self) == 0 || self.dli_fname == nullptr) {
    return Error{Stage::kKeeper, ENOENT, "the addon's own file"};
  }
  // Never closed again. NOLOAD: the same library, even if the file was replaced meanwhile.
  if (dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) {
    return Error{Stage::kKeeper, ENOENT, self.dli_fname};
  }
  return {};
}

}  // namespace spty
