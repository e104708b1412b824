// SPDX-License-Identifier: Apache-2.0
// A weight as 8-bit codes with one scale, and what those stand for.
#pragma once

#include <string>

#include "model/bridge/aten.h"

namespace reel::model {

struct ScaledCodes {
  std::string codes;  // E4M3
  float scale = 1;
  at::Tensor values;  // fp32: the nearest bf16 of code * scale
};

inline ScaledCodes ScaledCodesOf(const at::Tensor& weight) {
  const at::Tensor scale = weight.abs().max() / 448;
  const at::Tensor codes = (weight / scale).to(at::kFloat8_e4m3fn).contiguous();
  return {.codes = {static_cast<const char*>(codes.data_ptr()), codes.nbytes()},
          .scale = scale.item<float>(),
          .values = (codes.to(at::kFloat) * scale).to(at::kBFloat16).to(at::kFloat)};
}

}  // namespace reel::model
