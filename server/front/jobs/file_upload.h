// SPDX-License-Identifier: Apache-2.0
// A file that is sent ahead of the requests that name it: on its way in, piece by piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace reel::front {

// What begins the names of such files; their hash follows, 64 lower-case hexadecimal digits.
inline constexpr std::string_view kFileNamePrefix = "files/";
inline bool IsFileName(std::string_view name) {
  constexpr size_t kHashDigits = 64;
  return name.starts_with(kFileNamePrefix) && name.size() == kFileNamePrefix.size() + kHashDigits &&
         std::all_of(name.begin() + kFileNamePrefix.size(), name.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// As the caller may name it from then on.
struct UploadedFile {
  std::string name;
  int64_t size_bytes = 0;
  std::string content_type;
  absl::Time expire_time;
};

// One file. Used by one thread at a time, and not before the answer to what came last. Who gives it
// up leaves nothing of it.
class FileUpload {
 public:
  virtual ~FileUpload() = default;
  // `done` comes on another thread, when the bytes are out of memory. An error is the end.
  virtual void Append(std::string bytes, absl::AnyInvocable<void(absl::Status)> done) = 0;
  // That was all. It is stored before `done` comes, likewise. `sha256`: what the caller says of the
  // whole; empty: nothing.
  virtual void Finish(std::string sha256,
                      absl::AnyInvocable<void(absl::StatusOr<UploadedFile>)> done) = 0;
};

}  // namespace reel::front
