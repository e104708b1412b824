// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/fused_norms.h"
#include "tests/unit/kernels/norm_test.h"

namespace reel::kernels {
namespace {

// What is optional about a call. A plain one has nothing added to its vectors.
struct Form {
  std::optional<size_t> gate = 2;  // index into VectorForms: [B,1,D]
  bool biased = true;
  size_t modulation = 2;  // as the gate's
};

// The names of NormCase: the sub-layer's output is its residual, the gate its residual_gate.
struct GateCase : NormCase {
  GateCase(Dtype dtype, const std::vector<int64_t>& x, Layout layout = Layout::kContiguous,
           const Form& form = {}, NormKind kind = NormKind::kNone)
      : NormCase(kind, 1e-6, dtype, x, layout) {
    AddRows("residual");
    AddRows("sum");
    if (!form.gate.has_value()) return;
    AddVector("residual_gate", dtype, VectorForms(x)[*form.gate]);
    if (form.biased) AddVector("residual_gate_bias", Dtype::kF32, {width()});
  }
  FusedArgs Args(ForcedRun& run) {
    return {.x = Use(run, "x"),
            .residual = Use(run, "residual"),
            .residual_gate = Maybe(run, "residual_gate"),
            .residual_gate_bias = Maybe(run, "residual_gate_bias"),
            .sum = Use(run, "sum")};
  }
  absl::Status Call(ForcedRun& run) override { return GateResidual(Args(run), run.execution()); }
};

struct AdalnCase : GateCase {
  AdalnCase(Dtype dtype, const std::vector<int64_t>& x, Layout layout = Layout::kContiguous,
            const Form& form = {})
      : GateCase(dtype, x, layout, form, NormKind::kRms) {
    AddRows("out");
    for (const std::string name : {"scale", "shift"}) {
      AddVector(name, dtype, VectorForms(x)[form.modulation]);
      if (form.biased) AddVector(name + "_bias", dtype, {width()});
    }
  }
  FusedArgs AdalnArgs(ForcedRun& run) {
    return {.x = Use(run, "x"),
            .residual = Use(run, "residual"),
            .residual_gate = Maybe(run, "residual_gate"),
            .residual_gate_bias = Maybe(run, "residual_gate_bias"),
            .scale = Maybe(run, "scale"),
            .scale_bias = Maybe(run, "scale_bias"),
            .shift = Maybe(run, "shift"),
            .shift_bias = Maybe(run, "shift_bias"),
            .sum = Use(run, "sum"),
            .out = Use(run, "out"),
            .eps = eps(),
            .out_scale = Maybe(run, "out_scale"),
            .static_out_scale = fixed_scale()};
  }
  absl::Status Call(ForcedRun& run) override {
    return GateResidualAdaln(AdalnArgs(run), run.execution());
  }
};

// An output in codes, as models call it.
template <Dtype kCodes>
struct CodedCase : AdalnCase {
  CodedCase(Dtype dtype, const std::vector<int64_t>& x, Layout layout = Layout::kContiguous,
            std::optional<double> fixed_scale = std::nullopt, std::optional<size_t> gate_form = 2)
      : AdalnCase(dtype, x, layout, {.gate = gate_form, .biased = false}) {
    MakeOutCodes(kCodes, fixed_scale);
  }
};
using E4m3Case = CodedCase<Dtype::kE4m3>;
using Int8Case = CodedCase<Dtype::kI8>;

class GateResidualTest : public NormTest {
 protected:
  GateResidualTest() : NormTest("gate_residual") {}
  Form usual() const { return {.biased = takes_more_than_plain()}; }
  Make make = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<GateCase>(dtype(), sizes, layout, usual());
  };
};
class GateResidualAdalnTest : public NormTest {
 protected:
  GateResidualAdalnTest() : NormTest("gate_residual_adaln") {}
  Form usual() const { return {.biased = takes_more_than_plain()}; }
  Make make = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<AdalnCase>(dtype(), sizes, layout, usual());
  };

