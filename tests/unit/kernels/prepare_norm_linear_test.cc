// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/norm_linear/norm_linear.h"
#include "tests/unit/kernels/norm_linear_case.h"

namespace reel::kernels {
namespace {

// What is optional about a layer.
struct LayerForm {
  bool norm_weight = true;
  bool bias = true;
  bool norm_bias = false;
  bool layer = false;
  bool fp32_vectors = false;
};

// A layer W, b behind a norm w, beta; and what it is prepared to.
struct Layer : OpCase {
  Layer(Dtype dtype, int64_t outputs, int64_t width, const LayerForm& use = {},
        Layout layout = Layout::kContiguous)
      : form(use),
        weight(dtype, {outputs, width}, layout),
        norm_weight(use.fp32_vectors ? Dtype::kF32 : dtype, {width}),
        bias(norm_weight.view().dtype, {outputs}),
        norm_bias(norm_weight.view().dtype, {width}),
        folded(dtype, {outputs, width}, layout),
        folded_bias(Dtype::kF32, {outputs}),
        sums(Dtype::kF32, {outputs}) {
    weight.FillNormal(11);
    norm_weight.FillNormal(12);
    bias.FillNormal(13);
    norm_bias.FillNormal(14);
  }

  PrepareNormLinearArgs Args(ForcedRun& run) {
    PrepareNormLinearArgs args;
    args.weight = run.Use(weight);
    if (form.norm_weight) args.norm_weight = run.Use(norm_weight);
    if (form.bias) args.bias = run.Use(bias);
    if (form.norm_bias) args.norm_bias = run.Use(norm_bias);
    args.prepared = Prepared(run);
    return args;
  }
  NormLinearWeight Prepared(ForcedRun& run) {
    NormLinearWeight prepared;
    prepared.weight = run.Use(folded);
    if (form.bias || form.norm_bias) prepared.bias = run.Use(folded_bias);
    if (form.layer) prepared.sums = run.Use(sums);
    return prepared;
  }
  absl::Status Call(ForcedRun& run) override {
    return PrepareNormLinear(Args(run), run.execution());
  }

  double Bias(int64_t o) const { return form.bias ? bias.Get(o) : 0; }
  double NormWeight(int64_t i) const { return form.norm_weight ? norm_weight.Get(i) : 1; }
  double NormBias(int64_t i) const { return form.norm_bias ? norm_bias.Get(i) : 0; }

  // The sums are those of what was folded.
  std::vector<Expected> Reference() const override {
    Expected weights{&folded, {}, {}}, biases{&folded_bias, {}, {}}, totals{&sums, {}, {}};
    const int64_t outputs = weight.view().size(0), width = weight.view().size(1);
    for (int64_t o = 0; o < outputs; ++o) {
      double shift = Bias(o), terms = std::abs(shift), sum = 0, sum_terms = 0;
      for (int64_t i = 0; i < width; ++i) {
        const double value = weight.Get(o * width + i);
        weights.Add(value * NormWeight(i), std::abs(value * NormWeight(i)));
        shift += value * NormBias(i);
        terms += std::abs(value * NormBias(i));
        sum += folded.Get(o * width + i);
        sum_terms += std::abs(folded.Get(o * width + i));
      }
      biases.Add(shift, terms);
      totals.Add(sum, sum_terms);
    }
    std::vector<Expected> all = {weights};
    if (form.bias || form.norm_bias) all.push_back(biases);
    if (form.layer) all.push_back(totals);
    return all;
  }

