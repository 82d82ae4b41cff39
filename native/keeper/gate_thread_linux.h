// Starting one of the gate's threads.
#pragma once

namespace spty {

// Detached, with a small stack and the caller's signal mask and identity. 0 or EAGAIN.
int StartGateThread(void* (*body)(void*), void* argument);

}  // namespace spty
