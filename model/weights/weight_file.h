// SPDX-License-Identifier: Apache-2.0
// Opens one file of weights, GGUF or safetensors by its first bytes.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/weights/mapped_file.h"
#include "model/weights/weight_header.h"

namespace reel::model {

// Immutable; may be read from any thread.
class WeightFile {
 public:
  // NOT_FOUND, or FAILED_PRECONDITION with the file and its problem.
  static absl::StatusOr<WeightFile> Open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const MappedFile& mapped() const { return file_; }
  const WeightHeader& header() const { return header_; }
  // The bytes of an entry of this file's header. Not aligned.
  absl::Span<const std::byte> Bytes(const TensorEntry& entry) const;
  // See MappedFile::DropPages.
  void DropPages(const TensorEntry& entry) const { file_.DropPages(Bytes(entry)); }

 private:
  WeightFile(MappedFile file, WeightHeader header)
      : file_(std::move(file)), header_(std::move(header)) {}

  MappedFile file_;
  WeightHeader header_;
};

}  // namespace reel::model
