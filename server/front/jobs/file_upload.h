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

// A file's name is this and its SHA-256 (Sha256Hex).
inline constexpr std::string_view kFileNamePrefix = "files/";
inline bool IsFileName(std::string_view name) {
  return name.starts_with(kFileNamePrefix) && IsSha256Hex(name.substr(kFileNamePrefix.size()));
}

// An upload that takes longer is given up.
inline constexpr absl::Duration kLongestUpload = absl::Minutes(15);

// As the caller may name it from then on.
struct UploadedFile {
  std::string name;
  int64_t size_bytes = 0;
  std::string content_type;
  absl::Time expire_time;
};

// One upload. Used by one thread at a time; each call waits for the answer to the one before.
// Destroyed before the end it leaves nothing behind.
class FileUpload {
 public:
  virtual ~FileUpload() = default;
  // `done` comes on another thread, when the bytes are out of memory. An error is the end.
  virtual void Append(std::string bytes, absl::AnyInvocable<void(absl::Status)> done) = 0;
  // Stores the file, then calls `done` on another thread. `sha256`: that the caller expects; empty:
  // none.
  virtual void Finish(std::string sha256,
                      absl::AnyInvocable<void(absl::StatusOr<UploadedFile>)> done) = 0;
};

}  // namespace reel::front
