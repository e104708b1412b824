// SPDX-License-Identifier: Apache-2.0
#include "kernels/plugins/plugin_check.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "kernels/activation/activation_launch.h"
#include "kernels/built_in_catalog.h"
#include "kernels/plugins/plugin_trial.h"
#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/fused_ops_launch.h"

namespace reel::kernels {
namespace {

constexpr Dtype kTypes[] = {Dtype::kF32, Dtype::kBf16, Dtype::kF16};
constexpr float kEps = 1e-5f;

// Runs trials of one type and records their results.
class Trials {
 public:
  Trials(const HostedVariant& variant, CheckMemory& memory, DeviceStream stream)
      : variant_(variant), memory_(memory), stream_(stream) {
    for (const OpVariants& op : BuiltInCpuVariants()) {
      // The oracle is the last variant of each operator.
      if (variant.facts().op == op.op) loops_ = op.variants + op.count - 1;
    }
  }

  template <typename Params>
  void Try(Trial<Params> trial) {
    if (!status_.ok()) return;
    const auto ran = trial.Run(*loops_, variant_, memory_, stream_);
    status_.Update(ran.status());
    ran_ |= ran.ok() && *ran;
  }
  absl::Status status() const {
    if (!status_.ok() || ran_) return status_;
    return absl::FailedPreconditionError("It takes none of the calls of the test");
  }

 private:
  const HostedVariant& variant_;
  CheckMemory& memory_;
  const DeviceStream stream_;
  const KernelVariant* loops_ = nullptr;
  absl::Status status_;
  bool ran_ = false;
};

void TryRmsNorm(Dtype dtype, Dtype vectors, const TrialLayout& layout, Trials& trials) {
  for (int form = 0; form < 8; ++form) {
    const bool weight = form >= 2, bias = form == 4, rounded = form == 6;
    RmsNormParams params;
    params.eps = kEps;
    params.weight_offset = form == 5 || form == 7 ? 1.0f : 0.0f;
    params.round_before_weight = rounded || form == 7;
    Trial<RmsNormParams> trial(layout, params);
    trial.Rows(&RmsNormParams::x, dtype);
    if (weight) trial.Vector(&RmsNormParams::weight, vectors, false);
    if (bias) trial.Vector(&RmsNormParams::bias, vectors, false);
    trial.Output(&RmsNormParams::out, dtype);
    trials.Try(std::move(trial));
  }
}

void TryFusedNorm(const FusedOp& op, Dtype dtype, Dtype vectors, const TrialLayout& layout,
                  Trials& trials) {
  using P = FusedNormParams;
  for (const bool full : {true, false}) {
    P params;
    params.statistic = op.statistic;
    params.eps = kEps;
    Trial<P> trial(layout, params);
    const auto vector = [&](bool there, RowOperand P::* operand, bool batched) {
      if (there) trial.Vector(operand, vectors, batched);
    };
    trial.Rows(&P::x, dtype);
    if (op.has(kResidual)) trial.Rows(&P::residual, dtype);
    vector(op.has(kResidualGate) && full, &P::residual_gate, true);
    vector(op.has(kResidualGate) && full, &P::residual_gate_bias, false);
    vector(op.has(kAffine) && full, &P::weight, false);
    vector(op.bias && full, &P::bias, false);
    vector(op.has(kModulation), &P::scale, true);
    vector(op.has(kModulation) && full, &P::scale_bias, false);
    vector(op.has(kModulation), &P::shift, true);
    vector(op.has(kModulation) && full, &P::shift_bias, false);
    vector(op.has(kOutputGate), &P::gate, true);
    vector(op.has(kOutputGate) && full, &P::gate_bias, false);
    if (op.has(kSum)) trial.Output(&P::sum, dtype);
    if (op.has(kNormed)) trial.Output(&P::out, dtype);
    trials.Try(std::move(trial));
  }
}

void TryActivation(bool gated, Dtype dtype, Dtype vectors, const TrialLayout& layout,
                   Trials& trials) {
  using P = ActivationParams;
  for (const Activation kind :
       {Activation::kGeluErf, Activation::kGeluTanh, Activation::kGeluQuick, Activation::kSilu}) {
    for (const bool bias : {false, true}) {
      if (bias && gated) continue;
      P params;
      params.kind = kind;
      Trial<P> trial(layout, params);
      if (gated && layout.joined) {
        trial.Halves(layout.gate_last ? &P::value : &P::x, layout.gate_last ? &P::x : &P::value,
                     dtype);
      } else {
        trial.Rows(&P::x, dtype);
        if (gated) trial.Rows(&P::value, dtype);
      }
      if (bias) trial.Vector(&P::bias, vectors, false);
      trial.Output(&P::out, dtype);
      trials.Try(std::move(trial));
    }
  }
}

void TryOp(const std::string& op, Dtype dtype, Dtype vectors, const TrialLayout& layout,
           Trials& trials) {
  if (op == "rms_norm") return TryRmsNorm(dtype, vectors, layout, trials);
  if (op == "activation") return TryActivation(false, dtype, vectors, layout, trials);
  if (op == "gated_activation") return TryActivation(true, dtype, vectors, layout, trials);
  for (const FusedOp* fused : kFusedOps) {
    if (op == fused->name) TryFusedNorm(*fused, dtype, vectors, layout, trials);
  }
}

absl::Status CheckType(const HostedVariant& variant, Dtype dtype, CheckMemory& memory,
                       DeviceStream stream) {
  Trials trials(variant, memory, stream);
  for (const TrialLayout& layout : kTrialLayouts) {
    TryOp(variant.facts().op, dtype, dtype, layout, trials);
    if (dtype != Dtype::kF32) TryOp(variant.facts().op, dtype, Dtype::kF32, layout, trials);
  }
  return trials.status();
}

}  // namespace

PluginVerdict CheckPluginVariant(const HostedVariant& variant, CheckMemory& memory,
                                 DeviceStream stream) {
  PluginVerdict verdict;
  for (const Dtype dtype : kTypes) {
    if ((variant.facts().dtypes & MaskOf(dtype)) == 0) continue;
    const absl::Status status = CheckType(variant, dtype, memory, stream);
    if (status.ok()) verdict.dtypes |= MaskOf(dtype);
    verdict.failure.Update(status);
  }
  memory.Clear();
  return verdict;
}

bool TakesPlugins(const std::string& op) {
  return op == "rms_norm" || op == "activation" || op == "gated_activation" ||
         std::any_of(std::begin(kFusedOps), std::end(kFusedOps),
                     [&](const FusedOp* fused) { return op == fused->name; });
}

std::string OpsThatTakePlugins() {
  std::string names = "activation, gated_activation, rms_norm";
  for (const FusedOp* fused : kFusedOps) names += std::string(", ") + fused->name;
  return names;
}

}  // namespace reel::kernels
