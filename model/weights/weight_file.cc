// SPDX-License-Identifier: Apache-2.0
#include "model/weights/weight_file.h"

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/gguf_header.h"
#include "model/weights/safetensors_header.h"

namespace reel::model {
namespace {

// A zip archive of one, or protocol 2 to 5. The length of a safetensors header can begin like the
// latter, so this explains a refusal and is none itself.
bool BeginsAsPickle(absl::Span<const std::byte> file) {
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  return bytes.starts_with("PK\x03\x04") ||
         (bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5);
}

}  // namespace

absl::StatusOr<WeightFile> WeightFile::Open(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  absl::StatusOr<WeightHeader> header = BeginsAsGguf(file.bytes())
                                            ? ParseGgufHeader(file.bytes())
                                            : ParseSafetensorsHeader(file.bytes());
  if (!header.ok()) {
    return absl::Status(header.status().code(),
                        absl::StrCat("bad weight file: ", path, ": ", header.status().message(),
                                     BeginsAsPickle(file.bytes())
                                         ? "; it begins as a pickled PyTorch file, which can run "
                                           "code when it is read"
                                         : ""));
  }
  return WeightFile(std::move(file), *std::move(header));
}

absl::Span<const std::byte> WeightFile::Bytes(const TensorEntry& entry) const {
  return file_.bytes().subspan(static_cast<size_t>(entry.begin),
                               static_cast<size_t>(entry.end - entry.begin));
}

}  // namespace reel::model
