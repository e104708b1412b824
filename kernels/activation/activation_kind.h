// SPDX-License-Identifier: Apache-2.0
// The kinds of activation. Included by nvcc too.
#pragma once

#include <cstdint>

namespace reel::kernels {

enum class Activation : int32_t {
  kGeluErf,    // x * Phi(x)
  kGeluTanh,   // x * sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3): LTX, T5; gelu_new, gelu_fast
  kGeluQuick,  // x * sigmoid(1.702 x)
  kSilu,       // x * sigmoid(x)
  kFatRelu,    // x, or 0 where x <= threshold
};

// The name that torch's operators take.
constexpr const char* KindName(Activation kind) {
  switch (kind) {
    case Activation::kGeluErf:
      return "gelu";
    case Activation::kGeluTanh:
      return "gelu_tanh";
    case Activation::kGeluQuick:
      return "gelu_quick";
    case Activation::kSilu:
      return "silu";
    case Activation::kFatRelu:
      return "fatrelu";
  }
  return "";
}

}  // namespace reel::kernels
