// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a finished video chunk by chunk. Made by VideoClient::Download.
#pragma once

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "reel/v1/video_service.pb.h"

namespace reel::client {

class Connection;

// Every chunk passed its CRC-32C and continues the previous one, the first one at the request's
// offset; a broken stream is resumed. One thread calls Next(); any thread may call Stop().
class DownloadStream {
 public:
  DownloadStream(std::shared_ptr<const Connection> connection, v1::DownloadVideoRequest request);
  ~DownloadStream();
  DownloadStream(DownloadStream&&) noexcept;
  DownloadStream& operator=(DownloadStream&&) noexcept;

  // Nothing after the last chunk; then, without a limit, the size was right, and so was the hash of
  // a download from offset 0 (else DATA_LOSS). NOT_FOUND, FAILED_PRECONDITION (not finished yet)
  // and OUT_OF_RANGE are the server's.
  absl::StatusOr<std::optional<v1::MediaChunk>> Next();

  // Size and hash of the whole file; known at the end.
  const v1::MediaInfo& media() const;

  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::client
