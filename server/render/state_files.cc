// SPDX-License-Identifier: Apache-2.0
#include "server/render/state_files.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "kernels/base/program/condition_file.h"
#include "kernels/base/program/part_file.h"
#include "kernels/base/status_macros.h"
#include "model/continued_spec.h"
#include "model/states/video_state.h"
#include "server/worker/media/fragmented_file.h"

namespace reel::render {
namespace {

// A state has no paths: the flags say where the video's adapters are here.
absl::Status FindAdapters(const std::vector<model::FixedAdapter>& files,
                          std::vector<model::RequestAdapter>& wanted) {
  for (model::RequestAdapter& adapter : wanted) {
    const auto found = std::ranges::find(files, adapter.name, &model::FixedAdapter::name);
    if (found == files.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the video to go on from has an adapter that no --adapter names: ", adapter.name));
    }
    adapter.path = found->path;
  }
  return absl::OkStatus();
}

absl::Status FillHeld(const model::VideoState& state, model::GenerationSpec& spec) {
  int file_frames = 0;
  if (spec.is_joined()) {
    REEL_ASSIGN_OR_RETURN(const worker::FragmentedFile file, worker::ReadFragments(state.file));
    file_frames = file.num_frames();
  }
  const auto violations = model::FillContinued(state.spec, spec, file_frames);
  spec.model.clear();  // its name here is the file's
  if (violations.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(violations[0].field, ": ", violations[0].description));
}

}  // namespace

absl::Status ReadSourceFile(RenderOptions& options) {
  if (options.source_file.empty()) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(std::string file,
                        ReadConditionFile(options.source_file, model::PassState::kMostFileBytes));
  auto state = model::ReadState(file);
  if (!state.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.source_file, ": ", std::string(state.status().message())));
  }
  model::GenerationSpec spec = options.spec;
  if (options.source.begin == model::Source::Begin::kPromote) {
    spec = model::PromotionOf(*state);
    spec.keep_state = options.spec.keep_state;
  } else {
    spec.source = options.source;
    const absl::Status filled = FillHeld(*state, spec);
    if (!filled.ok()) return absl::InvalidArgumentError(filled.message());
  }
  spec.source->state_sha256 = Sha256Hex(file);
  spec.source->state = std::make_shared<const std::string>(std::move(file));
  REEL_RETURN_IF_ERROR(FindAdapters(options.adapters, spec.adapters));
  options.spec = std::move(spec);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<model::PassState>> PassesToBeginFrom(const model::GenerationSpec& spec,
                                                                  const model::ModelCard& card) {
  if (!spec.source) return std::nullopt;
  REEL_ASSIGN_OR_RETURN(model::VideoState state, model::ReadState(*spec.source->state));
  const absl::Status fits = model::CheckFits(state, spec, card);
  if (!fits.ok()) return absl::InvalidArgumentError(fits.message());
  return std::move(state.made);
}

absl::Status WriteStateFile(const std::string& path, const std::string& state) {
  REEL_ASSIGN_OR_RETURN(PartFile file, PartFile::Open(path, PartFile::Mode::kScratch));
  REEL_RETURN_IF_ERROR(file.Append(state));
  return file.Commit();
}

}  // namespace reel::render
