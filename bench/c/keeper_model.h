// The messages between spawn.c and the keeper of the model.
#ifndef BENCH_KEEPER_MODEL_H_
#define BENCH_KEEPER_MODEL_H_

enum { kWaitForExec = 0, kAnswerBeforeExec = 1, kVfork = 2 };

struct plan {
  int mode;
  char file[256];
};

struct answer {
  int pid;
  int err;     // of exec, 0 if it worked
  int status;  // second message only: the wait status
};

#endif  // BENCH_KEEPER_MODEL_H_
