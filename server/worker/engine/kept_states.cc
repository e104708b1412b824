// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/kept_states.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/held_stretch.h"
#include "model/states/video_state.h"
#include "server/errors/error.h"
#include "server/worker/engine/file_format.h"

namespace reel::worker {

std::string UnusableSource(const absl::Status& why) {
  return absl::StrCat("The video to go on from cannot be used: ", std::string(why.message()));
}

namespace {

// The part of the job's file that the source's begins with, if there is one.
absl::Status OpenBegin(const model::GenerationSpec& spec, std::string file, HeldJob& job) {
  if (!spec.is_joined()) return absl::OkStatus();
  if (file.empty()) {
    return MakeError(Reason::kStateGone,
                     "The state of the video to go on from has no file, to which another could be "
                     "joined");
  }
  auto begin = BeginOfJoined(spec, job.pipeline->card(), std::move(file));
  if (!begin.ok()) return MakeError(Reason::kStateNotForModel, UnusableSource(begin.status()));
  job.begin = *std::move(begin);
  return absl::OkStatus();
}

}  // namespace

absl::Status OpenState(model::GenerationSpec& spec, HeldJob& job) {
  if (!spec.source) return absl::OkStatus();
  const auto file = std::exchange(spec.source->state, nullptr);
  if (file == nullptr) {
    return MakeError(Reason::kStateGone,
                     "The state of the video to go on from did not arrive as it was kept");
  }
  auto state = model::ReadState(*file);
  if (!state.ok()) return MakeError(Reason::kStateGone, UnusableSource(state.status()));
  const absl::Status fits = model::CheckFits(*state, spec, job.pipeline->card());
  if (!fits.ok()) return MakeError(Reason::kStateNotForModel, UnusableSource(fits));
  for (size_t i = 0; i < spec.conditions.size(); ++i) {
    spec.conditions[i].bytes = state->spec.conditions[i].bytes;
  }
  job.made = std::move(state->made);
  return OpenBegin(spec, std::move(state->file), job);
}

absl::StatusOr<std::unique_ptr<model::Generation>> MakeGeneration(HeldJob& job,
                                                                  const kernels::Execution& run) {
  if (!job.made) return job.pipeline->Create(job.spec, run);
  auto generation = job.pipeline->CreateFrom(job.spec, *job.made, run);
  // Out of memory it is tried again.
  if (generation.ok()) job.made.reset();
  return generation;
}

void TellRetake(HeldJob& job) {
  std::string text = model::RetakeNotice(job.spec, job.pipeline->card().temporal_multiple);
  if (!text.empty()) job.texts.notices.push_back({"RETAKE_OF_WHOLE_LATENTS", std::move(text)});
}

bool KeepsBytesOfConditions(const model::GenerationSpec& spec) {
  return spec.keep_state.value_or(false) && spec.stop_after_pass.has_value();
}

bool KeepsFile(const model::GenerationSpec& spec) {
  return spec.keep_state.value_or(false) && !spec.stop_after_pass.has_value();
}

absl::Status TakeState(HeldJob& job) {
  if (!job.spec.keep_state.value_or(false)) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(model::PassState made, job.pipeline->State(*job.generation));
  job.state = [spec = job.spec, card = job.pipeline->card(),
               made = std::move(made)](std::string file) {
    return model::WriteState(spec, card, made, std::move(file));
  };
  return absl::OkStatus();
}

}  // namespace reel::worker
