#include "settings/document.h"

#include <algorithm>

#include "base/result.h"
#include "settings/json_parse.h"
#include "settings/read_content.h"
#include "settings/text.h"

namespace spty {
namespace {

constexpr std::string_view kPlatformKeys[] = {"linux", "macos", "windows"};
constexpr std::string_view kSettingsPath = "terminal.sandbox";
constexpr std::string_view kPermissionsPath = "agent.sandbox_permissions";

bool IsSectionKey(std::string_view key, std::string_view path) {
  return key == path || (key.starts_with(path) && key[path.size()] == '.');
}

bool HasEditorSection(const JsonValue& object) {
  for (const JsonMember& member : object.members) {
    if (member.key == "terminal" || member.key == "agent") return true;
    if (IsSectionKey(member.key, kSettingsPath) || IsSectionKey(member.key, kPermissionsPath)) return true;
  }
  return false;
}

bool LooksLikeEditor(const JsonValue& root) {
  if (HasEditorSection(root)) return true;
  for (std::string_view key : kPlatformKeys) {
    const JsonValue* block = root.Find(key);
    if (block != nullptr && HasEditorSection(*block)) return true;
  }
  return false;
}

// An editor has keys of its own beside the sections, which are none of our business; but not our keys.
void RefuseSettingsIn(FieldReader& reader, const JsonValue& object, const std::string& pointer) {
  const auto keys = SettingsKeys();
  for (const JsonMember& member : object.members) {
    if (std::find(keys.begin(), keys.end(), member.key) == keys.end()) continue;
    reader.Fail(AppendPointer(pointer, member.key),
                Quoted(member.key) + " stands beside a section of an editor's settings, and would not count.",
                "Move it into \"terminal.sandbox\", or say by \"shape\" which of the two this is.");
  }
}

// Whether it is an editor's document was guessed: a document that is both could run unconfined by that.
void RefuseMixture(FieldReader& reader, const JsonValue& root, const std::string& pointer) {
  RefuseSettingsIn(reader, root, pointer);
  for (std::string_view key : kPlatformKeys) {
    const JsonValue* block = root.Find(key);
    if (block != nullptr) RefuseSettingsIn(reader, *block, AppendPointer(pointer, key));
  }
}

// One section of an editor's document in whichever way it is spelled: {"terminal": {"sandbox": {}}},
// {"terminal.sandbox": {}}, or {"terminal.sandbox.enabled": true, ...}.
struct Section {
  const JsonValue* object = nullptr;
  std::string pointer;
  std::vector<const JsonMember*> dotted;  // the third spelling
  JsonValue dotted_names;                 // their names, as an object
};

Section FindSection(FieldReader& reader, const JsonValue& document, const std::string& pointer,
                    std::string_view path) {
  Section section;
  const size_t dot = path.find('.');
  const std::string_view outer = path.substr(0, dot);
  const std::string_view inner = path.substr(dot + 1);
  if (const JsonValue* parent = document.Find(outer)) {
    const std::string at = AppendPointer(pointer, outer);
    if (reader.ExpectObject(*parent, at)) section.object = parent->Find(inner);
    section.pointer = AppendPointer(at, inner);
  }
  for (const JsonMember& member : document.members) {
    if (!IsSectionKey(member.key, path)) continue;
    const bool whole = member.key == path;
    const std::string at = AppendPointer(pointer, member.key);
    if (section.object != nullptr || (whole && !section.dotted.empty())) {
      reader.Fail(at, Quoted(path) + " is given in two ways in this document.", "Keep one of them.");
    } else if (whole) {
      section.object = &member.value;
      section.pointer = at;
    } else {
      section.dotted.push_back(&member);
      section.dotted_names.kind = JsonValue::Kind::kObject;
      section.dotted_names.members.push_back({member.key.substr(path.size() + 1), {}});
    }
  }
  return section;
}

void ReadEditor(FieldReader& reader, const JsonValue& document, const std::string& pointer,
                SettingsContent& settings, PermissionsContent& permissions) {
  if (!reader.ExpectObject(document, pointer)) return;
  const Section sandbox = FindSection(reader, document, pointer, kSettingsPath);
  if (sandbox.object != nullptr) ReadSettings(reader, *sandbox.object, sandbox.pointer, {}, settings);
  for (size_t i = 0; i < sandbox.dotted.size(); ++i) {
    ReadSettingsField(reader, sandbox.dotted_names.members[i].key, sandbox.dotted[i]->value,
                      sandbox.dotted_names, AppendPointer(pointer, sandbox.dotted[i]->key), settings);
  }
  const Section approved = FindSection(reader, document, pointer, kPermissionsPath);
  if (approved.object != nullptr) ReadPermissions(reader, *approved.object, approved.pointer, permissions);
  for (size_t i = 0; i < approved.dotted.size(); ++i) {
    ReadPermissionsField(reader, approved.dotted_names.members[i].key, approved.dotted[i]->value,
                         AppendPointer(pointer, approved.dotted[i]->key), permissions);
  }
}

void ReadPlatforms(FieldReader& reader, const JsonValue& document, const Origin& root, bool editor,
                   LayerDocument& result) {
  for (const EnumName<Platform>& platform : EnumNames<Platform>()) {
    const JsonValue* block = document.Find(platform.name);
    if (block == nullptr) continue;
    const auto index = static_cast<size_t>(platform.value);
    const std::string at = AppendPointer(root.pointer, platform.name);
    // Only the user's block is a layer of its own; in any other document it is part of that document's layer.
    if (root.layer == Layer::kUser) reader.set_layer(Layer::kUserPlatform);
    if (editor) {
      ReadEditor(reader, *block, at, result.platform_settings[index], result.platform_permissions[index]);
    } else {
      ReadSettings(reader, *block, at, {}, result.platform_settings[index]);
    }
    reader.set_layer(root.layer);
  }
}

SettingsError NotAnObject(const Origin& root, const JsonValue& value) {
  SettingsError error;
  error.at = root;
  error.message = "The document must be an object, not " + std::string(value.KindName()) + ".";
  return error;
}

}  // namespace

SettingsResult<LayerDocument> ParseSettings(std::string_view text, const Origin& root, DocumentShape shape) {
  TRY_ASSIGN(const JsonValue document, ParseJson(text, root));
  if (!document.is_object()) return NotAnObject(root, document);
  const bool editor =
      shape == DocumentShape::kEditor || (shape == DocumentShape::kAuto && LooksLikeEditor(document));
  FieldReader reader(root.layer);
  LayerDocument result;
  if (editor) {
    if (shape == DocumentShape::kAuto) RefuseMixture(reader, document, root.pointer);
    ReadEditor(reader, document, root.pointer, result.settings, result.permissions);
  } else {
    ReadSettings(reader, document, root.pointer, kPlatformKeys, result.settings);
  }
  ReadPlatforms(reader, document, root, editor, result);
  if (reader.failed()) return reader.TakeErrors();
  return result;
}

SettingsResult<PermissionsContent> ParsePermissions(std::string_view text, const Origin& root) {
  TRY_ASSIGN(const JsonValue document, ParseJson(text, root));
  if (!document.is_object()) return NotAnObject(root, document);
  FieldReader reader(root.layer);
  PermissionsContent result;
  ReadPermissions(reader, document, root.pointer, result);
  if (reader.failed()) return reader.TakeErrors();
  return result;
}

}  // namespace spty
