// SPDX-License-Identifier: Apache-2.0
// One call of an operator as kernel_bench times it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kernels/base/tensor_view.h"
#include "kernels/dispatch/execution.h"

namespace reel::kernels {

// Tensors of a case, allocated by the bench and filled with small numbers; 64-byte aligned.
class BenchTensors {
 public:
  TensorView Make(Dtype dtype, std::vector<int64_t> sizes);
  int64_t bytes() const { return bytes_; }

 private:
  std::vector<std::unique_ptr<unsigned char[]>> storage_;
  int64_t bytes_ = 0;
};

struct BenchCase {
  std::string op;
  std::string shape;
  Dtype dtype;
  int64_t bytes = 0;  // the least that the call must move: every input once, every output once
  std::function<absl::Status(const Execution&)> run;
  std::shared_ptr<BenchTensors> tensors;
};

// The cases of every operator at its listed shapes, or at [rows, width] where `rows` is not 0.
std::vector<BenchCase> BenchCases(Dtype dtype, int64_t rows, int64_t width);

}  // namespace reel::kernels
