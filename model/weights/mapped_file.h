// SPDX-License-Identifier: Apache-2.0
// Maps a file into memory, read-only, paged in on demand.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace reel::model {

// Move-only owner of a mapping. The bytes may be read from any thread. Truncating a mapped file
// kills its readers (SIGBUS): weight files are replaced by rename, never rewritten.
class MappedFile {
 public:
  // NOT_FOUND: no such file. FAILED_PRECONDITION: not a regular file, unreadable, or empty.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::string& path() const { return path_; }
  absl::Span<const std::byte> bytes() const { return bytes_; }
  // Drops the pages of `part`, which will not be read again soon: a copied tensor need not be in
  // memory twice.
  void DropPages(absl::Span<const std::byte> part) const;

 private:
  MappedFile(std::string path, absl::Span<const std::byte> bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  std::string path_;
  absl::Span<const std::byte> bytes_;
};

}  // namespace reel::model
