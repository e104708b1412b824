// SPDX-License-Identifier: Apache-2.0
// Moves videos along their schedules: one step of one video, or of several in one call of the
// transformer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/adapting/adapter_columns.h"
#include "model/bridge/device_graph.h"
#include "model/bridge/ops.h"
#include "model/ltx/block_walk.h"
#include "model/ltx/denoise_state.h"
#include "model/ltx/group_velocity.h"
#include "model/ltx/step_attempt.h"
#include "model/ltx/step_inputs.h"
#include "model/ltx/transformer.h"
#include "model/ltx/velocity_graphs.h"

namespace reel::model::ltx {

// Confined to the engine thread. `transformer` is borrowed.
class Denoiser {
 public:
  class Walk;

  // Without a recorder no step is recorded, without columns no video has adapters; borrowed.
  explicit Denoiser(const Transformer& transformer,
                    std::unique_ptr<GraphRecorder> recorder = nullptr,
                    int64_t graph_bytes = VelocityGraphs::Cache::kMostBytes,
                    AdapterColumns* columns = nullptr)
      : velocity_(transformer, std::move(recorder), graph_bytes), columns_(columns) {}
  // On a group of devices, with the transformer of each rank, the first one first; borrowed.
  // Ranks divide the tokens of steps with at least `least_divided` rows of tokens; without a value
  // the device decides.
  Denoiser(const std::vector<const Transformer*>& all, std::unique_ptr<GraphRecorder> recorder,
           RankCrew& crew, std::optional<int64_t> least_divided = {})
      : velocity_(*all.front(), std::move(recorder)),
        group_(std::make_unique<GroupVelocity>(
            crew, velocity_, all, least_divided.value_or(GroupVelocity::LeastDividedBy(crew)))) {}

  // One step of each video's own schedule, in place, with one call of the transformer. All of them
  // can share it (CanShareStep), or be packed (CanPackStep): that on one device, without the
  // profile "cache". A step that throws has changed no video.
  void Step(const Ops& ops, absl::Span<DenoiseState* const> states);
  // The same for callers that stop in between. Null where a step cannot be stopped: on a group of
  // devices, and under the profile "cache".
  std::unique_ptr<Walk> Begin(const Ops& ops, absl::Span<DenoiseState* const> states);

  // What it keeps of earlier steps, on the first device of a group.
  int64_t kept_bytes() const {
    return velocity_.kept_bytes() + (group_ == nullptr ? 0 : group_->kept_bytes());
  }
  void ForgetKept() {
    if (group_ == nullptr) velocity_.Forget();
    joined_texts_.clear();
    others_texts_ = {};
    if (group_ != nullptr) group_->ForgetKept();
  }

 private:
  using Attempts = std::vector<Attempt*>;
  // Steps under the profile "cache" that compute all blocks.
  struct FullSteps {
    Attempts attempts;
    std::vector<size_t> positions;     // among all attempts
    std::vector<at::Tensor> x, added;  // behind the first block, and by it
  };
  // One call of the transformer: of each group its videos' positions among all, and its inputs.
  struct Call {
    std::vector<std::vector<size_t>> positions;
    std::vector<VelocityInputs> inputs;
  };

  std::vector<Attempt> AttemptsOf(const Ops& ops, absl::Span<DenoiseState* const> states);
  Call CallOf(const Attempts& all);
  VelocityInputs InputsOf(const Attempts& attempts, JoinedTexts& texts) const;
  // From what the call made of each group to the velocities of each video.
  static std::vector<at::Tensor> Spread(const Call& call, const std::vector<at::Tensor>& made,
                                        size_t videos);
  static void Finish(std::vector<Attempt>& attempts, const std::vector<at::Tensor>& velocities);
  std::vector<at::Tensor> WithoutCache(const Ops& ops, const Attempts& all);
  // Each video whose first block changed little reuses what the other blocks of its latest full
  // step added; the rest compute them.
  std::vector<at::Tensor> WithCache(const Ops& ops, const Attempts& all);
  at::Tensor Reused(const Ops& ops, Attempt& attempt, const at::Tensor& x) const;
  void Others(const Ops& ops, const VelocityInputs& inputs, const FullSteps& full,
              std::vector<at::Tensor>& velocities);

  VelocityGraphs velocity_;
  AdapterColumns* const columns_ = nullptr;
  std::unique_ptr<GroupVelocity> group_;   // null on one device
  std::vector<JoinedTexts> joined_texts_;  // of the groups of the latest call
  JoinedTexts others_texts_;               // of the latest full steps beside others
};

// A step that can stop between two blocks of the transformer. It changes videos at its end only.
class Denoiser::Walk {
 public:
  Walk(const Transformer& transformer, std::vector<Attempt> attempts, AdapterColumns* columns)
      : transformer_(transformer), columns_(columns), attempts_(std::move(attempts)) {}
  // Computes so many more blocks; true when the step is done.
  bool Next(const Ops& ops, size_t blocks);

 private:
  friend class Denoiser;
  const Transformer& transformer_;
  AdapterColumns* const columns_;
  std::vector<Attempt> attempts_;
  Call call_;
  std::unique_ptr<BlockWalk> blocks_;  // borrows the call's inputs
};

}  // namespace reel::model::ltx
