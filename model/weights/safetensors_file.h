// SPDX-License-Identifier: Apache-2.0
// Opens one safetensors file.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/weights/mapped_file.h"
#include "model/weights/safetensors_header.h"

namespace reel::model {

// Immutable; may be read from any thread.
class SafetensorsFile {
 public:
  // NOT_FOUND, or FAILED_PRECONDITION with the file and its problem.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path,
                                              const SafetensorsLimits& limits = {});

  const std::string& path() const { return file_.path(); }
  const SafetensorsHeader& header() const { return header_; }
  // The bytes of an entry of this file's header. Not aligned.
  absl::Span<const std::byte> Bytes(const TensorEntry& entry) const;
  // See MappedFile::DropPages.
  void DropPages(const TensorEntry& entry) const { file_.DropPages(Bytes(entry)); }

 private:
  SafetensorsFile(MappedFile file, SafetensorsHeader header)
      : file_(std::move(file)), header_(std::move(header)) {}

  MappedFile file_;
  SafetensorsHeader header_;
};

}  // namespace reel::model
