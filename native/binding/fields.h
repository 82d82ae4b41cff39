// Reads the fields of an argument from JavaScript. Nothing is taken for something else: what has the wrong
// type is a TypeError, and so is a word that is none of those known.
#pragma once

#include <napi.h>

#include <optional>
#include <string>
#include <vector>

#include "settings/types.h"

namespace spty {

// One field after the other; after the first wrong one the rest are skipped and a TypeError is pending.
class Fields {
 public:
  explicit Fields(const Napi::Value& value)
      : object_(value.IsObject() ? value.As<Napi::Object>() : Napi::Object::New(value.Env())) {}

  bool ok() const { return ok_; }

  std::string String(const char* name) {
    const Napi::Value value = object_.Get(name);
    if (!Expect(value.IsString(), name, "a string")) return "";
    return value.As<Napi::String>().Utf8Value();
  }

  bool Bool(const char* name) {
    const Napi::Value value = object_.Get(name);
    return Expect(value.IsBoolean(), name, "a boolean") && value.As<Napi::Boolean>().Value();
  }

  uint32_t Number(const char* name) {
    const Napi::Value value = object_.Get(name);
    return Expect(value.IsNumber(), name, "a number") ? value.As<Napi::Number>().Uint32Value() : 0;
  }

  uint16_t Cells(const char* name) { return static_cast<uint16_t>(Number(name)); }

  // The first value of E after an error: who asks has to look at ok().
  template <typename E>
  E Enum(const char* name) {
    const std::optional<E> value = EnumFromName<E>(String(name));
    return Expect(value.has_value(), name, "one of the known words") ? *value : E{};
  }

  std::vector<std::string> Strings(const char* name) { return List(name, "an array of strings", false); }

  // Strings, or Buffers with the bytes as they are.
  std::vector<std::string> ByteStrings(const char* name) {
    return List(name, "an array of strings and Buffers", true);
  }

  // One string with a NUL byte behind each element.
  std::vector<std::string> Terminated(const char* name) {
    std::vector<std::string> strings;
    const std::string all = String(name);
    if (!Expect(all.empty() || all.back() == '\0', name, "strings that end with a NUL byte")) return strings;
    for (size_t start = 0, end; (end = all.find('\0', start)) != std::string::npos; start = end + 1) {
      strings.push_back(all.substr(start, end - start));
    }
    return strings;
  }

  // Absent is undefined, and nothing else is.
  bool Has(const char* name) const { return !object_.Get(name).IsUndefined(); }
  Napi::Value Get(const char* name) const { return object_.Get(name); }

  bool Expect(bool condition, const char* name, const char* type) {
    if (!condition && ok_) {
      ok_ = false;
      const std::string message = std::string(name) + " must be " + type;
      Napi::TypeError::New(object_.Env(), message).ThrowAsJavaScriptException();
    }
    return condition && ok_;
  }

 private:
  std::vector<std::string> List(const char* name, const char* type, bool bytes) {
    std::vector<std::string> strings;
    const Napi::Value value = object_.Get(name);
    if (!Expect(value.IsArray(), name, type)) return strings;
    auto array = value.As<Napi::Array>();
    strings.reserve(array.Length());
    for (uint32_t i = 0; i < array.Length(); ++i) {
      const Napi::Value element = array.Get(i);
      const bool buffer = bytes && element.IsBuffer();
      if (!Expect(buffer || element.IsString(), name, type)) return strings;
      if (buffer) {
        auto data = element.As<Napi::Buffer<char>>();
        strings.emplace_back(data.Data(), data.Length());
      } else {
        strings.push_back(element.As<Napi::String>().Utf8Value());
      }
    }
    return strings;
  }

  Napi::Object object_;
  bool ok_ = true;
};

}  // namespace spty
