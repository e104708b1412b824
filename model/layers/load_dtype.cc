// SPDX-License-Identifier: Apache-2.0
#include "model/layers/load_dtype.h"

#include "absl/strings/str_cat.h"

namespace reel::model {

absl::StatusOr<at::ScalarType> DtypeOf(const LoadOptions& options, at::Device device) {
  const std::string& name = options.dtype;
  if (name.empty() && device.is_cpu()) return at::kFloat;
  if (name.empty()) return options.computes_in_bf16 ? at::kBFloat16 : at::kHalf;
  if (name == "fp32") return at::kFloat;
  if (name == "bf16") return at::kBFloat16;
  if (name == "fp16") return at::kHalf;
  return absl::InvalidArgumentError(
      absl::StrCat("the dtype must be fp32, bf16 or fp16, not ", name));
}

std::string DtypeName(at::ScalarType dtype) {
  if (dtype == at::kBFloat16) return "bf16";
  return dtype == at::kHalf ? "fp16" : "fp32";
}

}  // namespace reel::model
