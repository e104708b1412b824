// SPDX-License-Identifier: Apache-2.0
// A torch plug-in: three operators as the public collections have them, registered with torch and
// without Python in them. The README beside it says how to build, check and ship it.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <torch/library.h>

// A namespace of its own for each version, so that versions live side by side in a process. The
// build's metadata.json has it as `id`.
#ifndef EXAMPLE_NAMESPACE
#define EXAMPLE_NAMESPACE _example_torch_cpu_1
#endif

namespace {

// Each computes in fp32 and rounds once.

// out [rows, n] = silu(input[:, :n]) * input[:, n:]
void SiluAndMul(at::Tensor& out, const at::Tensor& input) {
  const int64_t width = input.size(-1) / 2;
  const at::Tensor gate = input.narrow(-1, 0, width).to(at::kFloat);
  out.copy_(at::silu(gate).mul_(input.narrow(-1, width, width)));
}

void GeluTanh(at::Tensor& out, const at::Tensor& input) {
  out.copy_(at::gelu(input.to(at::kFloat), "tanh"));
}

void RmsNorm(at::Tensor& out, const at::Tensor& input, const at::Tensor& weight, double epsilon) {
  const at::Tensor x = input.to(at::kFloat);
  const at::Tensor scale = at::rsqrt((x * x).mean(-1, true) + epsilon);
  out.copy_(x * scale * weight);
}

}  // namespace

TORCH_LIBRARY(EXAMPLE_NAMESPACE, library) {
  library.def("silu_and_mul(Tensor! out, Tensor input) -> ()", &SiluAndMul);
  library.def("gelu_tanh(Tensor! out, Tensor input) -> ()", &GeluTanh);
  library.def("rms_norm(Tensor! out, Tensor input, Tensor weight, float epsilon) -> ()", &RmsNorm);
}
