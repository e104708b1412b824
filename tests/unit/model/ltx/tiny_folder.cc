// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx/tiny_folder.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace reel::model::ltx {
namespace {

std::string GoldenFolder() { return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/"; }

}  // namespace

Golden::Golden(const std::string& version) : Golden(In("models/" + version)) {}

Golden Golden::In(const std::string& folder) {
  return Golden(*WeightSet::OpenFile(GoldenFolder() + folder + "/golden.safetensors"));
}

at::Tensor Golden::operator[](const std::string& name) const {
  const StoredTensor* stored = set_.Find(name);
  if (stored == nullptr) {
    ADD_FAILURE() << "no golden tensor " << name;
    return at::zeros({0});
  }
  const bool is_integer = stored->entry->type == TensorType::kI64;
  at::Tensor tensor = at::empty(stored->entry->shape, is_integer ? at::kLong : at::kFloat);
  std::memcpy(tensor.data_ptr(), stored->bytes().data(), stored->bytes().size());
  return tensor;
}

at::Tensor Draw(uint64_t seed, at::IntArrayRef shape) {
  return at::randn(shape, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kFloat));
}

Difference Compare(const std::string& what, const at::Tensor& actual, const at::Tensor& expected) {
  Difference difference;
  if (actual.sizes() != expected.sizes()) {
    ADD_FAILURE() << what << ": other sizes";
    difference.worst = difference.relative = std::numeric_limits<double>::infinity();
    return difference;
  }
  const at::Tensor a = actual.to(at::kDouble), e = expected.to(at::kDouble);
  difference.worst = (a - e).abs().max().item<double>();
  if (std::isnan(difference.worst)) difference.worst = std::numeric_limits<double>::infinity();
  difference.relative = difference.worst / e.std().item<double>();
  std::printf("%-32s worst difference %.2e, %.2e of the standard deviation\n", what.c_str(),
              difference.worst, difference.relative);
  return difference;
}

}  // namespace reel::model::ltx
