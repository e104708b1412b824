// SPDX-License-Identifier: Apache-2.0
#include "model/weights/safetensors_file.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::model {

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path,
                                                      const SafetensorsLimits& limits) {
  REEL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  absl::StatusOr<SafetensorsHeader> header = ParseSafetensorsHeader(file.bytes(), limits);
  if (!header.ok()) {
    return absl::Status(header.status().code(),
                        absl::StrCat("bad weight file: ", path, ": ", header.status().message()));
  }
  return SafetensorsFile(std::move(file), *std::move(header));
}

absl::Span<const std::byte> SafetensorsFile::Bytes(const TensorEntry& entry) const {
  return file_.bytes().subspan(static_cast<size_t>(entry.begin),
                               static_cast<size_t>(entry.end - entry.begin));
}

}  // namespace reel::model
