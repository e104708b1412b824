// SPDX-License-Identifier: Apache-2.0
#include "client/command/again.h"

#include <array>
#include <fstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/digest/sha256.h"

namespace reel::client {
namespace {

absl::StatusOr<std::string> HashOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 64 * 1024> piece;
  Sha256 hash;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    hash.Update({piece.data(), static_cast<size_t>(file.gcount())});
  }
  if (!file.eof()) return absl::InvalidArgumentError(absl::StrCat("Cannot read ", path, "."));
  return hash.Hex();
}

// Lists are replaced, not appended to.
void ClearLists(const v1::VideoSpec& given, v1::VideoSpec& spec) {
  // Steps and a schedule of one's own exclude each other.
  if (given.timesteps_size() > 0 || given.num_inference_steps() > 0) {
    spec.clear_timesteps();
    spec.clear_num_inference_steps();
  }
  if (given.stg_blocks_size() > 0) spec.clear_stg_blocks();
  if (given.adapters_size() > 0) spec.clear_adapters();
  if (given.conditions_size() > 0) spec.clear_conditions();
  // A profile without variants beside it is one of its own.
  if (given.has_kernels()) spec.clear_kernels();
}

bool HasBytes(const v1::Condition& condition) {
  return !condition.image().empty() || !condition.video().empty() || !condition.audio().empty();
}

std::string KindOf(const v1::Condition& condition) {
  if (condition.has_audio()) return "sound";
  return absl::StrCat(condition.has_video() ? "clip" : "picture", " at frame ",
                      condition.frame_index());
}

}  // namespace

absl::StatusOr<FileBefore> ReadFileBefore(const std::string& path) {
  auto origin = ReadOrigin(path);
  if (!origin.ok()) return origin.status();
  auto hash = HashOf(path);
  if (!hash.ok()) return hash.status();
  return FileBefore{path, *std::move(origin), *std::move(hash)};
}

absl::StatusOr<v1::VideoSpec> SpecAgain(const FileBefore& before, const v1::VideoSpec& given) {
  v1::VideoSpec spec = before.origin.spec;
  ClearLists(given, spec);
  spec.MergeFrom(given);
  for (const v1::Condition& condition : spec.conditions()) {
    if (HasBytes(condition)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(before.path, " was made with a ", KindOf(condition), " that is not in it (",
                     condition.size_bytes(),
                     " bytes); pass all that it was made with by --image, --condition, --reference "
                     "or --sound."));
  }
  if (spec.encoding().origin() == v1::ORIGIN_UNSPECIFIED) {
    spec.mutable_encoding()->set_origin(v1::ORIGIN_SPEC);
  }
  return spec;
}

std::string CompareAgain(const FileBefore& before, const v1::Video& video,
                         const absl::StatusOr<Origin>& now, bool given) {
  if (video.media().sha256() == before.sha256) {
    return absl::StrCat("the same bytes as ", before.path);
  }
  std::vector<std::string> differ;
  if (now.ok()) differ = Differences(before.origin, *now);
  if (!differ.empty()) {
    return absl::StrCat("made otherwise than ", before.path, ": ", absl::StrJoin(differ, "; "));
  }
  if (given || !now.ok()) return "";
  return absl::StrCat(before.path,
                      " has other bytes, though build, weights and kernels are the same: a step "
                      "was shared with other videos (--kernels batch_invariant computes as alone)");
}

}  // namespace reel::client
