// SPDX-License-Identifier: Apache-2.0
#include "model/family/family_pipeline.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "kernels/base/status_macros.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/family/made_passes.h"
#include "model/frames/frame_output.h"
#include "model/frames/later_frames.h"
#include "model/frames/small_picture.h"
#include "model/pass_work.h"

namespace reel::model {
namespace {

FamilyGeneration& Of(Generation& generation) { return static_cast<FamilyGeneration&>(generation); }
const FamilyGeneration& Of(const Generation& generation) {
  return static_cast<const FamilyGeneration&>(generation);
}

StepKernels KernelsOf(const FamilyGeneration& mine, const kernels::Execution& run) {
  return KernelsOfStep(mine.pass(), mine.in_first_pass(), run);
}

absl::Status NotReady() {
  return absl::FailedPreconditionError(
      "the generation is not ready: its text and conditions are not encoded yet");
}

}  // namespace

absl::Status FamilyPipeline::BeginPass(FamilyGeneration&, const Ops&) { return absl::OkStatus(); }
absl::Status FamilyPipeline::Restore(FamilyGeneration&, const PassState&) {
  return absl::FailedPreconditionError("the model cannot go on from a video");
}
bool FamilyPipeline::FitsIn(Batch, const FamilyGeneration&) const { return true; }
absl::Status FamilyPipeline::PushSound(FamilyGeneration&, int, const Ops&, FrameSink&) {
  return absl::OkStatus();
}

void FamilyPipeline::AfterLastStep(FamilyGeneration&) {}

absl::StatusOr<std::unique_ptr<Generation>> FamilyPipeline::Create(const GenerationSpec& resolved,
                                                                   const kernels::Execution&) {
  return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Generation>> {
    const ModelScope scope(device_);
    return Plan(resolved);
  });
}

absl::StatusOr<std::unique_ptr<Generation>> FamilyPipeline::CreateFrom(
    const GenerationSpec& resolved, const PassState& made, const kernels::Execution&) {
  return TorchGuard([&]() -> absl::StatusOr<std::unique_ptr<Generation>> {
    const ModelScope scope(device_);
    REEL_ASSIGN_OR_RETURN(std::unique_ptr<FamilyGeneration> mine, Plan(resolved));
    REEL_RETURN_IF_ERROR(Restore(*mine, made));
    return mine;
  });
}

absl::StatusOr<PassState> FamilyPipeline::State(const Generation& generation) const {
  return TorchGuard([&]() -> absl::StatusOr<PassState> {
    const ModelScope scope(device_);
    const FamilyGeneration& mine = Of(generation);
    if (!mine.ready) return NotReady();
    const int all = NumPasses(mine.spec.preset, card_);
    return StateOf({.latents = mine.PictureLatents(),
                    .audio_latents = mine.SoundLatents(),
                    .decode_noise = mine.is_draft() ? at::Tensor() : mine.DecodeNoise(),
                    .generators = mine.generators()},
                   mine.spec.stop_after_pass.value_or(all));
  });
}

absl::StatusOr<bool> FamilyPipeline::BeginNext(Generation& generation,
                                               const kernels::Execution& run) {
  return TorchGuard([&]() -> absl::StatusOr<bool> {
    const ModelScope scope(device_);
    REEL_RETURN_IF_ERROR(EncodeNext(Of(generation), Ops(run)));
    return Of(generation).ready;
  });
}

std::vector<absl::Status> FamilyPipeline::Step(absl::Span<Generation* const> generations,
                                               const kernels::Execution& run) {
  const ModelScope scope(device_);
  const bool waits = pace_.Waits(generations) || WaitsAlways(run);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<absl::Status> results(generations.size());
  constexpr size_t kNone = SIZE_MAX, kFails = SIZE_MAX - 1;
  std::vector<size_t> first_of(generations.size(), kNone);  // of its batch
  for (size_t i = 0; i < generations.size(); ++i) {
    results[i] = TorchGuard([&] { return ReadyToStep(Of(*generations[i]), Ops(run)); });
    if (!results[i].ok()) first_of[i] = kFails;
  }
  for (size_t i = 0; i < generations.size(); ++i) {
    if (first_of[i] != kNone) continue;
    std::vector<FamilyGeneration*> batch;
    for (size_t j = i; j < generations.size(); ++j) {
      FamilyGeneration& mine = Of(*generations[j]);
      if (first_of[j] != kNone || (j > i && !Takes(batch, mine, run))) continue;
      first_of[j] = i;
      batch.push_back(&mine);
    }
    const absl::Status status = StepBatch(batch, run);
    for (size_t j = i; j < generations.size(); ++j) {
      if (first_of[j] != i) continue;
      results[j] = status.ok() ? EndStep(Of(*generations[j]), waits) : status;
    }
  }
  pace_.Took(absl::FromChrono(std::chrono::steady_clock::now() - begin));
  return results;
}