  LayerForm form;
  HostTensor weight, norm_weight, bias, norm_bias, folded, folded_bias, sums;
};

const std::vector<LayerForm>& LayerForms() {
  static const std::vector<LayerForm> forms = {
      {},
      {.bias = false},
      {.norm_weight = false, .layer = true},
      {.norm_bias = true, .layer = true},
      {.bias = false, .norm_bias = true, .layer = true, .fp32_vectors = true},
      {.norm_weight = false, .bias = false, .layer = true},
      {.norm_bias = true, .fp32_vectors = true}};
  return forms;
}

class PrepareNormLinearTest : public OpTest {
 protected:
  PrepareNormLinearTest() : OpTest("prepare_norm_linear") {}
  void ExpectRight(Layer& layer) {
    const auto width = static_cast<double>(layer.weight.view().size(1));
    ExpectMatch(layer, BoundFor(dtype(), 8 + std::log2(std::max(width, 1.0))));
  }
};
INSTANTIATE_TEST_SUITE_P(Variants, PrepareNormLinearTest,
                         testing::ValuesIn(VariantsOf("prepare_norm_linear")), NameOf);

TEST_P(PrepareNormLinearTest, EqualsTheReferenceInEveryLayoutAndForm) {
  for (const Layout layout : AllLayouts()) {
    for (const LayerForm& form : LayerForms()) {
      SCOPED_TRACE(LayoutName(layout));
      Layer layer(dtype(), 5, 72, form, layout);
      ExpectRight(layer);
    }
  }
}

TEST_P(PrepareNormLinearTest, EqualsTheReferenceAtEveryWidth) {
  for (const int64_t width : {0, 1, 8, 31, 255, 256, 257, 2048, 2050}) {
    SCOPED_TRACE(width);
    Layer layer(dtype(), 3, width, {.norm_bias = true, .layer = true});
    ExpectRight(layer);
  }
  Layer none(dtype(), 0, 8, {.norm_bias = true, .layer = true});
  ExpectRight(none);
}

TEST_P(PrepareNormLinearTest, FoldsInPlace) {
  Layer apart(dtype(), 7, 136, {.norm_bias = true, .layer = true});
  Layer in_place(dtype(), 7, 136, {.norm_bias = true, .layer = true});
  ExpectRight(apart);
  ForcedRun run(op_, GetParam());
  PrepareNormLinearArgs args = in_place.Args(run);
  args.prepared.weight = args.weight;
  ASSERT_TRUE(PrepareNormLinear(args, run.execution()).ok());
  run.Fetch();
  EXPECT_TRUE(SameBits(in_place.weight, apart.folded));
  EXPECT_TRUE(SameBits(in_place.folded_bias, apart.folded_bias));
  EXPECT_TRUE(SameBits(in_place.sums, apart.sums));
}

// |got - (norm(x) W + b)|: one rounding of the output, those of W', and fp32 sums.
TEST_P(PrepareNormLinearTest, MakesTheNormAndTheLayerOneProduct) {
  constexpr int64_t kRows = 7, kWidth = 264, kOutputs = 20;
  const double half_ulp = dtype() == Dtype::kF32 ? 0 : (dtype() == Dtype::kF16 ? 0x1p-11 : 0x1p-8);
  for (const LayerForm& form : LayerForms()) {
    Layer layer(dtype(), kOutputs, kWidth, form);
    ExpectRight(layer);
    HostTensor x(dtype(), {kRows, kWidth}), out(dtype(), {kRows, kOutputs});
    x.FillNormal(21);
    for (const OpVariant& variant : NormLinearVariants()) {
      if (variant.dtype != dtype()) continue;
      SCOPED_TRACE(variant.variant);
      ForcedRun run("norm_linear", variant);
      const NormLinearArgs args{run.Use(x), layer.Prepared(run), run.Use(out)};
      ASSERT_TRUE(NormLinear(args, run.execution()).ok());
      run.Fetch();
      Expected expected{&out, {}, {}};
      const std::vector<double> all = x.Values();
      for (int64_t m = 0; m < kRows; ++m) {
        const ReferenceNorm norm(&all[static_cast<size_t>(m * kWidth)], kWidth, form.layer,
                                 args.eps);
        for (int64_t o = 0; o < kOutputs; ++o) {
          double value = layer.Bias(o), terms = std::abs(value), squares = 0;
          for (int64_t i = 0; i < kWidth; ++i) {
            const double normed = (x.Get(m * kWidth + i) - norm.mean) * norm.rstd;
            const double weighted = normed * layer.NormWeight(i) * layer.weight.Get(o * kWidth + i);
            const double shift = layer.NormBias(i) * layer.weight.Get(o * kWidth + i);
            value += weighted + shift;
            terms += std::abs(weighted) + std::abs(shift);
            squares += weighted * weighted;
          }
          expected.Add(value,
                       terms + 4 * half_ulp * std::sqrt(squares) / (kProductTerms * 0x1p-24));
        }
      }
      EXPECT_TRUE(AllWithin(BoundFor(dtype(), kProductTerms), expected));
    }
  }
}

class PrepareNormLinearRefusals : public RefusalTest {
 protected:
  PrepareNormLinearRefusals()
      : RefusalTest("prepare_norm_linear"),
        layer(Dtype::kBf16, 4, 8, {.norm_bias = true, .layer = true}) {
    args = layer.Args(run);
  }
  void Refused(absl::StatusCode code, const std::string& text) {
    ExpectRefused([&] { return PrepareNormLinear(args, run.execution()); }, layer.folded, code,
                  text);
  }

  Layer layer;
  PrepareNormLinearArgs args;
};

TEST_F(PrepareNormLinearRefusals, WantsTypesThatFit) {
  args.weight.dtype = Dtype::kF64;
  Refused(kUnimplemented, "weight is fp64");
  args.weight.dtype = Dtype::kBf16;
  args.norm_weight->dtype = Dtype::kF16;
  Refused(kInvalid, "norm_weight is fp16 beside bf16");
  args.norm_weight->dtype = Dtype::kBf16;
  args.prepared.weight.dtype = Dtype::kF16;
  Refused(kInvalid, "Sizes and dtype must be equal: prepared weight");
  args.prepared.weight.dtype = Dtype::kBf16;
  args.prepared.bias->dtype = Dtype::kBf16;
  Refused(kUnimplemented, "prepared bias is bf16, legal are fp32");
}

TEST_F(PrepareNormLinearRefusals, WantsSizesThatFit) {
  args.norm_bias = Slice(*args.norm_bias, 0, 0, 7);
  Refused(kInvalid, "expected [8]");
  args.norm_bias.reset();
  args.bias = Slice(*args.bias, 0, 0, 3);
  Refused(kInvalid, "expected [4]");
  args.bias.reset();
  args.prepared.sums = Slice(*args.prepared.sums, 0, 0, 3);
  Refused(kInvalid, "expected [4]");
}

TEST_F(PrepareNormLinearRefusals, WantsAPlaceForTheBias) {
  args.prepared.bias.reset();
  Refused(kInvalid, "There must be a prepared bias");
  args.bias.reset();
  Refused(kInvalid, "There must be a prepared bias");
}

TEST_F(PrepareNormLinearRefusals, WantsOutputsThatOverlapNothingOrExactlyTheWeight) {
  args.prepared.weight.data = static_cast<char*>(args.weight.data) + 2;
  Refused(kInvalid, "The output overlaps another tensor");
  args.prepared.weight = layer.folded.view();
  args.prepared.sums->data = args.prepared.bias->data;
  Refused(kInvalid, "The output overlaps another tensor");
}

}  // namespace
}  // namespace reel::kernels
