#include <errno.h>
#include <string.h>

#include "keeper/confine.h"
#include "uapi/seatbelt.h"

namespace spty {

// No capabilities here. A profile is not left by executing a setuid program, which it refuses anyway.
int DropBoundingSet() { return 0; }
int GiveUpPrivileges() { return 0; }
int RefuseNewPrivileges() { return 0; }

// A plan that asks for one of these was meant for another system.
int EnterDomain(int) { return ENOTSUP; }
int InstallFilter(const void*, uint32_t, int*) { return ENOTSUP; }
int HandOverListener(int, int) { return ENOTSUP; }
int ReceiveListener(int, Fd*) { return ENOTSUP; }

int EnterSeatbelt(const char* profile, char* text, size_t room) {
  char* message = nullptr;
  errno = 0;
  if (sandbox_init(profile, 0, &message) == 0) return 0;
  const int err = errno != 0 ? errno : EPERM;
  strlcpy(text, message != nullptr ? message : "", room);
  if (message != nullptr) sandbox_free_error(message);
  return err;
}

}  // namespace spty