absl::Status FamilyPipeline::StepBatch(Batch batch, const kernels::Execution& run) {
  const StepRun own(run, KernelsOf(*batch[0], run));
  return TorchGuard([&] {
    StepTogether(batch, Ops(own.run()));
    return absl::OkStatus();
  });
}

class FamilyPipeline::Pieces final : public StepInPieces {
 public:
  Pieces(FamilyPipeline& pipeline, absl::Span<Generation* const> generations, size_t stops)
      : pipeline_(pipeline), generations_(generations.begin(), generations.end()), stops_(stops) {
    for (Generation* generation : generations) batch_.push_back(&Of(*generation));
  }

  std::optional<std::vector<absl::Status>> Next(const kernels::Execution& run) override {
    const ModelScope scope(pipeline_.device_);
    bool done = false;
    const absl::Status status = TorchGuard([&]() -> absl::Status {
      if (walk_ == nullptr && !AreReady(run)) return absl::OkStatus();
      const StepRun own(run, KernelsOf(*batch_[0], run));
      if (walk_ == nullptr) walk_ = pipeline_.BeginWalk(batch_, Ops(own.run()));
      if (walk_ == nullptr) return absl::OkStatus();
      done = walk_->Next(Ops(own.run()), stops_);
      pipeline_.lead_.Asked(pipeline_.device_);
      return absl::OkStatus();
    });
    if (!status.ok()) return std::vector<absl::Status>(generations_.size(), status);
    if (walk_ == nullptr) return pipeline_.Step(generations_, run);
    if (!done) return std::nullopt;
    std::vector<absl::Status> results;
    for (FamilyGeneration* mine : batch_) {
      results.push_back(pipeline_.EndStep(*mine, pipeline_.WaitsAlways(run)));
    }
    return results;
  }

 private:
  // If one cannot step, or not with the others, Step makes the whole step and reports it.
  bool AreReady(const kernels::Execution& run) {
    for (size_t i = 0; i < batch_.size(); ++i) {
      if (!pipeline_.ReadyToStep(*batch_[i], Ops(run)).ok()) return false;
      if (i > 0 && !pipeline_.Takes(Batch(batch_).first(i), *batch_[i], run)) return false;
    }
    return true;
  }

  FamilyPipeline& pipeline_;
  const std::vector<Generation*> generations_;
  std::vector<FamilyGeneration*> batch_;  // the same ones
  const size_t stops_;                    // of a piece
  std::unique_ptr<StepWalk> walk_;
};

std::unique_ptr<StepInPieces> FamilyPipeline::BeginStep(absl::Span<Generation* const> generations,
                                                        int pieces, const kernels::Execution& run) {
  const size_t stops = StopsOfStep(run);
  if (stops == 0) return nullptr;
  std::vector<FamilyGeneration*> batch;
  for (Generation* generation : generations) {
    FamilyGeneration& mine = Of(*generation);
    if (!batch.empty() && !Takes(batch, mine, run)) return nullptr;
    batch.push_back(&mine);
  }
  return std::make_unique<Pieces>(*this, generations,
                                  std::max<size_t>(1, stops / static_cast<size_t>(pieces)));
}

absl::Status FamilyPipeline::ReadyToStep(FamilyGeneration& mine, const Ops& ops) {
  if (!mine.ready) return NotReady();
  if (mine.step() >= mine.num_steps()) {
    return absl::FailedPreconditionError("the generation has no steps left");
  }
  const PassSteps pass = mine.pass();
  return pass.done == pass.all ? BeginPass(mine, ops) : absl::OkStatus();
}

bool FamilyPipeline::MayJoin(const FamilyGeneration& first, const FamilyGeneration& other,
                             const kernels::Execution& run) const {
  return CanJoin(first, other, run) && KernelsOf(first, run) == KernelsOf(other, run);
}

// A timed step is always waited for.
bool FamilyPipeline::WaitsAlways(const kernels::Execution& run) const {
  return run.timer != nullptr || device_.is_cpu();
}

