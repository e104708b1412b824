// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_norms.h"
#include "tests/unit/kernels/norm_test.h"

namespace reel::kernels {
namespace {

// Which operator, and which of the vectors' forms.
struct Form {
  std::string op = "adaln_rms_norm";
  size_t vector_form = 2;  // index into VectorForms: [B,1,D]
  bool affine = true;
  bool biased = true;  // scale_bias and its kind
  bool fp32_vectors = false;
  std::optional<Dtype> codes = std::nullopt;  // of the output, with a scale for each row
  std::optional<double> static_scale = std::nullopt;
};

struct Case : NormCase {
  Case(const Form& use, Dtype dtype, const std::vector<int64_t>& x,
       Layout layout = Layout::kContiguous)
      : NormCase(use.op == "adaln_layer_norm" ? NormKind::kLayer : NormKind::kRms, 1e-6, dtype, x,
                 layout),
        form(use) {
    AddRows("out");
    if (use.codes.has_value()) MakeOutCodes(*use.codes, use.static_scale);
    const Dtype vectors = use.fp32_vectors ? Dtype::kF32 : dtype;
    if (use.affine) AddVector("weight", vectors, {width()});
    if (use.affine && use.op == "adaln_layer_norm") AddVector("bias", vectors, {width()});
    for (const std::string name : {"scale", "shift", "gate"}) {
      if (name == "gate" && use.op != "adaln_zero") continue;
      AddVector(name, vectors, VectorForms(x)[use.vector_form]);
      if (use.biased) AddVector(name + "_bias", vectors, {width()});
    }
  }

  FusedArgs Fill(ForcedRun& run) {
    FusedArgs args;
    args.x = Use(run, "x");
    args.weight = Maybe(run, "weight");
    args.scale = Maybe(run, "scale");
    args.shift = Maybe(run, "shift");
    args.scale_bias = Maybe(run, "scale_bias");
    args.shift_bias = Maybe(run, "shift_bias");
    args.out = Use(run, "out");
    args.eps = eps();
    args.out_scale = Maybe(run, "out_scale");
    args.static_out_scale = fixed_scale();
    return args;
  }

  absl::Status Call(ForcedRun& run) override {
    if (form.op == "adaln_rms_norm") {
      return AdalnRmsNorm(Fill(run), run.execution());
    }
    if (form.op == "adaln_layer_norm") {
      auto args = Fill(run);
      args.bias = Maybe(run, "bias");
      return AdalnLayerNorm(args, run.execution());
    }
    auto args = Fill(run);
    args.gate = Maybe(run, "gate");
    args.gate_bias = Maybe(run, "gate_bias");
    return AdalnZero(args, run.execution());
  }

  Form form;
};

// One fixture for the three operators: the suites differ by their name alone.
template <const char* kOp>
class AdalnTest : public NormTest {
 protected:
  AdalnTest() : NormTest(kOp) {}

  void ExpectEverything() {
    ExpectMatchesAtEveryWidth(make);
    ExpectMatchesInEveryLayout(make);
    ExpectSameBitsAlone(make);
    ExpectTakesEmptyTensors(make);
  }
  void ExpectEveryForm() {
    for (size_t form = 0; form < 4; ++form) {
      for (const bool affine : {false, true}) {
        for (const bool fp32_vectors : {false, true}) {
          SCOPED_TRACE(testing::Message() << form << affine << fp32_vectors);
          Case call({.op = kOp,
                     .vector_form = form,
                     .affine = affine,
                     .biased = affine,
                     .fp32_vectors = fp32_vectors},
                    dtype(), {2, 3, 64});
          if (affine || (fp32_vectors && dtype() != Dtype::kF32)) {
            ExpectMatchUnlessPlain(call, NormBound(call));
          } else {
            ExpectMatch(call, NormBound(call));
          }
        }
      }
    }
  }

