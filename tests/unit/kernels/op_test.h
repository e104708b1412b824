// SPDX-License-Identifier: Apache-2.0
// What every operator's test shares: the variants of the catalog as parameters, one forced call,
// and the error bound.
#pragma once

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "kernels/dispatch/kernel_counters.h"
#include "tests/unit/kernels/host_tensor.h"
#include "tests/unit/kernels/test_device.h"

namespace reel::kernels {

// One row of the catalog and a type that it computes in.
struct OpVariant {
  std::string variant;
  Dtype dtype = Dtype::kF32;
  bool on_gpu = false;
};
std::ostream& operator<<(std::ostream& out, const OpVariant& variant);
std::string NameOf(const testing::TestParamInfo<OpVariant>& info);

// Every variant that this build has, for every type of its row: CPU rows, or those of the CUDA
// library in a test program that was built for it.
std::vector<OpVariant> VariantsOf(const std::string& op);

// True for rows that must take every call: `loops` and `generic`.
bool TakesEverything(const OpVariant& variant);

// Runs calls with one variant forced. Tensors are handed over with In and Out, which upload them
// when the variant runs on a GPU; Outputs come back with Fetch.
class ForcedRun {
 public:
  ForcedRun(const std::string& op, const OpVariant& variant);

  TensorView Use(HostTensor& tensor);
  void Fetch();  // all tensors used so far, after the device is done

  Execution execution();
  int64_t calls() const;  // counted under the forced variant

 private:
  std::string op_;
  OpVariant variant_;
  TestDevice& device_;
  KernelPlan plan_;
  KernelCounters counters_;
  std::vector<std::pair<HostTensor*, void*>> used_;
};

// |got - want| <= ulps * ulp(want) + c * 2^-24 * magnitude, where magnitude is the sum of the
// magnitudes of the terms that were added; infinities and NaN must be equal.
struct Bound {
  double ulps = 1;  // 0 for fp32
  double c = 8;
};
Bound BoundFor(Dtype dtype, double c);
double UlpOf(double value, Dtype dtype);
testing::AssertionResult Within(const Bound& bound, double got, double want, double magnitude,
                                Dtype dtype);

// Compares a whole tensor; stops at the first miss and names its index.
testing::AssertionResult AllWithin(const Bound& bound, const HostTensor& got,
                                   const std::vector<double>& want,
                                   const std::vector<double>& magnitude);

// Bits are equal, element by element.
testing::AssertionResult SameBits(const HostTensor& a, const HostTensor& b);

MATCHER_P2(StatusIs, code, text, "") {
  return arg.code() == code && testing::Value(std::string(arg.message()), testing::HasSubstr(text));
}

}  // namespace reel::kernels
