// SPDX-License-Identifier: Apache-2.0
// The calls that operators of kernels/ got, as they came: what a model runs, for whoever measures
// or compares it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace reel::kernels {

struct RecordedCall {
  std::string op;
  // Every tensor that was there, as "name dtype [sizes]", with its strides where it has gaps.
  std::vector<std::string> tensors;
};

// Confined to the thread that executes.
class CallRecorder {
 public:
  void Record(RecordedCall call) { calls_.push_back(std::move(call)); }
  const std::vector<RecordedCall>& calls() const { return calls_; }

 private:
  std::vector<RecordedCall> calls_;
};

}  // namespace reel::kernels
