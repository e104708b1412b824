// SPDX-License-Identifier: Apache-2.0
// What the tests of all fused norms promise, over a function that makes a case.
#pragma once

#include <cmath>
#include <functional>
#include <memory>

#include "tests/unit/kernels/norm_case.h"

namespace reel::kernels {

class NormTest : public OpTest {
 protected:
  using OpTest::OpTest;
  // A case of the operator over x of these sizes, in its usual form.
  using Make = std::function<std::unique_ptr<NormCase>(std::vector<int64_t>, Layout)>;

  Bound NormBound(const NormCase& call) const {
    return BoundFor(dtype(), 8 + std::log2(static_cast<double>(call.width())));
  }

  void ExpectMatchesAtEveryWidth(const Make& make) {
    int ran = 0;
    for (const int64_t width : {1, 2, 7, 8, 31, 33, 63, 64, 65, 127, 128, 1000, 1023, 1985, 2048,
                                2050, 3072, 4096, 8191}) {
      SCOPED_TRACE(width);
      const auto call = make({1, 3, width}, Layout::kContiguous);
      ran += Matches(*call, NormBound(*call)) ? 1 : 0;
    }
    EXPECT_GE(ran, TakesEverything(GetParam()) ? 19 : 5);
  }

  void ExpectMatchesInEveryLayout(const Make& make) {
    for (const Layout layout : AllLayouts()) {
      for (const std::vector<int64_t>& sizes :
           {std::vector<int64_t>{2, 5, 72}, std::vector<int64_t>{1, 131, 64}}) {
        SCOPED_TRACE(LayoutName(layout));
        const auto call = make(sizes, layout);
        Matches(*call, NormBound(*call));
      }
    }
  }

  // A row of `many` alone, with whatever belongs to it, gives the same bits.
  void ExpectSameBitsAlone(const Make& make) {
    const auto many = make({1, 33, 2048}, Layout::kContiguous);
    ASSERT_TRUE(Matches(*many, NormBound(*many)));
    const auto alone = make({1, 1, 2048}, Layout::kContiguous);
    for (const char* name : {"x", "residual"}) {
      if (!many->Has(name)) continue;
      (*alone)[name].SetAll([&](int64_t i) { return (*many)[name].Get(17 * 2048 + i); });
    }
    for (const char* name : {"weight", "bias", "scale", "shift", "gate", "residual_gate"}) {
      if (!many->Has(name)) continue;
      (*alone)[name].SetAll([&](int64_t i) { return (*many)[name].Get(i); });
    }
    ASSERT_TRUE(Matches(*alone, NormBound(*alone)));
    for (const char* name : {"sum", "out"}) {
      if (!many->Has(name)) continue;
      for (int64_t i = 0; i < 2048; ++i) {
        ASSERT_EQ((*alone)[name].Get(i), (*many)[name].Get(17 * 2048 + i)) << name << " " << i;
      }
    }
    if (many->Has("out_scale")) {
      EXPECT_EQ((*alone)["out_scale"].Get(0), (*many)["out_scale"].Get(17));
    }
  }

  void ExpectTakesEmptyTensors(const Make& make) {
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{0, 2, 8}, std::vector<int64_t>{2, 0, 8},
          std::vector<int64_t>{2, 2, 0}}) {
      const auto call = make(sizes, Layout::kContiguous);
      ForcedRun run(op_, GetParam());
      EXPECT_TRUE(call->Call(run).ok());
    }
  }
};

}  // namespace reel::kernels
