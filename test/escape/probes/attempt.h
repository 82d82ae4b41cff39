// What every probe of the escape suite has in common: one sub-command per attempt, and one way to say how it
// went. The last line of output and the exit status both say it: 0 the act succeeded, 1 it was refused, 2 the
// probe itself is wrong, 77 this machine lacks what the act needs.
//
// A sub-command may be preceded by words that say who tries: "daemon" (forked twice, in a session of its
// own), "thread" (not the main one), "userns" (in a user namespace of its own, where it has all
// capabilities), "netns" (in a network of its own, too), "mountns" (with mounts of its own, too), "pidns" (as
// the first process of a pid namespace of its own, too), "again" (a second exec). "{keeper}" in an argument
// is the number of the probe's parent.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace attempt {

inline constexpr int kOk = 0;
inline constexpr int kRefused = 1;
inline constexpr int kBroken = 2;
inline constexpr int kAbsent = 77;

inline int Ok() {
  printf("attempt: ok\n");
  return kOk;
}
inline int Refused(int err = errno) {
  printf("attempt: refused %d (%s)\n", err, strerror(err));
  return kRefused;
}
inline int Broken(const char* what) {
  printf("attempt: broken: %s: %s\n", what, strerror(errno));
  return kBroken;
}
inline int Absent(const char* why) {
  printf("attempt: absent: %s\n", why);
  return kAbsent;
}

using Arguments = std::vector<std::string>;
struct Command {
  const char* name;
  size_t arguments;  // at least
  int (*run)(const Arguments& arguments);
};

template <size_t N>
int Dispatch(const Command (&commands)[N], Arguments arguments);

// In a grandchild that is no longer in the shell's session nor has its parent.
template <size_t N>
int AsDaemon(const Command (&commands)[N], const Arguments& arguments) {
  int ends[2];
  if (pipe(ends) == -1) return Broken("pipe");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    setsid();
    if (fork() != 0) _exit(0);
    // One more, since what it does may be an exec.
    const pid_t worker = fork();
    if (worker == 0) {
      const int result = Dispatch(commands, arguments);
      fflush(stdout);
      _exit(result);
    }
    int status = -1;
    if (waitpid(worker, &status, 0) != worker || !WIFEXITED(status)) _exit(1);
    const int result = WEXITSTATUS(status);
    _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
  }
  close(ends[1]);
  int status = 0;
  if (child == -1 || waitpid(child, &status, 0) != child) return Broken("fork");
  int result = kBroken;
  return read(ends[0], &result, sizeof result) == sizeof result ? result : Broken("the daemon is gone");
}

// Only a child is in the new pid namespace.
template <size_t N>
int InPidNamespace(const Command (&commands)[N], const Arguments& arguments) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID) == -1) return Absent("needs user namespaces");
  fflush(stdout);
  const pid_t first = fork();
  if (first == 0) {
    const int result = getpid() == 1 ? Dispatch(commands, arguments) : Broken("pid namespace");
    fflush(stdout);
    _exit(result);
  }
  int status = -1;
  if (first == -1 || waitpid(first, &status, 0) != first) return Broken("fork");
  return WIFEXITED(status) ? WEXITSTATUS(status) : Broken("killed");
}

template <size_t N>
int InThread(const Command (&commands)[N], const Arguments& arguments) {
  int result = kBroken;
  std::thread([&] { result = Dispatch(commands, arguments); }).join();
  return result;
}

inline int Again(const Arguments& arguments) {
  std::vector<char*> argv = {const_cast<char*>("again")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return Broken("/proc/self/exe");
  fflush(stdout);
  execv(path, argv.data());
  return Broken("exec of myself");
}

template <size_t N>
int Dispatch(const Command (&commands)[N], Arguments arguments) {
  if (arguments.empty()) return Broken("no command");
  const std::string name = arguments.front();
  arguments.erase(arguments.begin());
  if (name == "daemon") return AsDaemon(commands, arguments);
  if (name == "thread") return InThread(commands, arguments);
  if (name == "again") return Again(arguments);
  if (name == "userns") {
    if (unshare(CLONE_NEWUSER) == -1) return Absent("needs user namespaces");
    return Dispatch(commands, arguments);
  }
  if (name == "netns") {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == -1) return Absent("needs user namespaces");
    return Dispatch(commands, arguments);
  }
  if (name == "mountns") {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1) return Absent("needs user namespaces");
    return Dispatch(commands, arguments);
  }
  if (name == "pidns") return InPidNamespace(commands, arguments);
  for (const Command& command : commands) {
    if (name == command.name && arguments.size() >= command.arguments) return command.run(arguments);
  }
  errno = EINVAL;
  return Broken(name.c_str());
}

template <size_t N>
int Main(int argc, char** argv, const Command (&commands)[N]) {
  // What was printed before a signal ends us is not lost.
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  Arguments arguments(argv + 1, argv + argc);
  const std::string keeper = "{keeper}";
  for (std::string& argument : arguments) {
    for (size_t at; (at = argument.find(keeper)) != std::string::npos;)
      argument.replace(at, keeper.size(), std::to_string(getppid()));
  }
  return Dispatch(commands, arguments);
}

}  // namespace attempt
