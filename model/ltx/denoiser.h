// SPDX-License-Identifier: Apache-2.0
// Moves clips along their schedules, by the step rules of the reference's three pipelines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
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

  // Without a recorder no step is recorded.
  explicit Denoiser(const Transformer& transformer,
                    std::unique_ptr<GraphRecorder> recorder = nullptr)
      : velocity_(transformer, std::move(recorder)) {}
  // On a group, whose first rank has `transformer`, and the others `peers`; borrowed. Tokens of at
  // least so many rows are divided; without a value as many as the device wants.
  Denoiser(const Transformer& transformer, std::unique_ptr<GraphRecorder> recorder, RankCrew& crew,
           const std::vector<const Transformer*>& peers, std::optional<int64_t> least_divided = {})
      : velocity_(transformer, std::move(recorder)),
        group_(std::make_unique<GroupVelocity>(
            crew, velocity_, peers, least_divided.value_or(GroupVelocity::LeastDividedBy(crew)))) {}

  // One step of each one's schedule, in place, with one call of the transformer: all can share it
  // (CanShareStep), or, on one device and where none uses the step cache, be packed (CanPackStep).
  // What throws has changed none of them.
  void Step(const Ops& ops, absl::Span<DenoiseState* const> states);
  // The same for who stops in between; null where it cannot be stopped: on a group of devices, and
  // where steps may be left out.
  std::unique_ptr<Walk> Begin(const Ops& ops, absl::Span<DenoiseState* const> states);

  // On the first device of a group.
  int64_t kept_bytes() const {
    return velocity_.kept_bytes() + (group_ == nullptr ? 0 : group_->kept_bytes());
  }
  // What it holds of earlier steps.
  void ForgetKept() {
    if (group_ == nullptr) velocity_.Forget();
    shared_texts_.clear();
    shared_others_text_ = {};
    if (group_ != nullptr) group_->ForgetKept();
  }

 private:
  using Company = std::vector<Attempt*>;
  // Of those under way, the ones that reuse nothing.
  struct FullSteps {
    Company steps;
    std::vector<size_t> places;        // among all
    std::vector<at::Tensor> x, added;  // behind the first block, and by it
  };

  // One call of the transformer, in groups that go side by side; places are among all.
  struct Call {
    std::vector<std::vector<size_t>> places;
    std::vector<Company> groups;
    std::vector<VelocityInputs> inputs;
  };

  // Those of one company, begun.
  std::vector<Attempt> AttemptsOf(const Ops& ops, absl::Span<DenoiseState* const> states);
  Call CallOf(const Company& all);
  // What the call made of each group, to each of all.
  static std::vector<at::Tensor> Spread(const Call& call, const std::vector<at::Tensor>& made,
                                        size_t count);
  static void Finish(std::vector<Attempt>& attempts, const std::vector<at::Tensor>& velocities);
  std::vector<at::Tensor> WithoutCache(const Ops& ops, const Company& all);
  // Of one call of the transformer for all of them.
  VelocityInputs InputsOf(const Company& attempts, SharedText& shared) const;
  // The velocities of each, where each may reuse what its latest full step kept: those that do so
  // leave the others after the first block.
  std::vector<at::Tensor> WithCache(const Ops& ops, const Company& all);
  at::Tensor Reused(const Ops& ops, Attempt& attempt, const at::Tensor& x) const;
  void Others(const Ops& ops, const VelocityInputs& inputs, const FullSteps& full,
              std::vector<at::Tensor>& velocities);

  VelocityGraphs velocity_;
  std::unique_ptr<GroupVelocity> group_;  // null on one device
  std::vector<SharedText> shared_texts_;  // of the groups of the latest company
  SharedText shared_others_text_;
};

// A step that stands still between two blocks of the transformer. Before its end it has changed
// nobody.
class Denoiser::Walk {
 public:
  Walk(const Transformer& transformer, std::vector<Attempt> attempts)
      : transformer_(transformer), attempts_(std::move(attempts)) {}
  // So many blocks more; true once the step is made.
  bool Next(const Ops& ops, size_t blocks);

 private:
  friend class Denoiser;
  const Transformer& transformer_;
  std::vector<Attempt> attempts_;
  Call call_;
  std::unique_ptr<BlockWalk> blocks_;  // borrows the call's inputs
};

}  // namespace reel::model::ltx
