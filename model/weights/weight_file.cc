// SPDX-License-Identifier: Apache-2.0
#include "model/weights/weight_file.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/gguf_header.h"
#include "model/weights/safetensors_header.h"

namespace reel::model {

absl::StatusOr<WeightFile> WeightFile::Open(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  absl::StatusOr<WeightHeader> header = BeginsAsGguf(file.bytes())
                                            ? ParseGgufHeader(file.bytes())
                                            : ParseSafetensorsHeader(file.bytes());
  if (!header.ok()) {
    return absl::Status(header.status().code(),
                        absl::StrCat("bad weight file: ", path, ": ", header.status().message()));
  }
  return WeightFile(std::move(file), *std::move(header));
}

absl::Span<const std::byte> WeightFile::Bytes(const TensorEntry& entry) const {
  return file_.bytes().subspan(static_cast<size_t>(entry.begin),
                               static_cast<size_t>(entry.end - entry.begin));
}

}  // namespace reel::model
