// SPDX-License-Identifier: Apache-2.0
// The code that the pipelines of all families share. A family derives from it and implements the
// hooks below; README.md says which ones it needs.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "model/bridge/device_lead.h"
#include "model/bridge/ops.h"
#include "model/denoise/step_pace.h"
#include "model/family/family_generation.h"
#include "model/pipeline.h"

namespace reel::model {

// A step made in parts, for instance block by block. It changes the generations only at its end.
class StepWalk {
 public:
  virtual ~StepWalk() = default;
  // Runs the next `stops` parts; true once the step is made.
  virtual bool Next(const Ops& ops, size_t stops) = 0;
};

// Confined to the engine thread. Hooks run with the model's device as the current one and without
// gradients; they may throw what libtorch throws, which becomes a status.
class FamilyPipeline : public Pipeline {
 public:
  const ModelCard& card() const final { return card_; }
  absl::StatusOr<std::unique_ptr<Generation>> Create(const GenerationSpec& resolved,
                                                     const kernels::Execution& run) final;
  absl::StatusOr<std::unique_ptr<Generation>> CreateFrom(const GenerationSpec& resolved,
                                                         const PassState& made,
                                                         const kernels::Execution& run) final;
  absl::StatusOr<PassState> State(const Generation& generation) const final;
  absl::StatusOr<bool> BeginNext(Generation& generation, const kernels::Execution& run) final;
  std::vector<absl::Status> Step(absl::Span<Generation* const> generations,
                                 const kernels::Execution& run) final;
  std::unique_ptr<StepInPieces> BeginStep(absl::Span<Generation* const> generations, int pieces,
                                          const kernels::Execution& run) final;
  absl::StatusOr<RgbImage> Preview(const Generation& generation, int max_side,
                                   const kernels::Execution& run) final;
  absl::StatusOr<bool> DecodeNext(Generation& generation, FrameSink& sink,
                                  const kernels::Execution& run) final;
  absl::StatusOr<LatentsView> Latents(const Generation& generation) const final;
  absl::StatusOr<SoundLatentsView> SoundLatents(const Generation& generation) const final;
  void ForgetKept() final;

 protected:
  using Batch = absl::Span<FamilyGeneration* const>;

  FamilyPipeline(ModelCard card, at::Device device) : card_(std::move(card)), device_(device) {}

  // A generation, with nothing encoded yet. INVALID_ARGUMENT names the value and the rule.
  virtual absl::StatusOr<std::unique_ptr<FamilyGeneration>> Plan(
      const GenerationSpec& resolved) = 0;
  // Takes what another video has left into a generation that Plan has returned. Of a promotion it
  // is the passes that are made: the last piece of EncodeNext then begins the next one. Of an
  // extension or a retake it is the latents that are held (held_latents.h). FAILED_PRECONDITION
  // names what does not fit. By default refused.
  virtual absl::Status Restore(FamilyGeneration& generation, const PassState& made);
  // One bounded piece of text and conditions; the last one sets `ready`.
  virtual absl::Status EncodeNext(FamilyGeneration& generation, const Ops& ops) = 0;
  // Called after the last step of a pass if `later_steps` are left: sets up the next pass. On an
  // error the generation is unchanged.
  virtual absl::Status BeginPass(FamilyGeneration& generation, const Ops& ops);
  // Whether both can take their next step in one call. If A joins B and B joins C, A joins C.
  virtual bool CanJoin(const FamilyGeneration& first, const FamilyGeneration& other,
                       const kernels::Execution& run) const = 0;
  // Whether a batch, whose generations join `other`, has room for it too; for what all of them
  // share. By default it has.
  virtual bool FitsIn(Batch batch, const FamilyGeneration& other) const;
  // One step of each in one call. If it throws, none of them has changed.
  virtual void StepTogether(Batch batch, const Ops& ops) = 0;
  // The parts of a step; 0: it cannot be divided.
  virtual size_t StopsOfStep(const kernels::Execution& run) const = 0;
  // StepTogether in parts; null if this batch cannot be. `batch` outlives the walk.
  virtual std::unique_ptr<StepWalk> BeginWalk(Batch batch, const Ops& ops) = 0;
  // Host work for the decode, while a device still runs the last step.
  virtual void AfterLastStep(FamilyGeneration& generation);
  // Pictures [1, 3, f, H, W] in -1..1 of the clip so far, few and cheap; the first is shown.
  virtual at::Tensor PreviewPictures(const FamilyGeneration& generation, const Ops& ops) = 0;
  // Decodes one of the video's sound_pieces() into FrameSink::PushSamples, for sinks that take
  // sound. By default there is no sound.
  virtual absl::Status PushSound(FamilyGeneration& generation, int piece, const Ops& ops,
                                 FrameSink& sink);
  // The decode in pieces of pictures [1, 3, f, H, W] in -1..1, of the file's size or scaled to it.
  virtual FrameSourcePtr StartDecode(FamilyGeneration& generation, const Ops& ops) = 0;
  // Frees what kept_bytes counts.
  virtual void Forget() = 0;

 private:
  class Pieces;

  absl::Status ReadyToStep(FamilyGeneration& mine, const Ops& ops);
  bool MayJoin(const FamilyGeneration& first, const FamilyGeneration& other,
               const kernels::Execution& run) const;
  // Whether `other` may step in one call with all of the batch.
  bool Takes(Batch batch, const FamilyGeneration& other, const kernels::Execution& run) const {
    return MayJoin(*batch[0], other, run) && FitsIn(batch, other);
  }
  absl::Status StepBatch(Batch batch, const kernels::Execution& run);
  bool WaitsAlways(const kernels::Execution& run) const;
  absl::Status EndStep(FamilyGeneration& mine, bool waits);

  const ModelCard card_;
  const at::Device device_;
  StepPace pace_;
  DeviceLead lead_;
};

}  // namespace reel::model