  // The sum in x.
  template <typename Case>
  void ExpectAddsInPlace() {
    Case apart(dtype(), {2, 3, 2048});
    Case in_place(dtype(), {2, 3, 2048});
    ExpectMatch(apart, NormBound(apart));
    ForcedRun run("gate_residual_adaln", GetParam());
    FusedArgs args = in_place.AdalnArgs(run);
    args.sum = args.x;
    ASSERT_TRUE(GateResidualAdaln(args, run.execution()).ok());
    run.Fetch();
    EXPECT_TRUE(SameBits(in_place["x"], apart["sum"]));
    EXPECT_TRUE(SameBits(in_place["out"], apart["out"]));
    EXPECT_TRUE(SameBits(in_place["out_scale"], apart["out_scale"]));
  }
};

class GateResidualAdalnE4m3Test : public GateResidualAdalnTest {};
class GateResidualAdalnInt8Test : public GateResidualAdalnTest {};

INSTANTIATE_TEST_SUITE_P(Variants, GateResidualTest, testing::ValuesIn(VariantsOf("gate_residual")),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, GateResidualAdalnTest,
                         testing::ValuesIn(VariantsOf("gate_residual_adaln")), NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, GateResidualAdalnE4m3Test,
                         testing::ValuesIn(E4m3VariantsOf("gate_residual_adaln")), NameOf);
INSTANTIATE_TEST_SUITE_P(Variants, GateResidualAdalnInt8Test,
                         testing::ValuesIn(Int8VariantsOf("gate_residual_adaln")), NameOf);

TEST_P(GateResidualTest, EqualsTheReferenceAtEveryWidth) { ExpectMatchesAtEveryWidth(make); }
TEST_P(GateResidualTest, EqualsTheReferenceInEveryLayout) { ExpectMatchesInEveryLayout(make); }
TEST_P(GateResidualTest, TakesEmptyTensors) { ExpectTakesEmptyTensors(make); }
TEST_P(GateResidualAdalnTest, EqualsTheReferenceAtEveryWidth) { ExpectMatchesAtEveryWidth(make); }
TEST_P(GateResidualAdalnTest, EqualsTheReferenceInEveryLayout) { ExpectMatchesInEveryLayout(make); }
TEST_P(GateResidualAdalnTest, GivesARowTheSameBitsAlone) { ExpectSameBitsAlone(make); }
TEST_P(GateResidualAdalnTest, TakesEmptyTensors) { ExpectTakesEmptyTensors(make); }

TEST_P(GateResidualTest, TakesEveryFormOfItsGateAndNone) {
  for (size_t form = 0; form < 4; ++form) {
    GateCase biased(dtype(), {2, 3, 64}, Layout::kContiguous, {.gate = form});
    ExpectMatchUnlessPlain(biased, NormBound(biased));
    GateCase plain(dtype(), {2, 3, 64}, Layout::kContiguous, {.gate = form, .biased = false});
    ExpectMatch(plain, NormBound(plain));
  }
  GateCase gateless(dtype(), {2, 3, 64}, Layout::kContiguous, {.gate = std::nullopt});
  ExpectMatch(gateless, NormBound(gateless));
}

// As every block of LTX-Video calls it.
TEST_P(GateResidualAdalnTest, NeedsNoGate) {
  const auto gateless = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<AdalnCase>(dtype(), sizes, layout,
                                       Form{.gate = std::nullopt, .biased = false});
  };
  ExpectMatchesAtEveryWidth(gateless);
  ExpectMatchesInEveryLayout(gateless);
  ExpectSameBitsAlone(gateless);
  AdalnCase biased(dtype(), {2, 3, 64}, Layout::kContiguous, {.gate = std::nullopt});
  ExpectMatchUnlessPlain(biased, NormBound(biased));
}

// The same bits as with that gate written out for each row.
TEST_P(GateResidualTest, TakesForEachRowTheGateThatItIsTold) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{2, 3, 64}, std::vector<int64_t>{1, 33, 2048}}) {
    const Form form = {.gate = 3, .biased = false};
    GateCase spread(dtype(), sizes, Layout::kContiguous, form);
    GateCase told(dtype(), sizes, Layout::kContiguous, form);
    ToldVectors vectors(spread, dtype());
    vectors.Write(spread, "residual_gate");
    ExpectMatch(spread, NormBound(spread));
    ForcedRun run("gate_residual", GetParam());
    FusedArgs args = told.Args(run);
    args.residual_gate = vectors.Use(run, "residual_gate");
    args.vector_of = vectors.UseVectorOf(run);
    ASSERT_TRUE(GateResidual(args, run.execution()).ok());
    run.Fetch();
    EXPECT_TRUE(SameBits(told["sum"], spread["sum"]));
  }
}

