// SPDX-License-Identifier: Apache-2.0
// A reply whose body comes in pieces, made as fast as its reader takes them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/front/api/video_cursor.h"
#include "server/front/http/door_message.h"

namespace reel::front {

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
