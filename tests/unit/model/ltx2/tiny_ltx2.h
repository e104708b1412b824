// SPDX-License-Identifier: Apache-2.0
// The tiny components of tests/golden/ltx2, with their weights drawn from seeds in the order of
// golden_ltx2.py, and how near ours come to diffusers'.
#pragma once

#include <string>

#include "model/bridge/aten.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json_fwd.hpp"
#include "tests/unit/model/ltx/tiny_folder.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {

using ltx::Draw;
using ltx::Golden;

inline constexpr int64_t kTextTokens = 16;  // of every text, with what fills it

// A component, "transformer", "connectors", "vae" or "latent_upsampler", of one variant ("2.3").
class TinyComponent {
 public:
  TinyComponent(const std::string& component, const std::string& variant);

  nlohmann::json config() const;
  WeightSet weights() const;
  Golden golden() const { return Golden::In(folder_); }

 private:
  const std::string component_, folder_;
  const reel::testing::TempFolder scratch_;
};

// The root of the mean square of an error, over that of what is expected. Prints `what` and it.
double RelativeError(const std::string& what, const at::Tensor& actual, const at::Tensor& expected);

// What a component makes of one golden call, and the worst figures of many.
struct Worst {
  double error = 0;  // in fp32
  double ratio = 0;  // of our error in bf16 to diffusers' own, both from fp32
};
inline constexpr double kErrorBound = 1e-5;
// Models as tiny as these err by a few roundings: 1.24 was seen of what a processor without
// AVX-512 computes.
inline constexpr double kRatioBound = 1.5;
// `fp32` and `bf16` are ours; the golden has `name` and `name`.bf16.
void AddTo(Worst& worst, const Golden& golden, const std::string& name, const at::Tensor& fp32,
           const at::Tensor& bf16);

}  // namespace reel::model::ltx2
