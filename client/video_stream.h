// SPDX-License-Identifier: Apache-2.0
// Reads the events of one video one by one. Made by VideoClient::Generate and Watch.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "absl/status/statusor.h"
#include "reel/v1/video_service.pb.h"

namespace reel::client {

class Connection;

// What a reader may rely on, whatever the network does:
// - `accepted` comes first and `finished` last; after it Next() returns nothing.
// - Every media chunk passed its CRC-32C, and begins where the one before it ended.
// - `restarted` voids all media so far: the next chunk begins at offset 0. When a job had to be
//   created anew (its server forgot it), it is followed by another `accepted` with a new name.
// - At `finished` the file is complete and, if it was read from its beginning, has the right hash.
// A broken stream is resumed where it broke (RetryOptions); each event is delivered once.
//
// Next() is for one thread; Stop() may come from any other.
class VideoStream {
 public:
  using Start = std::variant<v1::GenerateVideoRequest, v1::WatchVideoRequest>;

  VideoStream(std::shared_ptr<const Connection> connection, Start start);
  ~VideoStream();
  VideoStream(VideoStream&&) noexcept;
  VideoStream& operator=(VideoStream&&) noexcept;

  // Blocks until something happens: the server sends a heartbeat every few seconds. A failed or
  // cancelled video ends the stream with its status. After an error every call returns it again.
  absl::StatusOr<std::optional<v1::VideoEvent>> Next();

  // Ends the stream; Next() returns CANCELLED. This ends the job of a Generate that is not
  // detached, and nothing else.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::client
