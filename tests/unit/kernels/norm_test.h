// SPDX-License-Identifier: Apache-2.0
// The promises of all fused norms, over a function that makes a case.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/kernels/norm_case.h"

namespace reel::kernels {

// Lists of vectors, and which of them each row of a case takes.
class ToldVectors {
 public:
  ToldVectors(const NormCase& call, Dtype dtype) : vector_of_(Dtype::kI32, Leading(call)) {
    vector_of_.SetAll([](int64_t row) { return static_cast<double>((row * 3 + 1) % kCount); });
    sizes_ = {kCount, 1, call.width()};
    dtype_ = dtype;
  }

  // What a vector [B,S,D] of `call` is then.
  void Write(NormCase& call, const std::string& name) {
    HostTensor& list = lists_.try_emplace(name, dtype_, sizes_).first->second;
    list.FillNormal(lists_.size() + 40);
    const int64_t width = call.width();
    call[name].SetAll([&](int64_t i) {
      return list.Get(static_cast<int64_t>(vector_of_.Get(i / width)) * width + i % width);
    });
  }
  TensorView Use(ForcedRun& run, const std::string& name) { return run.Use(lists_.at(name)); }
  TensorView UseVectorOf(ForcedRun& run) { return run.Use(vector_of_); }

 private:
  static constexpr int64_t kCount = 5;
  static std::vector<int64_t> Leading(const NormCase& call) {
    return {call.sizes().begin(), call.sizes().end() - 1};
  }

  HostTensor vector_of_;
  std::vector<int64_t> sizes_;
  Dtype dtype_ = Dtype::kF32;
  std::map<std::string, HostTensor> lists_;
};

// Whether it takes plain calls to int8 of this width, where that is a power of two.
inline bool TakesInt8(const OpVariant& variant, int64_t width) {
  return TakesEverything(variant) || (variant.dtype != Dtype::kF32 && width >= 1024);
}

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

  // Of a case whose output is int8, in whole groups of 32. Tuned variants take some widths.
  void ExpectInt8(const Make& make) {
    const bool all = TakesEverything(GetParam());
    for (const int64_t width : {32, 96, 192, 1024, 2048, 4096}) {
      SCOPED_TRACE(width);
      const auto call = make({1, 3, width}, Layout::kContiguous);
      EXPECT_TRUE(Matches(*call, NormBound(*call)) || !all);
    }
    for (const Layout layout : AllLayouts()) {
      for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{2, 5, all ? 96 : 2048},
                                                std::vector<int64_t>{1, 131, all ? 32 : 1024}}) {
        SCOPED_TRACE(LayoutName(layout));
        const auto call = make(sizes, layout);
        Matches(*call, NormBound(*call));
      }
    }
    for (const double value : {HUGE_VAL, std::nan("")}) {
      const auto call = make({2, 3, 2048}, Layout::kContiguous);
      (*call)["x"].Set(2048 + 1027, value);
      if (!Matches(*call, NormBound(*call))) continue;
      EXPECT_TRUE(std::isnan((*call)["out_scale"].Get(1)));
      EXPECT_TRUE(std::isfinite((*call)["out_scale"].Get(0)));
    }
    if (!TakesInt8(GetParam(), 2048)) return;
    ExpectTakesEmptyTensors(make, 2048);
    ExpectSameBitsAlone(make);
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

  void ExpectTakesEmptyTensors(const Make& make, int64_t width = 8) {
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{0, 2, width}, std::vector<int64_t>{2, 0, width},
          std::vector<int64_t>{2, 2, 0}}) {
      const auto call = make(sizes, Layout::kContiguous);
      ForcedRun run(op_, GetParam());
      EXPECT_TRUE(call->Call(run).ok());
    }
  }
};

}  // namespace reel::kernels
