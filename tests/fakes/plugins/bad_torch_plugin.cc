// SPDX-License-Identifier: Apache-2.0
// A torch plug-in whose norm is none, and whose other operators Reel does not know as they are.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones_like.h>
#include <torch/library.h>

namespace {

void WrongRmsNorm(at::Tensor& out, const at::Tensor& input, const at::Tensor&, double) {
  out.copy_(input);
}
at::Tensor SiluAndMul(const at::Tensor& input) { return input; }

}  // namespace

TORCH_LIBRARY(bad_torch_norm, library) {
  library.def("rms_norm(Tensor! out, Tensor input, Tensor weight, float epsilon) -> ()",
              &WrongRmsNorm);
  library.def("silu_and_mul(Tensor input) -> Tensor", &SiluAndMul);
  library.def("unheard_of(Tensor input) -> Tensor", &SiluAndMul);
}
