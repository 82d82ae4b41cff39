// Runs as the child of a session and writes to its terminal as fast as it can.
// usage: producer plain|yes|lines [bytes]
#include "pty_common.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  produce(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
  return 0;
}
