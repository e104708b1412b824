// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/e4m3_product.h"

#include <ATen/ops/_scaled_mm.h>

#include <optional>

#include "model/bridge/rows.h"

namespace reel::model::aten {
namespace {

at::Tensor OnCpu(const LinearCall& call) {
  const at::Tensor product = at::linear(call.x.to(at::kFloat), call.weight.to(at::kFloat));
  const at::Tensor out = product * call.x_scale->unsqueeze(-1) * *call.weight_scale;
  return (call.bias->defined() ? out + *call.bias : out).to(call.type);
}

// The library gives bf16, and adds a bias of that type alone.
at::Tensor OnDevice(const LinearCall& call) {
  const at::Tensor& bias = *call.bias;
  const bool adds = bias.defined() && bias.scalar_type() == at::kBFloat16;
  const at::Tensor product =
      at::_scaled_mm(call.x.reshape({-1, call.x.size(-1)}), call.weight.t(),
                     call.x_scale->reshape({-1, 1}), call.weight_scale->unsqueeze(0),
                     adds ? std::optional(bias) : std::nullopt, std::nullopt, at::kBFloat16,
                     /*use_fast_accum=*/true);
  auto sizes = call.x.sizes().vec();
  sizes.back() = call.weight.size(0);
  const at::Tensor out = product.view(sizes).to(call.type);
  return bias.defined() && !adds ? out + bias : out;
}

constexpr double kLargestCode = 448;

at::Tensor WideProduct(const LinearGeluCall& call) {
  const LinearGeluScales& scales = *call.scales;
  if (call.x.is_cpu()) {
    const at::Tensor product = at::linear(call.x.to(at::kFloat), call.weight.to(at::kFloat));
    return product * (scales.x * scales.weight);
  }
  auto sizes = call.x.sizes().vec();
  sizes.back() = call.weight.size(0);
  return at::_scaled_mm(call.x.reshape({-1, call.x.size(-1)}), call.weight.t(), scales.x,
                        scales.weight, std::nullopt, std::nullopt, at::kBFloat16,
                        /*use_fast_accum=*/true)
      .view(sizes)
      .to(at::kFloat);
}

}  // namespace

void RunE4m3Gelu(const LinearGeluCall& call) {
  const at::Tensor product = WideProduct(call);
  const at::Tensor sum = call.bias.defined() ? product + call.bias.to(at::kFloat) : product;
  const at::Tensor out = at::gelu(sum, "tanh") * call.scales->to_out;
  call.out = out.clamp(-kLargestCode, kLargestCode).to(at::kFloat8_e4m3fn);
}

void RunE4m3Product(const LinearCall& call) {
  call.out = call.x.is_cpu() ? OnCpu(call) : OnDevice(call);
}

std::string_view WhyNotE4m3Product(const LinearCall& call) {
  if (!call.has_codes() || call.x.scalar_type() != at::kFloat8_e4m3fn) {
    return "it takes e4m3 operands, which only the profiles fp8 and fp8_all make";
  }
  const bool fits = call.weight.size(0) % kE4m3Sides == 0 && call.weight.size(1) % kE4m3Sides == 0;
  static_assert(kE4m3Sides == 16);
  return fits ? "" : "it needs sides that are multiples of 16";
}

void RunInt8Product(const LinearCall& call) { call.out = OnCpu(call); }

std::string_view WhyNotInt8Product(const LinearCall& call) {
  const bool fits = call.has_codes() && call.x.scalar_type() == at::kChar;
  return fits ? "" : "it takes int8 operands, which only the profiles int8 and int8_all make";
}

}  // namespace reel::model::aten
