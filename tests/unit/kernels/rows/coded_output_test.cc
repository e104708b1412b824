// SPDX-License-Identifier: Apache-2.0
// The door of an output that may be e4m3, through an operator that has one.
#include "kernels/rows/coded_output.h"

#include <cmath>
#include <functional>
#include <limits>

#include "kernels/rms_norm/rms_norm.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

class CodedOutputTest : public RefusalTest {
 protected:
  CodedOutputTest() : RefusalTest("rms_norm") {
    x.FillNormal(1);
    args.x = x.view();
    args.out = codes.view();
    args.out_scale = scales.view();
  }
  void Refused(const std::function<void(RmsNormArgs&)>& change, absl::StatusCode code,
               const std::string& text) {
    RmsNormArgs changed = args;
    change(changed);
    ExpectRefused([&] { return RmsNorm(changed, run.execution()); }, codes, code, text);
  }

  HostTensor x{Dtype::kBf16, {2, 8}};
  HostTensor codes{Dtype::kE4m3, {2, 8}};
  HostTensor scales{Dtype::kF32, {2}};
  RmsNormArgs args;
};

TEST_F(CodedOutputTest, TakesOneOfTheTwoScales) {
  EXPECT_TRUE(RmsNorm(args, run.execution()).ok());
  args.out_scale.reset();
  args.static_out_scale = 0.5;
  EXPECT_TRUE(RmsNorm(args, run.execution()).ok());
}

TEST_F(CodedOutputTest, RefusesNeitherAndBoth) {
  Refused([](auto& a) { a.out_scale.reset(); }, kInvalid, "one of them must be given");
  Refused([](auto& a) { a.static_out_scale = 1; }, kInvalid, "one of them must be given");
}

TEST_F(CodedOutputTest, WantsAScaleForEveryRow) {
  Refused([](auto& a) { a.out_scale = Slice(*a.out_scale, 0, 0, 1); }, kInvalid,
          "one scale for every row: out_scale fp32 [1] beside bf16 [2, 8]");
  Refused([](auto& a) { a.out_scale = Contiguous(a.out_scale->data, Dtype::kF32, {2, 1}); },
          kInvalid, "out_scale has rank 2");
  Refused([](auto& a) { a.out_scale->dtype = Dtype::kF16; }, kUnimplemented, "out_scale is fp16");
}

TEST_F(CodedOutputTest, WantsCodesForEveryElement) {
  Refused([](auto& a) { a.out = Slice(a.out, 1, 0, 7); }, kInvalid, "Sizes must be equal");
  Refused([](auto& a) { a.out = Contiguous(a.out.data, Dtype::kE4m3, {16}); }, kInvalid,
          "out has rank 1");
  Refused([](auto& a) { a.out.dtype = Dtype::kU8; }, kUnimplemented, "out is uint8");
}

TEST_F(CodedOutputTest, WantsOutputsThatOverlapNothing) {
  Refused([](auto& a) { a.out_scale->data = a.x.data; }, kInvalid, "overlaps another tensor");
  Refused([](auto& a) { a.out_scale->data = a.out.data; }, kInvalid, "overlaps another tensor");
  Refused([](auto& a) { a.out.data = a.x.data; }, kInvalid, "overlaps another tensor");
  Refused([](auto& a) { a.out.strides = {0, 1}; }, kInvalid, "must not name an element twice");
}

TEST_F(CodedOutputTest, WantsAStaticScaleThatIsFiniteAndAboveZeroAsFp32) {
  for (const double scale : {0.0, -0.0, -1.0, kInf, std::nan(""), 1e-60, 1e60}) {
    Refused(
        [&](auto& a) {
          a.out_scale.reset();
          a.static_out_scale = scale;
        },
        kInvalid, "static_out_scale must be finite and above zero");
  }
}

TEST_F(CodedOutputTest, RefusesScalesOfAnOutputOfAnotherType) {
  HostTensor plain(Dtype::kBf16, {2, 8});
  args.out = plain.view();
  Refused([](auto&) {}, kInvalid, "belong to an output in codes: out is bf16");
  args.out_scale.reset();
  Refused([](auto& a) { a.static_out_scale = 1; }, kInvalid,
          "belong to an output in codes: out is bf16");
}

}  // namespace
}  // namespace reel::kernels
