// What a command-line host needs of its own terminal: see pty/host_terminal.h.
#pragma once

#include <napi.h>

namespace spty {

void RegisterHostTerminal(Napi::Env env, Napi::Object exports);

}  // namespace spty
