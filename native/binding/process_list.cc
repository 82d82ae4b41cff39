#include "binding/process_list.h"

#include "session/session.h"
#include "settings/json_writer.h"

namespace spty {

std::string ProcessList::ToJson(const Session& session) {
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
