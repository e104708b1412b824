// SPDX-License-Identifier: Apache-2.0
// The body of a request that is a file, taken in piece by piece as the disk takes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/http/door.h"
#include "server/front/http/http_stream.h"
#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

namespace reel::front {

// Of one request. Confined to the loop's thread, as the connection whose stream and buffer it uses;
// they outlive it.
class FileIntake {
 public:
  template <typename T>
  using Awaitable = boost::asio::awaitable<T>;

  // `patience`: with each piece.
  FileIntake(HttpStream& stream, boost::beast::flat_buffer& buffer, absl::Duration patience)
      : stream_(stream), buffer_(buffer), patience_(patience) {}

  // The body of a request that the door has admitted. CANCELLED: the client has left.
  Awaitable<absl::StatusOr<UploadedFile>> Run(const Door& door, const DoorRequest& request);
  // What came last took too long.
  bool late() const { return late_; }

 private:
  // Waits for what `begin` is answered with, on another thread.
  template <typename T, typename Begin>
  Awaitable<T> AnswerOf(Begin begin);
  Awaitable<absl::Status> TellToGoOn(const DoorRequest& request);
  Awaitable<absl::Status> TakePieces(int64_t length, FileUpload& upload);
  // Some of the body, at most `left` bytes.
  Awaitable<absl::StatusOr<std::string>> ReadPiece(int64_t left);
  absl::Status NotInTime();

  HttpStream& stream_;
  boost::beast::flat_buffer& buffer_;  // what has come and is not read
  const absl::Duration patience_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool late_ = false;
};

}  // namespace reel::front
