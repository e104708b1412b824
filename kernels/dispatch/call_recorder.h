// SPDX-License-Identifier: Apache-2.0
// Records the calls that operators of kernels/ get, to measure or compare what a model runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace reel::kernels {

struct RecordedCall {
  std::string op;
  // Every tensor of the call, as "name dtype [sizes]", with strides if it has gaps.
  std::vector<std::string> tensors;
};

// Used by the executing thread alone.
class CallRecorder {
 public:
  void Record(RecordedCall call) { calls_.push_back(std::move(call)); }
  const std::vector<RecordedCall>& calls() const { return calls_; }

 private:
  std::vector<RecordedCall> calls_;
};

}  // namespace reel::kernels
