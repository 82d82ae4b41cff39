#include "settings/origin.h"

namespace spty {

std::string_view LayerName(Layer layer) {
  switch (layer) {
    case Layer::kDefault:
      return "default";
    case Layer::kUser:
      return "user";
    case Layer::kUserPlatform:
      return "user-platform";
    case Layer::kProject:
      return "project";
    case Layer::kPermissions:
      return "permissions";
    case Layer::kCaller:
      return "caller";
  }
  return "unknown";
}

std::string Describe(const Origin& origin) {
  std::string text(LayerName(origin.layer));
  if (origin.layer != Layer::kDefault) text += ":" + origin.pointer;
  return text;
}

std::string AppendPointer(std::string_view pointer, std::string_view token) {
  std::string result(pointer);
  result += '/';
  for (char c : token) {
    if (c == '~') {
      result += "~0";
    } else if (c == '/') {
      result += "~1";
    } else {
      result += c;
    }
  }
  return result;
}

std::string AppendPointer(std::string_view pointer, size_t index) {
  const std::string token = std::to_string(index);
  return AppendPointer(pointer, std::string_view{token});
}

}  // namespace spty
