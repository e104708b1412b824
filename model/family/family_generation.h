// SPDX-License-Identifier: Apache-2.0
// The part of a video's state that all families share: progress, parking, and the decode.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/bridge/aten.h"
#include "model/denoise/finite_check.h"
#include "model/denoise/step_kernels.h"
#include "model/frames/frame_source.h"
#include "model/pipeline.h"

namespace reel::model {

// A family adds its tensors and implements the functions below. All tensors are on the model's
// device except while the generation is parked.
class FamilyGeneration : public Generation {
 public:
  int step() const final { return steps_before + pass().done; }
  int num_steps() const final { return steps_before + pass().all + later_steps(); }
  bool has_frames() const final {
    return Generation::has_frames() || latents_that_stay() > latents_decoded_;
  }
  bool has_sound() const final { return sound_pushed_ < sound_pieces_that_stay(); }
  int64_t device_bytes() const final;
  // Moves to the host's memory and back, bit for bit; on a CPU nothing moves. The decoder's
  // state is dropped: its frames are decoded again after Resume, and not pushed twice.
  absl::Status Park(bool to_host) final;
  absl::Status Resume() final;

  // Steps of the current pass, and of all later passes.
  virtual PassSteps pass() const = 0;
  virtual int later_steps() const { return 0; }
  // Number of leading latents that no later step changes, which StartDecode's source may take
  // before the last step. Limited to those whose sound is final too (kSoundAhead in frame_sink.h).
  // Called once the generation can step.
  virtual int64_t latents_that_stay() const { return 0; }
  // Number of sound pieces for PushSound, and of leading ones that no later step changes.
  virtual int sound_pieces() const { return 1; }
  virtual int sound_pieces_that_stay() const { return sound_pieces(); }
  // Whether it makes the first of its video's passes, which a promotion and a refined clip never
  // do.
  bool in_first_pass() const;
  // Stops before the passes that are planned behind its own.
  bool is_draft() const { return spec.stop_after_pass.has_value(); }
  // Starts the check that all latents moved by a step are finite, each kind of them.
  virtual FiniteCheck CheckLatents() const = 0;
  // The pictures' latents, normalised, [1, C, F, h, w] fp32.
  virtual at::Tensor PictureLatents() const = 0;
  // Those of the sound, [1, C, A, bins] fp32; undefined where it has none.
  virtual at::Tensor SoundLatents() const { return {}; }
  // The noise with which it is going to be decoded, as the pictures' latents, on the host;
  // undefined where the decoder takes none.
  virtual at::Tensor DecodeNoise() const { return {}; }
  // Its generators whose positions a kept state has, under the family's names.
  virtual std::map<std::string, at::Generator> generators() const { return {}; }
  // All tensors that use device memory between two steps; some may be undefined.
  virtual std::vector<at::Tensor> tensors() const = 0;
  // Moves those: all, or none if it throws.
  virtual void MoveTo(at::Device where) = 0;

  const GenerationSpec spec;  // resolved
  const at::Device device;    // the model's
  bool ready = false;         // text and conditions are encoded
  int steps_before = 0;       // in earlier passes

 protected:
  FamilyGeneration(GenerationSpec resolved, at::Device model_device)
      : spec(std::move(resolved)), device(model_device) {}

 private:
  friend class FamilyPipeline;

  absl::Status Move(at::Device where);

  std::optional<FiniteCheck> unchecked_;  // of the latest step, not yet read
  int sound_pushed_ = 0;                  // pieces pushed so far
  FrameSourcePtr frames_;                 // once it decodes
  int64_t frames_pushed_ = 0;
  int64_t latents_decoded_ = 0;  // when the decoder last ran out of latents
  bool decoded_ = false;
  // The last results of Latents and SoundLatents.
  mutable at::Tensor host_latents_, host_sound_latents_;
};

}  // namespace reel::model