// Reads the numbers of the previous step, whose successor is already queued; at the last step those
// of both.
absl::Status FamilyPipeline::EndStep(FamilyGeneration& mine, bool waits) {
  return TorchGuard([&]() -> absl::Status {
    const bool is_last = mine.step() == mine.num_steps();
    const auto before = std::exchange(mine.unchecked_, mine.CheckLatents());
    if (is_last) AfterLastStep(mine);
    if (before.has_value()) REEL_RETURN_IF_ERROR(before->Wait());
    if (!is_last && !waits) return absl::OkStatus();
    return std::exchange(mine.unchecked_, std::nullopt)->Wait();
  });
}

absl::StatusOr<RgbImage> FamilyPipeline::Preview(const Generation& generation, int max_side,
                                                 const kernels::Execution& run) {
  return TorchGuard([&]() -> absl::StatusOr<RgbImage> {
    const ModelScope scope(device_);
    if (!Of(generation).ready) return NotReady();
    const Ops ops(run);
    return SmallPicture(ops, PreviewPictures(Of(generation), ops), max_side);
  });
}

absl::StatusOr<bool> FamilyPipeline::DecodeNext(Generation& generation, FrameSink& sink,
                                                const kernels::Execution& run) {
  return TorchGuard([&]() -> absl::StatusOr<bool> {
    const ModelScope scope(device_);
    FamilyGeneration& mine = Of(generation);
    if (!mine.ready) return NotReady();
    if (mine.decoded_) {
      return absl::FailedPreconditionError("the generation has already been decoded");
    }
    // The check of the latest step, which the next step would read.
    if (mine.unchecked_.has_value()) {
      REEL_RETURN_IF_ERROR(std::exchange(mine.unchecked_, std::nullopt)->Wait());
    }
    const Ops ops(run);
    if (sink.TakesSound() && mine.has_sound()) {
      REEL_RETURN_IF_ERROR(PushSound(mine, mine.sound_pushed_, ops, sink));
      ++mine.sound_pushed_;
      return false;
    }
    if (mine.frames_ == nullptr) {
      mine.frames_ = WithoutFirst(mine.frames_pushed_, StartDecode(mine, ops));
    }
    Frames frames = mine.frames_->Next(ops);
    if (frames.none()) {
      mine.latents_decoded_ = mine.latents_that_stay();
      return false;
    }
    const FileSize size = FileSizeOf(mine.spec, card_);
    if (frames.x.size(4) != size.width || frames.x.size(3) != size.height) {
      frames.x = Scaled(frames.x, size.width, size.height);
    }
    REEL_RETURN_IF_ERROR(PushFrames(ops, frames.x, sink));
    mine.frames_pushed_ += frames.x.size(2);
    mine.decoded_ = frames.last;
    if (mine.decoded_) mine.frames_.reset();
    return frames.last;
  });
}

absl::StatusOr<LatentsView> FamilyPipeline::Latents(const Generation& generation) const {
  return TorchGuard([&]() -> absl::StatusOr<LatentsView> {
    const ModelScope scope(device_);
    const FamilyGeneration& mine = Of(generation);
    if (!mine.ready) return NotReady();
    const at::Tensor x = mine.PictureLatents().to(at::kCPU).contiguous();
    mine.host_latents_ = x;
    return LatentsView{.channels = static_cast<int>(x.size(1)),
                       .frames = static_cast<int>(x.size(2)),
                       .height = static_cast<int>(x.size(3)),
                       .width = static_cast<int>(x.size(4)),
                       .data = {x.data_ptr<float>(), static_cast<size_t>(x.numel())}};
  });
}

absl::StatusOr<SoundLatentsView> FamilyPipeline::SoundLatents(const Generation& generation) const {
  return TorchGuard([&]() -> absl::StatusOr<SoundLatentsView> {
    const ModelScope scope(device_);
    const FamilyGeneration& mine = Of(generation);
    if (!mine.ready) return NotReady();
    const at::Tensor latents = mine.SoundLatents();
    if (!latents.defined()) return Pipeline::SoundLatents(generation);
    const at::Tensor x = latents.to(at::kCPU).contiguous();
    mine.host_sound_latents_ = x;
    return SoundLatentsView{.channels = static_cast<int>(x.size(1)),
                            .latents = static_cast<int>(x.size(2)),
                            .bins = static_cast<int>(x.size(3)),
                            .data = {x.data_ptr<float>(), static_cast<size_t>(x.numel())}};
  });
}

void FamilyPipeline::ForgetKept() {
  const ModelScope scope(device_);
  Forget();
}

}  // namespace reel::model