// With a gate and without, to codes or not.
void ExpectRowsTakeWhatTheyAreTold(const OpVariant& variant, bool has_gate,
                                   std::optional<Dtype> codes) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{2, 3, 64}, std::vector<int64_t>{1, 33, 2048}}) {
    if (codes == Dtype::kI8 && !TakesInt8(variant, sizes.back())) continue;
    SCOPED_TRACE(testing::Message() << has_gate << codes.has_value() << sizes.back());
    Form form = {.gate = 3, .biased = false, .modulation = 3};
    if (!has_gate) form.gate.reset();
    AdalnCase spread(variant.dtype, sizes, Layout::kContiguous, form);
    AdalnCase told(variant.dtype, sizes, Layout::kContiguous, form);
    ToldVectors vectors(spread, variant.dtype);
    for (const char* name : {"scale", "shift", "residual_gate"}) {
      if (spread.Has(name)) vectors.Write(spread, name);
    }
    for (AdalnCase* call : {&spread, &told}) {
      if (codes.has_value()) call->MakeOutCodes(*codes);
      ForcedRun run("gate_residual_adaln", variant);
      FusedArgs args = call->AdalnArgs(run);
      if (call == &told) {
        if (has_gate) args.residual_gate = vectors.Use(run, "residual_gate");
        args.scale = vectors.Use(run, "scale");
        args.shift = vectors.Use(run, "shift");
        args.vector_of = vectors.UseVectorOf(run);
      }
      ASSERT_TRUE(GateResidualAdaln(args, run.execution()).ok());
      run.Fetch();
    }
    for (const char* name : {"sum", "out"}) EXPECT_TRUE(SameBits(told[name], spread[name]));
    if (!codes.has_value()) continue;
    EXPECT_TRUE(SameBits(told["out_scale"], spread["out_scale"]));
  }
}

TEST_P(GateResidualAdalnTest, TakesForEachRowTheVectorsThatItIsTold) {
  for (const bool has_gate : {true, false}) {
    ExpectRowsTakeWhatTheyAreTold(GetParam(), has_gate, std::nullopt);
  }
}
TEST_P(GateResidualAdalnE4m3Test, TakesForEachRowTheVectorsThatItIsTold) {
  for (const bool has_gate : {true, false}) {
    ExpectRowsTakeWhatTheyAreTold(GetParam(), has_gate, Dtype::kE4m3);
  }
}
TEST_P(GateResidualAdalnInt8Test, TakesForEachRowTheVectorsThatItIsTold) {
  for (const bool has_gate : {true, false}) {
    ExpectRowsTakeWhatTheyAreTold(GetParam(), has_gate, Dtype::kI8);
  }
}

TEST_P(GateResidualAdalnInt8Test, EqualsTheReferenceWithAGateAndWithout) {
  for (const std::optional<size_t> gate : {std::optional<size_t>(2), std::optional<size_t>()}) {
    ExpectInt8([&](const std::vector<int64_t>& sizes, Layout layout) {
      return std::make_unique<Int8Case>(dtype(), sizes, layout, std::nullopt, gate);
    });
  }
}

TEST_P(GateResidualAdalnTest, AddsInPlace) {
  AdalnCase apart(dtype(), {2, 3, 64}, Layout::kContiguous, usual());
  AdalnCase in_place(dtype(), {2, 3, 64}, Layout::kContiguous, usual());
  ExpectMatch(apart, NormBound(apart));
  ForcedRun run("gate_residual_adaln", GetParam());
  FusedArgs args = in_place.AdalnArgs(run);
  args.sum = args.x;
  ASSERT_TRUE(GateResidualAdaln(args, run.execution()).ok());
  run.Fetch();
  EXPECT_TRUE(SameBits(in_place["x"], apart["sum"]));
  EXPECT_TRUE(SameBits(in_place["out"], apart["out"]));
}

TEST_P(GateResidualAdalnTest, LeavesE4m3ToOthersUnlessItTakesEverything) {
  E4m3Case call(dtype(), {2, 3, 64});
  EXPECT_EQ(Matches(call, NormBound(call)), TakesEverything(GetParam()));
}

