// SPDX-License-Identifier: Apache-2.0
#include "server/convert/field_convert.h"

namespace reel {

FieldPath FindPath(const google::protobuf::Message& message, std::string_view name) {
  const size_t dot = name.find('.');
  const auto* found = message.GetDescriptor()->FindFieldByName(std::string(name.substr(0, dot)));
  if (found == nullptr) return {};
  if (dot == std::string_view::npos) return {nullptr, found, message.GetReflection()};
  FieldPath path =
      FindPath(message.GetReflection()->GetMessage(message, found), name.substr(dot + 1));
  path.outer = found;
  return path;
}

}  // namespace reel
