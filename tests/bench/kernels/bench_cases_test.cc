// SPDX-License-Identifier: Apache-2.0
// An operator that is in operators.def is measured, or is named here.
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/built_in_catalog.h"
#include "tests/bench/kernels/bench_case.h"

namespace reel::kernels {
namespace {

TEST(BenchCases, HaveEveryOperatorOfTheTable) {
  // Folds weights, once for a model.
  std::set<std::string> measured = {"prepare_norm_linear"};
  for (const BenchCase& each : BenchCases(Dtype::kBf16, BenchPreset::kShort, {})) {
    measured.insert(each.op);
  }
  std::set<std::string> table;
  for (const OpVariants& op : BuiltInCpuVariants()) table.insert(op.op);
  EXPECT_THAT(measured, testing::ContainerEq(table));
}

}  // namespace
}  // namespace reel::kernels
