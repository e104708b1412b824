// SPDX-License-Identifier: Apache-2.0
// Requests and replies over HTTP, as values. Knows no sockets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace reel::front {

struct DoorField {
  std::string name;  // of a request: lower case
  std::string value;
};

struct DoorHead {
  std::string method;
  std::string path;   // as sent, without the query
  std::string query;  // as sent, without the '?'
  bool http_1_0 = false;
  std::vector<DoorField> fields;

  // The first value; empty when there is none.
  std::string_view Find(std::string_view name) const;
  int Count(std::string_view name) const;
};

struct DoorReply {
  int status = 200;
  std::vector<DoorField> fields;
  std::string body;
  bool close = false;  // the connection ends with it
  absl::Status error;  // what `body` tells of, where it is an error

  void Add(std::string name, std::string value) {
    fields.push_back({std::move(name), std::move(value)});
  }
};

// 200 with what changes from call to call.
DoorReply JsonReply(std::string json);

// How the end of a body is told.
enum class BodyFraming { kLength, kChunked, kNone };

// The head of the reply with its blank line. `length` counts for kLength alone.
std::string WriteHead(const DoorReply& reply, BodyFraming framing, int64_t length);
// `bytes` as a chunk; the last chunk for none.
std::string WriteChunk(std::string_view bytes);

// "a=b&c=d", decoded. None for what is no such text.
std::optional<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query);

}  // namespace reel::front
