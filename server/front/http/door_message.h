// SPDX-License-Identifier: Apache-2.0
// Requests and replies over HTTP as values: heads, read strictly, and bodies that come in pieces.
// Knows no sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/front/api/video_cursor.h"

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

constexpr size_t kMaxRequestLineBytes = 4 * 1024;
constexpr size_t kMaxDoorHeadBytes = 8 * 1024;
constexpr int kMaxDoorFields = 64;

// Length of the head at the start of `received`, with its blank line; 0: not whole yet.
// MALFORMED_HTTP for what can never become one, METADATA_TOO_LARGE above the limits.
absl::StatusOr<size_t> FindHeadEnd(std::string_view received);

// Of a whole head, read strictly: what a proxy's parser and ours might read differently is refused,
// so that nobody smuggles a request through.
absl::StatusOr<DoorHead> ParseDoorHead(std::string_view head);

struct BodyAhead {
  bool chunked = false;
  int64_t length = 0;  // where not chunked
  bool any() const { return chunked || length > 0; }
};
// Of a head that ParseDoorHead took.
BodyAhead BodyOf(const DoorHead& head);
// What a reader of bodies has to know of the head: the head itself is parsed once.
std::string FramingOf(const BodyAhead& body);
// The client waits for a word before it sends the body.
bool ExpectsContinue(const DoorHead& head);
// The connection may serve another request behind this one.
bool KeepsAlive(const DoorHead& head);

// A reply whose body comes in pieces, made as fast as its reader takes them.
// Confined to its stream's lock.
class DoorBody {
 public:
  virtual ~DoorBody() = default;

  // As a StreamCall's Prepare: `bytes` is the next piece, and may be empty for the first. An error
  // before the first piece is the reply; behind it the reply is broken off.
  virtual StreamStep Next(std::string& bytes, absl::Status& end) = 0;
  // Asked for once, after the first piece.
  virtual DoorReply Head() const = 0;
  // Of the whole body; negative: not known, it ends when it ends.
  virtual int64_t Length() const { return -1; }
  // No first piece came in time: the reply then. OK: there is one now. On any thread.
  virtual absl::Status Late() = 0;
  // What ends the stream from outside (a drain) leaves a body that is whole as it is.
  virtual bool whole_anywhere() const = 0;
  // Behind the piece that was made last Next will hardly have much to do: it may be called where
  // sockets are waited for.
  virtual bool at_hand() const { return false; }
  virtual std::string video() const = 0;
};

}  // namespace reel::front
