#include "session/background_removal.h"

#include <pthread.h>

#include <memory>

#include "base/block_signals.h"

namespace spty {
namespace {

struct Removal {
  std::function<int()> remove;
  std::function<void(int)> done;
};

}  // namespace

Result<void> RunRemoval(std::function<int()> remove, std::function<void(int)> done) {
  const BlockAllSignals block;
  const auto run = [](void* data) -> void* {
    const std::unique_ptr<Removal> removal(static_cast<Removal*>(data));
    removal->done(removal->remove());
    return nullptr;
  };
  auto removal = std::make_unique<Removal>(Removal{std::move(remove), std::move(done)});
  pthread_t thread;
  if (int err = pthread_create(&thread, nullptr, run, removal.get()); err != 0)
    return Error{Stage::kTemp, err, "pthread_create"};
  (void)removal.release();
  // A process that ends meanwhile leaves the rest to the next one.
  pthread_detach(thread);
  return {};
}

}  // namespace spty