TEST_P(GateResidualAdalnE4m3Test, EqualsTheReference) {
  const auto as_e4m3 = [this](const std::vector<int64_t>& sizes, Layout layout) {
    return std::make_unique<E4m3Case>(dtype(), sizes, layout);
  };
  ExpectMatchesAtEveryWidth(as_e4m3);
  ExpectMatchesInEveryLayout(as_e4m3);
  ExpectSameBitsAlone(as_e4m3);
  ExpectTakesEmptyTensors(as_e4m3);
}

TEST_P(GateResidualAdalnE4m3Test, NeedsNoGate) {
  for (const int64_t width : {64, 2048}) {
    E4m3Case call(dtype(), {2, 3, width}, Layout::kContiguous, std::nullopt, std::nullopt);
    ExpectMatch(call, NormBound(call));
  }
}

TEST_P(GateResidualAdalnE4m3Test, TakesOneScaleForAllAndBiases) {
  for (const double scale : {0.013, 1e25}) {
    E4m3Case call(dtype(), {2, 3, 64}, Layout::kContiguous, scale);
    EXPECT_EQ(Matches(call, NormBound(call)), TakesEverything(GetParam()) || scale < 1);
  }
  AdalnCase biased(dtype(), {2, 3, 64});
  biased.MakeOutCodes(Dtype::kE4m3);
  EXPECT_EQ(Matches(biased, NormBound(biased)), TakesEverything(GetParam()));
}

TEST_P(GateResidualAdalnE4m3Test, AddsInPlace) { ExpectAddsInPlace<E4m3Case>(); }
TEST_P(GateResidualAdalnInt8Test, AddsInPlace) {
  if (TakesInt8(GetParam(), 2048)) ExpectAddsInPlace<Int8Case>();
}

class GateRefusals : public RefusalTest {
 protected:
  GateRefusals() : RefusalTest("gate_residual"), call(Dtype::kF32, {2, 2, 8}) {}
  AdalnCase call;
};

TEST_F(GateRefusals, NamesWhatDoesNotFit) {
  const auto refused = [&](auto change, absl::StatusCode code, const std::string& text) {
    FusedArgs args = call.Args(run);
    change(args);
    ExpectRefused([&] { return GateResidual(args, run.execution()); }, call["sum"], code, text);
  };
  refused([](auto& args) { args.residual_gate.reset(); }, kInvalid, "A bias is given without");
  HostTensor told(Dtype::kI32, {2, 2});
  refused(
      [&](auto& args) {
        args.vector_of = told.view();
        args.residual_gate.reset();
      },
      kInvalid, "A bias is given without");
  refused([](auto& args) { args.residual = Slice(*args.residual, 1, 0, 1); }, kInvalid,
          "must be equal: y");
  refused([](auto& args) { args.sum = args.residual; }, kInvalid, "overlaps another tensor");
  refused([](auto& args) { args.residual->dtype = Dtype::kE4m3; }, kUnimplemented, "y is e4m3");
}

TEST_F(GateRefusals, WantsOneScaleForAnE4m3Output) {
  E4m3Case e4m3(Dtype::kF32, {2, 2, 8});
  FusedArgs args = e4m3.AdalnArgs(run);
  const auto refused = [&](const std::string& text) {
    ExpectRefused([&] { return GateResidualAdaln(args, run.execution()); }, e4m3["out"], kInvalid,
                  text);
  };
  args.out_scale = Slice(*args.out_scale, 1, 0, 1);
  refused("one scale for every row");
  args.out_scale = args.sum;
  refused("out_scale has rank 3");
  args.out_scale.reset();
  refused("one of them must be given");
  args.static_out_scale = -2;
  refused("static_out_scale must be finite and above zero");
  args = call.AdalnArgs(run);
  args.static_out_scale = 2;
  refused("belong to an output in codes: out is fp32");
}

TEST_F(GateRefusals, WantsScaleAndShiftForTheNorm) {
  FusedArgs args = call.AdalnArgs(run);
  args.shift.reset();
  ExpectRefused([&] { return GateResidualAdaln(args, run.execution()); }, call["out"], kInvalid,
                "must both be given");
}

}  // namespace
}  // namespace reel::kernels
