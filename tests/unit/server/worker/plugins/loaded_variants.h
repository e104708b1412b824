// SPDX-License-Identifier: Apache-2.0
// A call of an operator as a request with a plan makes it, and what ran.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "kernels/built_in_catalog.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/rms_norm/rms_norm.h"

namespace reel::server {

struct NormCall {
  absl::Status status;
  std::vector<float> out;
  std::string ran;  // the variant that was counted
};

// rms_norm over two rows of 8 under the choices of a request.
inline NormCall CallNorm(const kernels::KernelCatalog& catalog,
                         const std::map<std::string, std::string>& variants,
                         const std::string& profile = "") {
  std::vector<float> x(16), weight(8, 0.5f);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 7.5f;
  NormCall call{.status = {}, .out = std::vector<float>(16), .ran = ""};
  const auto view = [](std::vector<float>& data, std::vector<int64_t> sizes) {
    return kernels::Contiguous(data.data(), kernels::Dtype::kF32, sizes);
  };
  const auto plan = catalog.Plan(profile, variants);
  if (!plan.ok()) {
    call.status = plan.status();
    return call;
  }
  kernels::KernelCounters counters;
  call.status =
      kernels::RmsNorm({.x = view(x, {2, 8}),
                        .weight = view(weight, {8}),
                        .bias = {},
                        .out = view(call.out, {2, 8})},
                       {.plan = *plan, .counters = counters, .timer = nullptr, .stream = {}});
  for (const kernels::VariantUse& use : counters.Uses()) call.ran += use.variant;
  return call;
}

// The variant's listing, or nothing.
inline const kernels::VariantListing* FindVariant(const kernels::KernelCatalog& catalog,
                                                  const std::string& op,
                                                  const std::string& variant) {
  for (const kernels::OpListing& listing : catalog.List()) {
    if (listing.op != op) continue;
    for (const kernels::VariantListing& found : listing.variants) {
      if (found.name == variant) return &found;
    }
  }
  return nullptr;
}

}  // namespace reel::server
