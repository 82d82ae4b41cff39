#include "binding/process_list.h"

#include <atomic>

#include "session/session.h"
#include "settings/json_writer.h"

namespace spty {
namespace {

// Whether room for kept files is being made, or was asked for in vain: then all lists are read anew.
std::atomic<bool> asked_for_room{false};

class RoomWorker : public Napi::AsyncWorker {
 public:
  static void QueueOnce(Napi::Env env) {
    if (!ProcessReader::has_room() && !asked_for_room.exchange(true)) (new RoomWorker(env))->Queue();
  }

  void Execute() override {
    ProcessReader::MakeRoom();
    done_ = true;
  }
  ~RoomWorker() override {
    // A worker thread of Node's that ended before it came to this: the next who asks.
    if (!done_) asked_for_room = false;
  }

 private:
  explicit RoomWorker(Napi::Env env) : AsyncWorker(env, "SandboxedPtyProcessList") {}
  bool done_ = false;
};

}  // namespace

std::string ProcessList::ToJson(Napi::Env env, const Session& session) {
  RoomWorker::QueueOnce(env);
  JsonWriter out;
  out.BeginArray();
  for (const ProcessInfo& process : session.Members(reader_)) {
    if (process.state == 'Z') continue;  // ended, and not yet reaped
    out.BeginObject().Key("pid").Integer(static_cast<uint64_t>(process.pid));
    out.Key("ppid").Integer(static_cast<uint64_t>(process.parent));
    out.Key("startTicks").Integer(process.start_ticks).Key("name").String(process.name);
    out.Key("argv").BeginArray();
    for (const std::string& argument : reader_.ArgumentsOf(process)) out.String(argument);
    out.EndArray().Key("cpuTicks").Integer(process.cpu_ticks);
    out.Key("rssBytes").Integer(process.rss_bytes).EndObject();
  }
  out.EndArray();
  return out.Take();
}

}  // namespace spty