  // The same bits as with that vector written out for each row.
  void ExpectRowsTakeWhatTheyAreTold(std::optional<Dtype> codes) {
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{2, 3, 64}, std::vector<int64_t>{1, 33, 2048},
          std::vector<int64_t>{1, 1, 4096}}) {
      if (codes == Dtype::kI8 && !TakesInt8(GetParam(), sizes.back())) continue;
      const Form form = {
          .op = kOp, .vector_form = 3, .affine = false, .biased = false, .codes = codes};
      Case spread(form, dtype(), sizes), told(form, dtype(), sizes);
      ToldVectors vectors(spread, dtype());
      for (const char* name : {"scale", "shift"}) vectors.Write(spread, name);
      ExpectMatch(spread, NormBound(spread));
      ForcedRun run(kOp, GetParam());
      auto args = told.Fill(run);
      args.scale = vectors.Use(run, "scale");
      args.shift = vectors.Use(run, "shift");
      args.vector_of = vectors.UseVectorOf(run);
      ASSERT_TRUE(AdalnRmsNorm(args, run.execution()).ok());
      run.Fetch();
      EXPECT_TRUE(SameBits(told["out"], spread["out"]));
      if (!codes.has_value()) continue;
      EXPECT_TRUE(SameBits(told["out_scale"], spread["out_scale"]));
    }
  }

  // As models call it, a plain one: without a weight, and nothing added to the vectors.
  Form usual() const {
    return {.op = kOp, .affine = takes_more_than_plain(), .biased = takes_more_than_plain()};
  }
  Make make = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<Case>(usual(), dtype(), sizes, layout);
  };
};

constexpr char kRms[] = "adaln_rms_norm";
constexpr char kLayer[] = "adaln_layer_norm";
constexpr char kZero[] = "adaln_zero";
using AdalnRmsNormTest = AdalnTest<kRms>;
using AdalnLayerNormTest = AdalnTest<kLayer>;
using AdalnZeroTest = AdalnTest<kZero>;
class AdalnRmsNormE4m3Test : public AdalnRmsNormTest {};
class AdalnRmsNormInt8Test : public AdalnRmsNormTest {};

