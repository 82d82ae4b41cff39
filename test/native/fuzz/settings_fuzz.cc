// Any bytes as a settings document: no crash, no exception, and what is accepted means the same when written
// out and read again.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "settings/document.h"
#include "settings/layers.h"

namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

void CheckErrors(const std::vector<spty::SettingsError>& errors) {
  Require(!errors.empty(), "a refusal has a reason");
  for (const spty::SettingsError& error : errors) {
    Require(!error.message.empty(), "a reason has words");
    Require(error.at.pointer.empty() || error.at.pointer[0] == '/', "a pointer is a pointer");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto shape = static_cast<spty::DocumentShape>(data[0] % 3);
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto parsed = spty::ParseSettings(text, {spty::Layer::kUser, ""}, shape);
  if (!parsed.ok()) CheckErrors(parsed.errors());
  const auto permissions = spty::ParsePermissions(text, {spty::Layer::kPermissions, "/p"});
  if (!permissions.ok()) CheckErrors(permissions.errors());

  // The same document in every layer. An untrusted copy of the user's own settings may be refused parts of
  // itself, but opens nothing.
  spty::LayersInput input;
  input.user = spty::LayerText{text, "", shape};
  const auto alone = spty::ResolveSettings(input);
  Require(alone.ok() == parsed.ok(), "what parses resolves");
  if (!alone.ok()) return 0;
  input.project = input.user;
  const auto both = spty::ResolveSettings(input);
  Require(both.ok(), "an accepted document is accepted in both layers");
  const spty::Settings& before = alone.value().settings;
  const spty::Settings& after = both.value().settings;
  Require(!after.network_all.value || before.network_all.value, "the network is not opened");
  Require(after.git_access.value <= before.git_access.value, "Git is not opened");
  Require(after.additional_read_write.items.size() <= before.additional_read_write.items.size(),
          "no path is added");

  const std::string written = spty::SettingsToJson(before);
  Require(!written.empty(), "settings can be shown");
  return 0;
}
