// SPDX-License-Identifier: Apache-2.0
// The tensors of one benchmarked call.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/tensor_view.h"
#include "tests/bench/kernels/bench_device.h"

namespace reel::kernels {

// Inputs repeat: every `period` elements are the same, so that one period, computed by the
// reference, tells what the whole output must be. Errors are kept, and further tensors are empty.
class BenchTensors {
 public:
  explicit BenchTensors(BenchDevice& device) : device_(device) {}

  // About N(0,1), the same for the same period and number, whatever the device.
  TensorView Input(Dtype dtype, const std::vector<int64_t>& sizes, int64_t period,
                   uint64_t number = 0);
  // Written to the device as they are; int32 or float.
  TensorView Table(Dtype dtype, const std::vector<int64_t>& sizes, const void* values);
  // Of 0xFF, which is no number in any floating type.
  TensorView Output(Dtype dtype, const std::vector<int64_t>& sizes);
  // For the call's own use, of 0xFF; nobody's business afterwards.
  TensorView Scratch(int64_t size);
  // Outputs as they were before a call.
  absl::Status Poison();

  const std::vector<TensorView>& outputs() const { return outputs_; }
  const absl::Status& status() const { return status_; }
  // The least that a call must move: each of these tensors once.
  int64_t bytes() const { return bytes_; }

 private:
  TensorView Repeat(Dtype dtype, const std::vector<int64_t>& sizes,
                    const std::vector<unsigned char>& pattern);
  absl::Status FillWith(const TensorView& view, const std::vector<unsigned char>& pattern);

  BenchDevice& device_;
  absl::Status status_;
  std::vector<TensorView> outputs_;
  int64_t bytes_ = 0;
};

}  // namespace reel::kernels
