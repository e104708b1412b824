// SPDX-License-Identifier: Apache-2.0
// A native plug-in: variants of two operators of Reel, on the CPU, without torch. The README beside
// it says how to build, check and ship it.
#include <cmath>

#include "kernels/plugins/plugin_v1.h"
#include "kernels/rms_norm/rms_norm_launch.h"
#include "kernels/rows/fused_norm.h"

namespace {

using reel::kernels::Dtype;
using reel::kernels::FusedNormParams;
using reel::kernels::RmsNormParams;
using reel::kernels::RowOffset;
using reel::kernels::RowOperand;
using reel::kernels::RowShape;
using reel::kernels::Statistic;

// A row of an operand. Strides are in elements, and any are legal where a variant has no `accepts`.
struct Row {
  float* data;
  int64_t inner;
  float& operator[](int64_t i) const { return data[i * inner]; }
};
Row RowOf(const RowShape& shape, const RowOperand& operand, int64_t row) {
  return {static_cast<float*>(operand.data) + RowOffset(shape, operand, row), operand.inner};
}

// This example computes in fp32 alone, and without bias.
int AcceptsRmsNorm(const void* erased, size_t) {
  const auto& params = *static_cast<const RmsNormParams*>(erased);
  return params.bias.data == nullptr;
}

int32_t RmsNorm(const void* erased, size_t, void*) {
  const auto& params = *static_cast<const RmsNormParams*>(erased);
  const int64_t width = params.shape.width;
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    const Row x = RowOf(params.shape, params.x, row), out = RowOf(params.shape, params.out, row);
    double squares = 0;
    for (int64_t i = 0; i < width; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + params.eps);
    for (int64_t i = 0; i < width; ++i) {
      double normed = x[i] * scale;
      if (params.round_before_weight) normed = static_cast<float>(normed);
      if (params.weight.data != nullptr) {
        normed *= RowOf(params.shape, params.weight, row)[i] + params.weight_offset;
      }
      out[i] = static_cast<float>(normed);
    }
  }
  return 0;
}

// sum = x + y * gate, as LTX-Video's blocks call it.
int32_t GateResidual(const void* erased, size_t, void*) {
  const auto& params = *static_cast<const FusedNormParams*>(erased);
  for (int64_t row = 0; row < params.shape.rows; ++row) {
    const auto at = [&](const RowOperand& operand, int64_t i, double absent) {
      return operand.data == nullptr ? absent : RowOf(params.shape, operand, row)[i];
    };
    for (int64_t i = 0; i < params.shape.width; ++i) {
      const double gate = at(params.residual_gate, i, 1) + at(params.residual_gate_bias, i, 0);
      const double sum = at(params.x, i, 0) + at(params.residual, i, 0) * gate;
      RowOf(params.shape, params.sum, row)[i] = static_cast<float>(sum);
    }
  }
  return 0;
}

// Both run on a CPU: min_sm and max_sm are 0.
constexpr ReelPluginVariantV1 kVariants[] = {
    {"rms_norm", nullptr, 0, 0, REEL_PLUGIN_FP32, sizeof(RmsNormParams), AcceptsRmsNorm, RmsNorm},
    {"gate_residual", "plain", 0, 0, REEL_PLUGIN_FP32, sizeof(FusedNormParams), nullptr,
     GateResidual},
};
constexpr ReelPluginV1 kPlugin = {REEL_PLUGIN_ABI_V1, 2, kVariants, nullptr, nullptr};

}  // namespace

extern "C" const ReelPluginV1* reel_plugin_v1() { return &kPlugin; }
