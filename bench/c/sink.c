// Runs as the child of a session: puts the terminal into raw mode, says "R", reads the given
// number of bytes, and says "D" and their sum as proof that nothing was lost or changed.
// usage: sink bytes
#include "pty_common.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  uint64_t want = strtoull(argv[1], NULL, 10), got = 0, sum = 0;
  struct termios t;
  if (tcgetattr(0, &t) < 0) die("tcgetattr");
  cfmakeraw(&t);
  if (tcsetattr(0, TCSANOW, &t) < 0) die("tcsetattr");
  if (write(1, "R", 1) != 1) return 1;
  static unsigned char buffer[65536];
  while (got < want) {
    ssize_t n = read(0, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 1;
    for (ssize_t i = 0; i < n; i++) sum += buffer[i];
    got += (uint64_t)n;
  }
  char line[64];
  int length = snprintf(line, sizeof line, "D%llu;", (unsigned long long)sum);
  if (write(1, line, (size_t)length) != length) return 1;
  pause();  // The host ends the session.
  return 0;
}