INSTANTIATE_TEST_SUITE_P(Variants, AdalnRmsNormTest, testing::ValuesIn(VariantsOf(kRms)), NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, AdalnRmsNormE4m3Test, testing::ValuesIn(E4m3VariantsOf(kRms)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, AdalnRmsNormInt8Test, testing::ValuesIn(Int8VariantsOf(kRms)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, AdalnLayerNormTest, testing::ValuesIn(VariantsOf(kLayer)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, AdalnZeroTest, testing::ValuesIn(VariantsOf(kZero)), NameOf);

TEST_P(AdalnRmsNormTest, EqualsTheReference) { ExpectEverything(); }
TEST_P(AdalnLayerNormTest, EqualsTheReference) { ExpectEverything(); }
TEST_P(AdalnZeroTest, EqualsTheReference) { ExpectEverything(); }
TEST_P(AdalnRmsNormTest, TakesEveryFormOfItsVectors) { ExpectEveryForm(); }
TEST_P(AdalnLayerNormTest, TakesEveryFormOfItsVectors) { ExpectEveryForm(); }
TEST_P(AdalnZeroTest, TakesEveryFormOfItsVectors) { ExpectEveryForm(); }

TEST_P(AdalnRmsNormTest, TakesForEachRowTheVectorThatItIsTold) {
  ExpectRowsTakeWhatTheyAreTold(std::nullopt);
}
TEST_P(AdalnRmsNormE4m3Test, TakesForEachRowTheVectorThatItIsTold) {
  ExpectRowsTakeWhatTheyAreTold(Dtype::kE4m3);
}
TEST_P(AdalnRmsNormInt8Test, TakesForEachRowTheVectorThatItIsTold) {
  ExpectRowsTakeWhatTheyAreTold(Dtype::kI8);
}

Form FormIn(Dtype codes) { return {.affine = false, .biased = false, .codes = codes}; }

TEST_P(AdalnRmsNormTest, LeavesE4m3ToOthersUnlessItTakesEverything) {
  Case call(FormIn(Dtype::kE4m3), dtype(), {2, 3, 64});
  EXPECT_EQ(Matches(call, NormBound(call)), TakesEverything(GetParam()));
}

TEST_P(AdalnRmsNormE4m3Test, EqualsTheReference) {
  const auto as_e4m3 = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<Case>(FormIn(Dtype::kE4m3), dtype(), sizes, layout);
  };
  ExpectMatchesAtEveryWidth(as_e4m3);
  ExpectMatchesInEveryLayout(as_e4m3);
  ExpectSameBitsAlone(as_e4m3);
  ExpectTakesEmptyTensors(as_e4m3);
}

TEST_P(AdalnRmsNormInt8Test, EqualsTheReference) {
  ExpectInt8([this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<Case>(FormIn(Dtype::kI8), dtype(), sizes, layout);
  });
}

TEST_P(AdalnRmsNormE4m3Test, TakesEveryFormOfItsVectors) {
  for (size_t vector_form = 0; vector_form < 4; ++vector_form) {
    for (const bool affine : {false, true}) {
      for (const std::optional<double> scale : {std::optional<double>(), {0.013}, {1e25}}) {
        SCOPED_TRACE(testing::Message() << vector_form << affine << scale.value_or(0));
        Case call({.vector_form = vector_form,
                   .affine = affine,
                   .biased = affine,
                   .fp32_vectors = affine,
                   .codes = Dtype::kE4m3,
                   .static_scale = scale},
                  dtype(), {2, 3, 64});
        EXPECT_TRUE(Matches(call, NormBound(call)) || affine || scale == 1e25);
      }
    }
  }
}

TEST_P(AdalnRmsNormE4m3Test, ShowsRowsThatAreNotFinite) {
  for (const double value : {HUGE_VAL, std::nan("")}) {
    Case call(FormIn(Dtype::kE4m3), dtype(), {2, 3, 2048});
    call["x"].Set(2048 + 1027, value);
    ExpectMatch(call, NormBound(call));
    EXPECT_TRUE(std::isnan(call["out_scale"].Get(1)));
    EXPECT_TRUE(std::isfinite(call["out_scale"].Get(0)));
  }
}

TEST_P(AdalnRmsNormTest, TakesASliceOfAModulationTableAsItIs) {
  // Rows 1 and 0 of a table [B,1,6,D] are scale and shift: their batch stride is 6 D.
  Case call(usual(), dtype(), {2, 3, 64});
  HostTensor table(dtype(), {2, 1, 6, 64});
  table.FillNormal(9);
  ForcedRun run("adaln_rms_norm", GetParam());
  auto args = call.Fill(run);
  const auto row = [&](int64_t index) {
    TensorView view = Slice(run.Use(table), 2, index, 1);
    view.rank = 3;
    view.sizes = {2, 1, 64};
    view.strides = {6 * 64, 6 * 64, 1};
    return view;
  };
  args.shift = row(0);
  args.scale = row(1);
  ASSERT_TRUE(AdalnRmsNorm(args, run.execution()).ok());
  run.Fetch();
  for (int64_t i = 0; i < 128; ++i) {
    call["shift"].Set(i, table.Get(i / 64 * 384 + i % 64));
    call["scale"].Set(i, table.Get(i / 64 * 384 + 64 + i % 64));
  }
  for (const Expected& expected : call.Reference()) {
    EXPECT_TRUE(AllWithin(NormBound(call), expected));
  }
}

TEST_P(AdalnRmsNormTest, KeepsItsBoundWhereTheTermsNearlyCancel) {
  Case call({.vector_form = 3, .affine = false, .biased = false}, dtype(), {1, 2, 64});
  call["x"].SetAll([](int64_t i) { return i % 2 == 0 ? 1.0 : -1.0; });
  call["scale"].SetAll([](int64_t) { return 3.0; });
  call["shift"].SetAll([](int64_t i) { return i % 2 == 0 ? -4.0 : 4.0; });
  ExpectMatch(call, NormBound(call));
}

class AdalnRefusals : public RefusalTest {
 protected:
  AdalnRefusals() : RefusalTest("adaln_rms_norm"), call({}, Dtype::kBf16, {2, 2, 8}) {}
  template <typename Change>
  void Refused(Change change, absl::StatusCode code, const std::string& text) {
    auto args = call.Fill(run);
    change(args);
    ExpectRefused([&] { return AdalnRmsNorm(args, run.execution()); }, call["out"], code, text);
  }
  Case call;
};

TEST_F(AdalnRefusals, WantsScaleAndShift) {
  Refused([](auto& args) { args.scale.reset(); }, kInvalid, "must both be given");
}
TEST_F(AdalnRefusals, TakesARankTwoVectorAsOneRowPerBatch) {
  // [S,D] of four tokens beside a batch of two: ambiguous, so refused.
  HostTensor vector(Dtype::kBf16, {4, 8});
  Refused([&](auto& args) { args.scale = vector.view(); }, kInvalid,
          "legal are [8], [2, 8], [2, 1, 8], [2, 2, 8]");
}
TEST_F(AdalnRefusals, WantsRankThree) {
  Refused([](auto& args) { args.out = args.x = Contiguous(args.x.data, Dtype::kBf16, {4, 8}); },
          kInvalid, "legal are 3 to 3");
}
TEST_F(AdalnRefusals, WantsAnOutputOfItsOwn) {
  Refused([](auto& args) { args.out = args.x; }, kInvalid, "The output overlaps another tensor");
}
TEST_F(AdalnRefusals, NamesAMixOfDtypes) {
  Refused([](auto& args) { args.shift->dtype = Dtype::kF16; }, kInvalid, "shift is fp16");
  Refused([](auto& args) { args.scale->dtype = Dtype::kF64; }, kUnimplemented, "scale is fp64");
}
TEST_F(AdalnRefusals, WantsOneScaleForAnE4m3Output) {
  Case e4m3({.codes = Dtype::kE4m3}, Dtype::kBf16, {2, 2, 8});
  auto args = e4m3.Fill(run);
  const auto refused = [&](const std::string& text) {
    ExpectRefused([&] { return AdalnRmsNorm(args, run.execution()); }, e4m3["out"], kInvalid, text);
  };
  args.static_out_scale = 1;
  refused("one of them must be given");
  args.out_scale.reset();
  args.static_out_scale = 0;
  refused("static_out_scale must be finite and above zero");
  args.static_out_scale.reset();
  refused("one of them must be given");
  Refused([&](auto& plain) { plain.static_out_scale = 1; }, kInvalid,
          "belong to an output in codes: out is bf16");
}
TEST_F(AdalnRefusals, WantsWholeGroupsAndAScaleOfItsOwnForAnInt8Output) {
  const auto refused = [&](int64_t width, auto change, const std::string& text) {
    Case int8({.codes = Dtype::kI8}, Dtype::kBf16, {2, 2, width});
    auto args = int8.Fill(run);
    change(args);
    ExpectRefused([&] { return AdalnRmsNorm(args, run.execution()); }, int8["out"], kInvalid, text);
  };
  refused(48, [](auto&) {}, "The width of an int8 output must be a multiple of 32");
  refused(32, [](auto& args) { args.static_out_scale = 1; }, "and no static one");
  refused(32, [](auto& args) { args.out_scale.reset(); }, "has an out_scale of its own");
}
TEST_F(AdalnRefusals, WantsAListForRowsThatAreToldTheirVectors) {
  HostTensor told(Dtype::kI32, {2, 2}), list(Dtype::kBf16, {3, 1, 8});
  const auto refused = [&](auto change, const std::string& text) {
    Refused(
        [&](auto& args) {
          args.vector_of = told.view();
          args.scale = args.shift = list.view();
          change(args);
        },
        kInvalid, text);
  };
  HostTensor few(Dtype::kI32, {2, 1}), wide(Dtype::kI32, {2, 4}),
      per_token(Dtype::kBf16, {3, 2, 8});
  refused([&](auto& args) { args.vector_of = few.view(); }, "vector_of");
  refused([&](auto& args) { args.vector_of = Slice(wide.view(), 1, 0, 2); }, "must be contiguous");
  refused([&](auto& args) { args.shift = per_token.view(); }, "legal are [M, 8] and [M, 1, 8]");
  refused([&](auto& args) { args.scale.reset(); }, "must both be given");
}
TEST_F(AdalnRefusals, WantsAGateForAdalnZero) {
  auto args = call.Fill(run);
  ExpectRefused([&] { return AdalnZero(args, run.execution()); }, call["out"], kInvalid,
                "A gate must be given");
}

}  // namespace
}  // namespace reel::kernels
