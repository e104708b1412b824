// SPDX-License-Identifier: Apache-2.0
// The oracle: fp64 throughout, one rounding.
#include <vector>

#include "kernels/base/float_types.h"
#include "kernels/conv3d/conv3d_launch.h"

namespace reel::kernels {
namespace {

using Place = int64_t[5];

int64_t OffsetOf(const VolumeOperand& operand, const Place& at) {
  int64_t offset = 0;
  for (int d = 0; d < 5; ++d) offset += at[d] * operand.strides[d];
  return offset;
}

double ElementAt(const VolumeOperand& operand, const Place& at) {
  double value = 0;
  VisitFloating(operand.dtype, [&]<typename T>(T) {
    value =
        static_cast<double>(ToFloat(static_cast<const T*>(operand.data)[OffsetOf(operand, at)]));
  });
  return value;
}

double BiasOf(const Conv3dParams& params, int64_t output) {
  double value = 0;
  if (params.bias == nullptr) return value;
  VisitFloating(params.bias_dtype, [&]<typename T>(T) {
    value = static_cast<double>(
        ToFloat(static_cast<const T*>(params.bias)[output * params.bias_stride]));
  });
  return value;
}

// Calls `visit` for every index of five dimensions, the last one fastest.
template <typename Visit>
void ForEach(const int64_t (&sizes)[5], Visit&& visit) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  Place at = {};
  for (int64_t i = 0; i < count; ++i) {
    visit(at);
    for (int d = 5; d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
}

// One output: every tap of the kernel that is inside x.
double SumAt(const Conv3dParams& params, const Place& out) {
  double sum = BiasOf(params, out[1]);
  const int64_t taps[5] = {1, params.weight.sizes[1], params.weight.sizes[2],
                           params.weight.sizes[3], params.weight.sizes[4]};
  ForEach(taps, [&](const Place& tap) {
    Place from = {out[0], tap[1], 0, 0, 0};
    for (int d = 0; d < 3; ++d) {
      from[2 + d] = out[2 + d] * params.stride[d] - params.padding[d] + tap[2 + d];
      if (from[2 + d] < 0 || from[2 + d] >= params.x.sizes[2 + d]) return;
    }
    const Place weight = {out[1], tap[1], tap[2], tap[3], tap[4]};
    sum += ElementAt(params.weight, weight) * ElementAt(params.x, from);
  });
  return sum;
}

}  // namespace

void Conv3dLoops(const Conv3dParams& params) {
  ForEach(params.out.sizes, [&](const Place& at) {
    const double sum = SumAt(params, at);
    VisitFloating(params.out.dtype, [&]<typename T>(T) {
      static_cast<T*>(params.out.data)[OffsetOf(params.out, at)] = RoundTo<T>(sum);
    });
  });
}

}  // namespace reel::kernels
