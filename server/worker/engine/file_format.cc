// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/file_format.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/pass_work.h"
#include "server/worker/media/fragmented_file.h"

namespace reel::worker {
namespace {

const char* PresetName(model::EncodingSpeed speed) {
  switch (speed) {
    case model::EncodingSpeed::kUltrafast:
      return "ultrafast";
    case model::EncodingSpeed::kSuperfast:
      return "superfast";
    case model::EncodingSpeed::kFaster:
      return "faster";
    case model::EncodingSpeed::kMedium:
      return "medium";
    case model::EncodingSpeed::kUnspecified:
    case model::EncodingSpeed::kVeryfast:
      break;
  }
  return "veryfast";
}

}  // namespace

VideoFormat FormatOfFile(const model::GenerationSpec& spec, const model::ModelCard& card) {
  VideoFormat format;
  const model::FileSize size = model::FileSizeOf(spec, card);
  format.width = size.width;
  format.height = size.height;
  format.frame_rate = spec.frame_rate;
  format.num_frames = spec.file_frames();
  if (spec.sound.value_or(true)) format.sound = card.sound;
  format.loudness = spec.normalise_loudness;
  format.crf = spec.encoding.crf.value_or(format.crf);
  format.preset = PresetName(spec.encoding.speed);
  return format;
}

absl::StatusOr<FileBegin> BeginOfJoined(const model::GenerationSpec& spec,
                                        const model::ModelCard& card, std::string source) {
  const model::Source::Extend& extend = spec.source->extend;
  REEL_ASSIGN_OR_RETURN(const FragmentedFile parts, ReadFragments(source));
  if (parts.num_frames() != extend.source_frames) {
    return absl::FailedPreconditionError(absl::StrCat("its file has ", parts.num_frames(),
                                                      " frames instead of ", extend.source_frames));
  }
  FileBegin begin;
  begin.first_made = extend.source_frames - extend.overlap_frames;
  begin.frames = FragmentEndFrom(begin.first_made);
  begin.file = std::make_shared<const std::string>(std::move(source));
  REEL_RETURN_IF_ERROR(CheckBegin(begin, FormatOfFile(spec, card)));
  return begin;
}

}  // namespace reel::worker
