// SPDX-License-Identifier: Apache-2.0
// The bytes of a finished video, read chunk by chunk. Made by VideoClient::Download.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "reel/v1/video_service.pb.h"

namespace reel::client {

class Connection;

// Every chunk passed its CRC-32C and begins where the one before it ended, the first one at the
// request's offset; a broken stream is resumed. Next() is for one thread; Stop() may come
// from any other.
class DownloadStream {
 public:
  DownloadStream(std::shared_ptr<const Connection> connection, v1::DownloadVideoRequest request);
  ~DownloadStream();
  DownloadStream(DownloadStream&&) noexcept;
  DownloadStream& operator=(DownloadStream&&) noexcept;

  // Nothing after the last chunk; then, if no limit was asked for, the size was right, and so was
  // the hash of a download from offset 0 (else DATA_LOSS). NOT_FOUND, FAILED_PRECONDITION (not
  // finished yet), OUT_OF_RANGE as the server says.
  absl::StatusOr<std::optional<v1::MediaChunk>> Next();

  // Size and hash of the whole file; known after the end.
  const v1::MediaInfo& media() const;

  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::client
