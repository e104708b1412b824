// SPDX-License-Identifier: Apache-2.0
// Decodes a request's conditions to pictures of the video's size and sound of its length, within
// bounds of time and memory whatever the bytes are.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/base/mutex.h"
#include "model/condition_work.h"
#include "model/generation_spec.h"
#include "model/model_card.h"
#include "model/pass_work.h"

namespace reel::worker {

struct DecodeLimits {
  // Of a resolved request of this model.
  static DecodeLimits For(const model::GenerationSpec& resolved, const model::ModelCard& card,
                          int64_t max_pixels);

  model::SoundFormat sound = {};          // that sounds are brought to
  model::SoundFormat carried_sound = {};  // the same of clips that are refined
  model::FileSize refined = {};           // that those are scaled to
  model::FileSize reference = {};         // that a reference clip is; 0x0: none is wanted
  int reference_every = 1;                // behind its first frame, one of so many is taken
  int64_t max_pixels = 16'000'000;        // most pixels of a picture, before scaling
  // Most bytes of all conditions together, after scaling.
  int64_t max_bytes = model::kMostConditionBytes;
  absl::Duration max_time = absl::Seconds(60);  // most time for all conditions
};

// Sets `pixels` or `sound` of every condition of `spec` that has none, scaled to its width and
// height as the reference does (picture_scaler.h). Pictures, not clips, are first compressed by its
// `condition_crf`. A clip or a sound is read up to the video's end. Of a clip that is refined, and
// of a reference, the frames are those shown at the video's frame rate; of a reference those are
// kept that its adapter wants. The sound of a clip that is refined is decoded unless the request
// has none or one of its own. INVALID_ARGUMENT names the condition and its problem;
// FAILED_PRECONDITION: its bytes are missing; CANCELLED soon after `stop` is true. On an error
// `spec` is unchanged.
absl::Status DecodeConditions(model::GenerationSpec& spec, const DecodeLimits& limits,
                              const std::atomic<bool>& stop);

// The same on a thread of its own. Thread-safe, except for destruction.
class ConditionDecoder {
 public:
  // The decoder is done. Called on its thread; must not block.
  using Signal = absl::AnyInvocable<void()>;

  ConditionDecoder(model::GenerationSpec spec, DecodeLimits limits, Signal signal);
  // Abandons, then waits for at most one picture.
  ~ConditionDecoder();
  ConditionDecoder(const ConditionDecoder&) = delete;
  ConditionDecoder& operator=(const ConditionDecoder&) = delete;

  // Stops soon. Returns at once.
  void Abandon() { stop_ = true; }
  bool done() const;
  // The conditions with their pixels. Only once it is done.
  absl::StatusOr<std::vector<model::Condition>> result() const;

 private:
  void Run();

  model::GenerationSpec spec_;  // used by the decoder's thread until it is done
  const DecodeLimits limits_;
  Signal signal_;
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  std::optional<absl::Status> status_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace reel::worker
