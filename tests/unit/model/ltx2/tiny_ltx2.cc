// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx2/tiny_ltx2.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

std::string PathOf(const std::string& folder, const char* file) {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/" + folder + "/" + file;
}

double RootOfMeanSquare(const at::Tensor& x) {
  return x.to(at::kDouble).pow(2).mean().sqrt().item<double>();
}

}  // namespace

TinyComponent::TinyComponent(const std::string& component, const std::string& variant)
    : component_(component), folder_("ltx2/" + component + "/" + variant) {
  at::set_num_threads(1);  // tensors this small are only slowed down by more
  const std::map<std::string, uint64_t> seeds = {{"transformer", 0},
                                                 {"vae", 1},
                                                 {"connectors", 2},
                                                 {"latent_upsampler", 6},
                                                 {"diffusion_decoder", 7}};
  scratch_.Write("diffusion_pytorch_model.safetensors",
                 DrawnWeights(*ReadJsonFile(PathOf(folder_, "shapes.json")), seeds.at(component)));
}

nlohmann::json TinyComponent::config() const {
  return *ReadJsonFile(PathOf(folder_, "config.json"));
}

WeightSet TinyComponent::weights() const {
  return *WeightSet::OpenFolder(scratch_.path(), "diffusion_pytorch_model");
}

double RelativeError(const std::string& what, const at::Tensor& actual,
                     const at::Tensor& expected) {
  if (actual.sizes() != expected.sizes()) {
    ADD_FAILURE() << what << ": other sizes";
    return std::numeric_limits<double>::infinity();
  }
  const double error =
      RootOfMeanSquare(actual.to(at::kFloat) - expected) / RootOfMeanSquare(expected);
  std::printf("%-40s %.2e\n", what.c_str(), error);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

void AddTo(Worst& worst, const Golden& golden, const std::string& name, const at::Tensor& fp32,
           const at::Tensor& bf16) {
  const at::Tensor exact = golden[name];
  worst.error = std::max(worst.error, RelativeError(name + ", fp32", fp32, exact));
  const double own = RelativeError(name + ", bf16", bf16, exact);
  const double reference =
      RelativeError(name + ", bf16 of diffusers", golden[name + ".bf16"], exact);
  worst.ratio = std::max(worst.ratio, own / reference);
}

}  // namespace reel::model::ltx2
