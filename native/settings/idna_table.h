// Which code points no internationalised host name may have.
#pragma once

#include <cstdint>

namespace spty {

// Whether IDNA2008 (RFC 5892) disallows a code point above ASCII: capital letters, compatibility forms,
// symbols, punctuation, what cannot be seen, what is private. A code point that is not assigned may be taken
// for either, and joiners, which are allowed in some places, count as disallowed.
bool IsDisallowedInNames(uint32_t code_point);

}  // namespace spty
