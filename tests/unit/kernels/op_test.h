// SPDX-License-Identifier: Apache-2.0
// Shared parts of every operator's test: the variants of the catalog as parameters, one forced
// call, and the error bound.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <utility>
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

// One variant of the catalog and a type that it computes in.
struct OpVariant {
  std::string variant;
  Dtype dtype = Dtype::kF32;
  bool on_gpu = false;
  bool plain_calls_alone = false;  // the operator has another variant for the rest
};
std::ostream& operator<<(std::ostream& out, const OpVariant& variant);
std::string NameOf(const testing::TestParamInfo<OpVariant>& info);

// Every variant that this build has, for every type that it takes: CPU variants, or those of the
// CUDA library in a test program that was built for it. Without those for outputs in e4m3, for
// operands in int8 and for a share of the keys.
std::vector<OpVariant> VariantsOf(const std::string& op);

// Those that write e4m3: what takes everything, and on a GPU the tuned ones. Empty where there
// should be a tuned one and none is named so: a suite without values fails.
std::vector<OpVariant> E4m3VariantsOf(const std::string& op);
// The same of those that take int8.
std::vector<OpVariant> Int8VariantsOf(const std::string& op);
// The same of those that take a share of the keys.
std::vector<OpVariant> RoutedVariantsOf(const std::string& op);

// True for variants that must take every call: `loops` and `generic`.
bool TakesEverything(const OpVariant& variant);

// Runs calls with one variant forced. Tensors are handed over with Use, which uploads them when the
// variant runs on a GPU; they come back with Fetch.
class ForcedRun {
 public:
  ForcedRun(const std::string& op, const OpVariant& variant);
  ~ForcedRun() { device_.Release(); }
  ForcedRun(const ForcedRun&) = delete;
  ForcedRun& operator=(const ForcedRun&) = delete;

  TensorView Use(HostTensor& tensor);
  void Fetch();  // all tensors used so far, after the device is done

  // False where the variant is not for this device: no call of it can be made.
  bool can_run() const { return can_run_; }
  Execution execution();
  int64_t calls() const;  // counted under the forced variant

 private:
  std::string op_;
  OpVariant variant_;
  TestDevice& device_;
  KernelPlan plan_;
  bool can_run_ = false;
  KernelCounters counters_;
  std::vector<std::pair<HostTensor*, void*>> used_;
};

// What one output should be: per element the value and the sum of the magnitudes of the terms that
// were added for it.
struct Expected {
  const HostTensor* output;
  std::vector<double> want;
  std::vector<double> magnitude;
  // Beside an output in codes: the scales of its rows, or of e4m3 the one of all.
  const HostTensor* scale = nullptr;
  double fixed_scale = 0;

  void Add(double value, double terms) {
    want.push_back(value);
    magnitude.push_back(terms);
  }
};

// One call of an operator: tensors, the call, and what it should give, in naive fp64.
class OpCase {
 public:
  virtual ~OpCase() = default;
  virtual absl::Status Call(ForcedRun& run) = 0;
  virtual std::vector<Expected> Reference() const = 0;
};

// |got - want| <= ulps * ulp(want) + c * 2^-24 * magnitude. The magnitude is the sum of those of
// the terms that were added. Infinities and NaN must be equal.
struct Bound {
  double ulps = 1;  // 0 for fp32
  double c = 8;
};
Bound BoundFor(Dtype dtype, double c);
double UlpOf(double value, Dtype dtype);
testing::AssertionResult Within(const Bound& bound, double got, double want, double magnitude,
                                Dtype dtype);

// Compares a whole output; stops at the first miss and names its index. One in codes by E4m3Within
// and Int8Within.
testing::AssertionResult AllWithin(const Bound& bound, const Expected& expected);

// A test over the variants of one operator; skips loudly where their device is missing.
class OpTest : public testing::TestWithParam<OpVariant> {
 protected:
  explicit OpTest(const char* op) : op_(op) {}
  void SetUp() override;
  // Beside a failure, why the variant last refused a call: it may be the cause.
  void TearDown() override;
  // A variant that was asked for calls and took none was not tested.
  static void TearDownTestSuite();

  Dtype dtype() const { return GetParam().dtype; }
  // For a call that is not plain.
  bool takes_more_than_plain() const { return !GetParam().plain_calls_alone; }
  // Runs the case and compares every output. False when the variant does not take the call, which
  // only tuned variants may say.
  bool Matches(OpCase& call, const Bound& bound);
  // The same for a case that every variant takes.
  void ExpectMatch(OpCase& call, const Bound& bound) { EXPECT_TRUE(Matches(call, bound)); }
  // For a case that every variant takes that is not for plain calls alone.
  void ExpectMatchUnlessPlain(OpCase& call, const Bound& bound) {
    EXPECT_EQ(Matches(call, bound), takes_more_than_plain());
  }

  const char* op_;

 private:
  absl::Status refusal_;
};

// Refusals are checked on the host, before a variant is chosen; any variant will do.
class RefusalTest : public testing::Test {
 protected:
  explicit RefusalTest(const char* op)
      : run(op, {.variant = "loops", .dtype = Dtype::kF32, .on_gpu = false}) {}
  void SetUp() override;
  // The status, no launch, and every byte of `output` as it was.
  void ExpectRefused(const std::function<absl::Status()>& call, const HostTensor& output,
                     absl::StatusCode code, const std::string& text);

  static constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  static constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  ForcedRun run;
};

// Bits are equal, element by element.
testing::AssertionResult SameBits(const HostTensor& a, const HostTensor& b);

MATCHER_P2(StatusIs, code, text, "") {
  return arg.code() == code && testing::Value(std::string(arg.message()), testing::HasSubstr(text));
}

}  // namespace reel::kernels
