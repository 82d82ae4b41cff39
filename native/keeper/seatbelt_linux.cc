#include <errno.h>

#include "keeper/confine.h"

namespace spty {

// A plan with a profile was meant for another system: better no shell than an unconfined one.
int EnterSeatbelt(const char*, char* text, size_t room) {
  if (room > 0) text[0] = '\0';
  return ENOTSUP;
}

}  // namespace spty
