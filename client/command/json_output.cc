// SPDX-License-Identifier: Apache-2.0
#include "client/command/json_output.h"

#include <memory>

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

std::string JsonOf(const google::protobuf::Message& message) {
  std::string json;
  if (google::protobuf::util::MessageToJsonString(message, &json).ok()) return json;
  // Only an Any of an unknown type can fail, and only an error contains one.
  std::unique_ptr<google::protobuf::Message> copy(message.New());
  copy->CopyFrom(message);
  if (auto* video = dynamic_cast<v1::Video*>(copy.get())) video->mutable_error()->clear_details();
  json.clear();
  (void)google::protobuf::util::MessageToJsonString(*copy, &json);
  return json.empty() ? "{}" : json;
}

std::string JsonString(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(value, &json);
  return json.empty() ? "\"\"" : json;
}

}  // namespace reel::client
