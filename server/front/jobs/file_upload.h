// SPDX-License-Identifier: Apache-2.0
// The upload of a file, in pieces. Later requests name the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/digest/sha256.h"

namespace reel::front {

// A file's name is this prefix and its SHA-256 (Sha256Hex).
inline constexpr std::string_view kFileNamePrefix = "files/";
inline bool IsFileName(std::string_view name) {
  return name.starts_with(kFileNamePrefix) && IsSha256Hex(name.substr(kFileNamePrefix.size()));
}

// Limit of an upload's duration.
inline constexpr absl::Duration kLongestUpload = absl::Minutes(15);

// A stored file, which requests can name.
struct UploadedFile {
  std::string name;
  int64_t size_bytes = 0;
  std::string content_type;
  absl::Time expire_time;
};

// One upload. Used by one thread at a time; each call follows the answer to the previous one. If
// destroyed before the end, it leaves nothing behind.
class FileUpload {
 public:
  virtual ~FileUpload() = default;
  // Calls `done` on another thread once the bytes are out of memory. An error ends the upload.
  virtual void Append(std::string bytes, absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Stores the file, then calls `done` on another thread. `sha256`: expected by the caller; may be
  // empty.
  virtual void Finish(std::string sha256,
                      absl::AnyInvocable<void(absl::StatusOr<UploadedFile>)> done) = 0;
};

}  // namespace reel::front
