#include "session/tracking_report.h"

#include "session/session.h"
#include "settings/json_writer.h"

namespace spty {

std::string TrackingToJson(const Session& session) {
  JsonWriter out;
  out.BeginObject().Key("mechanisms").BeginArray();
  if (session.killed_by_cgroup()) out.String("cgroup");
  if (session.scoped()) out.String("landlock-scope");
  out.String(session.marked() ? "seatbelt-mark" : "subreaper").EndArray();
  if (!session.killed_by_cgroup()) out.Key("noCgroup").String(session.no_cgroup());
  // See TrackingProfile.
  if (session.marked() && !session.enforcement().confined)
    out.Key("unmarked").String("setuid programs such as sudo, sandbox-exec, and what these start");
  out.EndObject();
  return out.Take();
}

}  // namespace spty
