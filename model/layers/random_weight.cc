// SPDX-License-Identifier: Apache-2.0
#include "model/layers/random_weight.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/fnv1a.h"

namespace reel::model {
namespace {

constexpr int64_t kBits = 32;
constexpr int64_t kMask = (int64_t{1} << kBits) - 1;
// So many values at a time: what they are made from is 8 bytes each.
constexpr int64_t kAtOnce = int64_t{1} << 22;

// Every bit of a result depends on every bit of x (32 bits in int64): products with odd numbers
// below 2^31, which int64 holds, and shifts.
at::Tensor Mixed(at::Tensor x) {
  for (const int64_t odd : {int64_t{0x45d9f3b}, int64_t{0x7feb352d}}) {
    x = x.bitwise_xor(x.bitwise_right_shift(16)).mul(odd).bitwise_and(kMask);
  }
  return x.bitwise_xor(x.bitwise_right_shift(16));
}

// In (0, 1].
at::Tensor Uniform(const at::Tensor& bits) {
  return bits.bitwise_right_shift(8).add(1).to(at::kFloat).mul(1.0 / (1 << 24));
}

// Normal values [first, end) of a sequence, by Box and Muller.
at::Tensor Normal(int64_t first, int64_t end, int64_t sequence, at::Device device) {
  const at::Tensor index = at::arange(first, end, at::TensorOptions(device).dtype(at::kLong));
  const at::Tensor even = index.mul(2).bitwise_and(kMask);
  const at::Tensor one = Mixed(even.bitwise_xor(sequence));
  const at::Tensor other = Mixed(even.add(1).bitwise_xor(sequence));
  return Uniform(one).log().mul(-2).sqrt().mul(Uniform(other).mul(2 * M_PI).cos());
}

struct Spread {
  double mean, deviation;
};
Spread SpreadOf(const std::string& name, const std::vector<int64_t>& shape) {
  const bool around_one = absl::StrContains(name, "norm") || absl::EndsWith(name, "_std") ||
                          absl::EndsWith(name, "_scalar");
  if (shape.size() < 2) return {around_one ? 1.0 : 0.0, 0.1};
  if (absl::StrContains(name, "table")) return {0, 0.1};
  int64_t summed = 1;
  for (size_t d = 1; d < shape.size(); ++d) summed *= shape[d];
  return {0, 1 / std::sqrt(static_cast<double>(std::max<int64_t>(summed, 1)))};
}

}  // namespace

at::Tensor RandomWeight(const std::string& name, const std::vector<int64_t>& shape, uint64_t seed,
                        const at::TensorOptions& options) {
  at::Tensor made = at::empty(shape, options);
  if (made.is_meta()) return made;
  Fnv1a hash;
  hash.Add(name);
  hash.Add(static_cast<uint32_t>(seed));
  hash.Add(static_cast<uint32_t>(seed >> kBits));
  const Spread spread = SpreadOf(name, shape);
  const at::Tensor flat = made.view({-1});
  for (int64_t first = 0; first < flat.numel(); first += kAtOnce) {
    const int64_t end = std::min(first + kAtOnce, flat.numel());
    flat.slice(0, first, end)
        .copy_(
            Normal(first, end, hash.value(), made.device()).mul(spread.deviation).add(spread.mean));
  }
  return made;
}

absl::Status CheckRandomWeights(const LoadOptions& options) {
  if (!options.random_weights.has_value()) return absl::OkStatus();
  std::error_code ignored;
  if (std::filesystem::is_regular_file(options.path, ignored)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "random weights are made from the configurations of a folder; this is a file: ",
        options.path));
  }
  if (options.manifest_file.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "random weights are in no manifest; leave out one of the two: ", options.manifest_file));
}

}  // namespace reel::model
