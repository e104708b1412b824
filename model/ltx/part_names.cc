// SPDX-License-Identifier: Apache-2.0
#include "model/ltx/part_names.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/part_files.h"

namespace reel::model::ltx {
namespace {

absl::Status MoreThan(const char* part, const WeightSet& file, const std::string& name) {
  return absl::FailedPreconditionError(
      absl::StrCat("the file holds more than the ", part, ": ", file.source(), ": ", name));
}

bool Has(const WeightSet& file, std::string_view prefix, const char* name) {
  return file.Find(name) != nullptr || file.Find(std::string(prefix) + name) != nullptr;
}

bool IsOriginalVae(const WeightSet& file) {
  return Has(file, kVaePrefix, "per_channel_statistics.mean-of-means");
}

// Under the names of the whole file that it was cut from.
absl::StatusOr<WeightSet> WithVaePrefix(const WeightSet& file) {
  if (file.Find("per_channel_statistics.mean-of-means") != nullptr) {
    return file.Renamed(
        [](const std::string& name) { return std::optional(std::string(kVaePrefix) + name); });
  }
  for (const auto& [name, tensor] : file.tensors()) {
    if (!name.starts_with(kVaePrefix)) return MoreThan("autoencoder", file, name);
  }
  return file;
}

}  // namespace

absl::StatusOr<WeightSet> TransformerPart(const WeightSet& file) {
  REEL_RETURN_IF_ERROR(CheckIsLtx(file));
  if (Has(file, kTransformerPrefix, "audio_patchify_proj.weight")) {
    return absl::FailedPreconditionError(
        absl::StrCat("the file is a transformer of LTX-2, not of LTX-Video: ", file.source()));
  }
  for (const auto& [name, tensor] : file.tensors()) {
    if (name.starts_with(kVaePrefix)) return MoreThan("transformer", file, name);
  }
  return Has(file, kTransformerPrefix, "patchify_proj.weight") ? file.Renamed(TransformerName)
                                                               : absl::StatusOr<WeightSet>(file);
}

absl::StatusOr<WeightSet> VaePart(const WeightSet& file) {
  REEL_RETURN_IF_ERROR(CheckIsLtx(file));
  if (!IsOriginalVae(file)) return file;
  REEL_ASSIGN_OR_RETURN(const WeightSet whole, WithVaePrefix(file));
  REEL_ASSIGN_OR_RETURN(const CheckpointVersion version, DetectVersion(whole));
  return VaeOf(whole, version);
}

absl::StatusOr<CheckpointVersion> VersionOfVaePart(const WeightSet& file) {
  if (!IsOriginalVae(file)) return CheckpointVersion::k095;
  REEL_ASSIGN_OR_RETURN(const WeightSet whole, WithVaePrefix(file));
  return DetectVersion(whole);
}

}  // namespace reel::model::ltx
