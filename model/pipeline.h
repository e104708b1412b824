// SPDX-License-Identifier: Apache-2.0
// The interface between the engine and models. A generation is a state that is moved in small,
// bounded pieces, so that cancellation, deadlines, parking, batching and progress are one loop over
// many of them.
//
// Errors that the engine distinguishes:
//   kResourceExhausted  the device is out of memory; this generation can be tried again alone
//   kDataLoss           NaN or Inf in this generation; the others are not affected
//   kAborted            the device's context is lost; nothing in this process can use it again
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/dispatch/execution.h"
#include "model/frame_sink.h"
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/pass_state.h"
#include "model/run_stats.h"

namespace reel::model {

// A video in progress; while parked nothing may use it.
class Generation {
 public:
  virtual ~Generation() = default;
  virtual int step() const = 0;
  virtual int num_steps() const = 0;
  // Whether DecodeNext can make frames now: after the last step, or earlier if no later step
  // changes the video's first frames.
  virtual bool has_frames() const { return step() >= num_steps(); }
  // True if the next DecodeNext decodes sound, provided that the sink takes sound.
  virtual bool has_sound() const { return false; }
  // The rows that its next step adds to a batch.
  virtual int64_t rows() const = 0;
  virtual int64_t device_bytes() const = 0;
  // Complete once it can step.
  virtual TextFacts text_facts() const { return {}; }
  // Tokens of sound in one pass, beside those of the pictures; 0 for models without sound.
  virtual int64_t audio_tokens() const { return 0; }
  // Columns that its adapters take together.
  virtual int64_t adapter_ranks() const { return 0; }
  // The number of its steps so far that reused an earlier result (kernel profile "cache").
  virtual int reused_steps() const { return 0; }
  // Frees device memory; resuming is exact.
  virtual absl::Status Park(bool to_host) = 0;
  virtual absl::Status Resume() = 0;
};

// A step made in pieces, so that others need not wait for all of it. If dropped before its end, it
// has changed no generation. Must not outlive its pipeline or its generations.
class StepInPieces {
 public:
  virtual ~StepInPieces() = default;
  // Runs the next piece; a status for each generation after the last one.
  virtual std::optional<std::vector<absl::Status>> Next(const kernels::Execution& run) = 0;
};

// Texts that a model was asked to encode: cache hits and misses.
struct PromptCounts {
  int64_t remembered = 0, encoded = 0;
};

// Adapters of requests that were brought to the device.
struct AdapterCounts {
  int64_t uploaded = 0, refused = 0;  // files that could be used, and that could not
  int64_t nanoseconds = 0;            // for all of these

  friend bool operator==(const AdapterCounts&, const AdapterCounts&) = default;
};

// Normalised latents of one generation, [C, F, h, w] fp32 in host memory.
struct LatentsView {
  int channels = 0, frames = 0, height = 0, width = 0;
  absl::Span<const float> data;
};

// Those of its sound, [channels, latents, bins].
struct SoundLatentsView {
  int channels = 0, latents = 0, bins = 0;
  absl::Span<const float> data;
};

// A loaded model. Used by the engine thread.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
  virtual const ModelCard& card() const = 0;
  virtual absl::StatusOr<std::unique_ptr<Generation>> Create(const GenerationSpec& resolved,
                                                             const kernels::Execution& run) = 0;
  // The same of a request that goes on from another video, from what that left (model/states).
  // FAILED_PRECONDITION names what does not fit.
  virtual absl::StatusOr<std::unique_ptr<Generation>> CreateFrom(const GenerationSpec& resolved,
                                                                 const PassState& made,
                                                                 const kernels::Execution& run) {
    static_cast<void>(resolved), static_cast<void>(made), static_cast<void>(run);
    return absl::FailedPreconditionError("the model cannot go on from a video");
  }
  // What a generation leaves for requests that go on from it; between its last step and its
  // decode. FAILED_PRECONDITION for models that cannot go on from a video.
  virtual absl::StatusOr<PassState> State(const Generation& generation) const {
    static_cast<void>(generation);
    return absl::FailedPreconditionError("the model cannot go on from a video");
  }
  // One bounded piece of text and condition encoding; true when the generation can step.
  virtual absl::StatusOr<bool> BeginNext(Generation& generation, const kernels::Execution& run) = 0;
  // One denoising step of each, together: they may differ in size, step, guidance and seed. Returns
  // a status for each.
  virtual std::vector<absl::Status> Step(absl::Span<Generation* const> generations,
                                         const kernels::Execution& run) = 0;
  // The same in about `pieces` pieces. Between them the pipeline may be used for other generations.
  // Null: these must be stepped as a whole.
  virtual std::unique_ptr<StepInPieces> BeginStep(absl::Span<Generation* const> generations,
                                                  int pieces, const kernels::Execution& run) {
    static_cast<void>(generations), static_cast<void>(pieces), static_cast<void>(run);
    return nullptr;
  }
  virtual absl::StatusOr<RgbImage> Preview(const Generation& generation, int max_side,
                                           const kernels::Execution& run) = 0;
  // Decodes the next piece of frames into the sink, which has room; true after the last one. The
  // pieces equal a whole decode. Sound comes in pieces without frames, ahead of its frames, if the
  // sink takes it. Before the last step it may push nothing and return false; `has_frames` then
  // tells when to call it again.
  virtual absl::StatusOr<bool> DecodeNext(Generation& generation, FrameSink& sink,
                                          const kernels::Execution& run) = 0;
  // Since the previous call.
  virtual PromptCounts TakePromptCounts() { return {}; }
  virtual AdapterCounts TakeAdapterCounts() { return {}; }
  // Device memory of adapters for requests, without their room in the layers. Part of kept_bytes().
  virtual int64_t adapter_bytes() const { return 0; }
  // Bytes of cached tensors: encoded texts, recorded calls.
  virtual int64_t kept_bytes() const { return 0; }
  // Drops those caches; they are filled again when needed.
  virtual void ForgetKept() {}
  // FAILED_PRECONDITION for models without latents.
  virtual absl::StatusOr<LatentsView> Latents(const Generation& generation) const = 0;
  // FAILED_PRECONDITION for models without latents of sound.
  virtual absl::StatusOr<SoundLatentsView> SoundLatents(const Generation& generation) const {
    static_cast<void>(generation);
    return absl::FailedPreconditionError("the model has no latents of sound");
  }
};

}  // namespace reel::model
