// SPDX-License-Identifier: Apache-2.0
// Files without names for what a node copies from others while somebody reads it, with one bound
// for all of them together. They are gone with the process, however it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::front {

class SpoolFile;

// Thread-safe.
class Spool : public std::enable_shared_from_this<Spool> {
 public:
  Spool(std::string folder, int64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  absl::StatusOr<std::shared_ptr<SpoolFile>> NewFile();
  int64_t bytes() const { return bytes_; }

 private:
  friend class SpoolFile;
  bool Take(int64_t bytes);
  void Return(int64_t bytes) { bytes_ -= bytes; }

  const std::string folder_;
  const int64_t max_bytes_;
  std::atomic<int64_t> bytes_ = 0;
};

// One writer; readers of what was written before may read at the same time.
class SpoolFile {
 public:
  SpoolFile(std::shared_ptr<Spool> spool, int descriptor);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // RESOURCE_EXHAUSTED: the spool or the disk is full.
  absl::Status Append(std::string_view bytes);
  // `size` bytes that were appended.
  absl::StatusOr<std::string> Read(int64_t offset, int64_t size) const;

 private:
  const std::shared_ptr<Spool> spool_;
  const int descriptor_;
  int64_t size_ = 0;
};

}  // namespace reel::front
