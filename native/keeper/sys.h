// The few things the keeper needs that differ between kernels.
#pragma once

#include <sys/types.h>

namespace spty {

// Closes every descriptor >= first. 0 or an errno.
int CloseFrom(int first);

// Marks every descriptor >= first close-on-exec. 0 or an errno.
int MarkCloseOnExecFrom(int first);

// Makes orphaned descendants come back to this process instead of init. 0 or an errno. macOS has no such
// thing: 0.
int BecomeSubreaper();

// Gives every signal its default disposition, also those that C libraries keep to themselves. 0 or an errno.
int ResetSignalDispositions();

// Whether a terminal forgets what was not read yet when its last descriptor closes (macOS: if it was set to
// non-blocking). Then the keeper keeps one open, and the end of the session is told by its report alone.
bool OutputDiesWithLastClose();

// A pipe with both ends CLOEXEC, and non-blocking if asked for. 0 or an errno.
int OpenPipe(int ends[2], bool nonblocking);

// fork(2), the child being in this cgroup from birth: joining one later may make the kernel wait for every
// processor once (milliseconds). -1 with errno set, also where this kernel, or a sandbox around us, does not
// have it.
pid_t ForkIntoCgroup(int cgroup_dir);
// Moves this process there. 0 or an errno.
int JoinCgroup(int cgroup_dir);

// Two connected stream sockets, CLOEXEC. 0 or an errno.
int OpenSocketPair(int ends[2]);

// Whether nothing more will come from the other end of a stream socket. On macOS that is seen only when all
// that came before has been read.
bool OtherEndIsDone(int socket);

}  // namespace spty
