// A JSON object to one layer's content. The one table of field names lives behind it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "settings/content.h"
#include "settings/field_reader.h"
#include "settings/json_value.h"

namespace spty {

// Every key of the settings object, aliases included; for messages and for the schema's test.
std::span<const std::string_view> SettingsKeys();
std::span<const std::string_view> PermissionsKeys();

// `skip` are keys that the caller reads itself (the platform blocks).
void ReadSettings(FieldReader& reader, const JsonValue& object, const std::string& pointer,
                  std::span<const std::string_view> skip, SettingsContent& content);
void ReadPermissions(FieldReader& reader, const JsonValue& object, const std::string& pointer,
                     PermissionsContent& content);

// One field, by a name that may reach into an object: "system_paths.executable". `siblings` is an object with
// the names that stand beside it, to find two spellings of one setting.
void ReadSettingsField(FieldReader& reader, std::string_view dotted_name, const JsonValue& value,
                       const JsonValue& siblings, const std::string& pointer, SettingsContent& content);
void ReadPermissionsField(FieldReader& reader, std::string_view name, const JsonValue& value,
                          const std::string& pointer, PermissionsContent& content);

}  // namespace spty
