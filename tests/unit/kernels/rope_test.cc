// SPDX-License-Identifier: Apache-2.0
#include "kernels/rope/rope.h"

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "tests/unit/kernels/rope_case.h"

namespace reel::kernels {
namespace {

// Elements are off by the table's 1e-6 at most.
Bound RopeBound(Dtype dtype) { return BoundFor(dtype, 8 + 1e-6 * 0x1p24); }

class Rope1dTest : public OpTest {
 protected:
  Rope1dTest() : OpTest("rope_1d") {}

  // Over its inputs a call writes the bits that it writes apart from them.
  void ExpectInPlace(const Form1d& form, const std::vector<int64_t>& q_sizes,
                     const std::vector<int64_t>& k_sizes, const Bound& bound) {
    Case1d apart(form, dtype(), q_sizes, k_sizes);
    Case1d in_place(form, dtype(), q_sizes, k_sizes);
    ExpectMatch(apart, bound);
    ForcedRun run("rope_1d", GetParam());
    Rope1dArgs args = in_place.Args(run);
    args.q_out = args.q;
    args.k_out = args.k;
    ASSERT_TRUE(Rope1d(args, run.execution()).ok());
    run.Fetch();
    EXPECT_TRUE(SameBits(in_place.q, apart.q_out));
    EXPECT_TRUE(SameBits(in_place.k, apart.k_out));
  }
};
INSTANTIATE_TEST_SUITE_P(Variants, Rope1dTest, testing::ValuesIn(VariantsOf("rope_1d")), NameOf);

TEST_P(Rope1dTest, EqualsTheReferenceInEveryLayoutAndForm) {
  const Form1d forms[] = {{},
                          {.interleaved = false},
                          {.rotary_dim = 6},
                          {.interleaved = false, .rotary_dim = 10, .offset = 7},
                          {.rotary_dim = 0},
                          {.offset = -3},
                          {.positions = Dtype::kI32},
                          {.positions = Dtype::kI64, .batched_positions = true}};
  for (const Layout layout : AllLayouts()) {
    for (const Form1d& form : forms) {
      Case1d call(form, dtype(), {2, 5, 3, 12}, {2, 5, 1, 12}, layout);
      ExpectMatch(call, RopeBound(dtype()));
    }
  }
}

TEST_P(Rope1dTest, NormsEachHeadFirst) {
  const Form1d forms[] = {
      {.norm_eps = 1e-6},
      {.interleaved = false, .norm_eps = 1e-6, .weights = true},
      {.rotary_dim = 10, .norm_eps = 0.5, .weights = true},
      {.rotary_dim = 0, .norm_eps = 1e-6, .weights = true, .fp32_weights = true}};
  const Bound bound = BoundFor(dtype(), 8 + 16 + 1e-6 * 0x1p24);
  for (const Form1d& form : forms) {
    for (const Layout layout : AllLayouts()) {
      Case1d call(form, dtype(), {2, 5, 3, 12}, {2, 5, 1, 12}, layout);
      ExpectMatch(call, bound);
    }
    for (const int64_t width : {2, 64, 128, 258}) {
      Case1d call(form, dtype(), {1, 3, 4, width}, {1, 3, 2, width});
      if (form.rotary_dim.value_or(0) <= width) ExpectMatch(call, bound);
    }
  }
  Case1d many({.norm_eps = 1e-6, .weights = true}, dtype(), {1, 2, 300, 8}, {1, 2, 1, 8});
  ExpectMatch(many, bound);
}

TEST_P(Rope1dTest, NormsInPlace) {
  ExpectInPlace({.interleaved = false, .rotary_dim = 6, .norm_eps = 1e-6, .weights = true},
                {1, 5, 200, 8}, {1, 5, 2, 8}, BoundFor(dtype(), 8 + 16 + 1e-6 * 0x1p24));
}

TEST_P(Rope1dTest, KeepsItsPrecisionAtPositionsUpToAHundredThousand) {
  Case1d call({.positions = Dtype::kI64}, dtype(), {1, 40, 2, 64}, {1, 3, 1, 64});
  ExpectMatch(call, RopeBound(dtype()));
}

TEST_P(Rope1dTest, TurnsKByItsOwnHeadsAndLength) {
  for (const int64_t tokens : {1, 14}) {
    Case1d call({.positions = Dtype::kI32}, dtype(), {2, 7, 8, 16}, {2, tokens, 2, 16});
    ExpectMatch(call, RopeBound(dtype()));
  }
}

TEST_P(Rope1dTest, WritesInPlace) {
  for (const bool interleaved : {true, false}) {
    ExpectInPlace({.interleaved = interleaved}, {1, 5, 2, 64}, {1, 5, 2, 64}, RopeBound(dtype()));
  }
}

TEST_P(Rope1dTest, TakesEmptyTensors) {
  Case1d call({}, dtype(), {2, 0, 2, 8}, {2, 0, 1, 8});
  ExpectMatch(call, RopeBound(dtype()));
}

struct Case3d : RopeCase {
  Case3d(const std::array<int64_t, 3>& use_grid, Dtype dtype, int64_t head_width,
         const std::optional<std::array<int64_t, 3>>& use_split = std::nullopt,
         Layout layout = Layout::kContiguous)
      : RopeCase(dtype, {2, use_grid[0] * use_grid[1] * use_grid[2], 2, head_width},
                 {2, use_grid[0] * use_grid[1] * use_grid[2], 1, head_width}, layout),
        grid(use_grid),
        split(use_split) {}

  Rope3dArgs Args(ForcedRun& run) {
    Rope3dArgs args;
    args.q = run.Use(q);
    args.q_out = run.Use(q_out);
    args.k = run.Use(k);
    args.k_out = run.Use(k_out);
    args.frames = grid[0];
    args.height = grid[1];
    args.width = grid[2];
    args.split = split;
    args.theta = theta;
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return Rope3d(Args(run), run.execution()); }

  // The widths that the contract lists for its head widths.
  std::array<int64_t, 3> Widths() const {
    if (split.has_value()) return *split;
    switch (q.view().size(3)) {
      case 48:
        return {16, 16, 16};
      case 64:
        return {20, 20, 24};
      case 96:
        return {32, 32, 32};
      case 120:
        return {40, 40, 40};
      case 128:
        return {42, 42, 44};
      default:
        return {84, 84, 88};
    }
  }
  std::optional<Pair> PairOf(bool, int64_t, int64_t token, int64_t channel) const override {
    const std::array<int64_t, 3> place = {token / (grid[1] * grid[2]), token / grid[2] % grid[1],
                                          token % grid[2]};
    const auto widths = Widths();
    int64_t local = channel;
    size_t axis = 0;
    while (local >= widths[axis]) local -= widths[axis++];
    const double frequency = std::pow(
        theta[axis], -static_cast<double>(local / 2 * 2) / static_cast<double>(widths[axis]));
    return Pair{static_cast<double>(place[axis]) * frequency, channel ^ 1,
                channel % 2 == 0 ? -1.0 : 1.0};
  }

  std::array<int64_t, 3> grid;
  std::optional<std::array<int64_t, 3>> split;
  std::array<double, 3> theta = {10000, 10000, 10000};
};

class Rope3dTest : public OpTest {
 protected:
  Rope3dTest() : OpTest("rope_3d") {}
};
INSTANTIATE_TEST_SUITE_P(Variants, Rope3dTest, testing::ValuesIn(VariantsOf("rope_3d")), NameOf);

TEST_P(Rope3dTest, SplitsTheChannelsOfEveryHeadWidth) {
  for (const int64_t head_width : {48, 64, 96, 120, 128, 256}) {
    SCOPED_TRACE(head_width);
    Case3d call({2, 3, 4}, dtype(), head_width);
    ExpectMatch(call, RopeBound(dtype()));
  }
}

TEST_P(Rope3dTest, TakesAnExplicitSplitWithAxesThatDoNotTurn) {
  for (const auto& split : {std::array<int64_t, 3>{0, 8, 8}, std::array<int64_t, 3>{16, 0, 0},
                            std::array<int64_t, 3>{2, 4, 10}}) {
    Case3d call({2, 3, 2}, dtype(), 16, split);
    call.theta = {100, 1000, 500};
    ExpectMatch(call, RopeBound(dtype()));
  }
}

TEST_P(Rope3dTest, TakesEveryLayout) {
  for (const Layout layout : AllLayouts()) {
    Case3d call({2, 2, 3}, dtype(), 64, std::nullopt, layout);
    ExpectMatch(call, RopeBound(dtype()));
  }
}

TEST_P(Rope3dTest, TurnsOnlyTheChannelsOfTheAxisThatMoves) {
  Case3d call({2, 1, 1}, dtype(), 64);
  ExpectMatch(call, RopeBound(dtype()));
  for (int64_t channel = 20; channel < 64; ++channel) {
    EXPECT_EQ(call.q_out.Get(2 * 64 + channel), call.q.Get(2 * 64 + channel));
  }
}

class RopeRefusals : public RefusalTest {
 protected:
  RopeRefusals() : RefusalTest("rope_1d") {}
  Case1d flat{{}, Dtype::kF32, {2, 4, 2, 8}, {2, 4, 1, 8}};
  Case3d grid{{1, 2, 2}, Dtype::kF32, 8, std::array<int64_t, 3>{2, 2, 4}};

  void Refused(const std::function<void(Rope1dArgs&)>& change, absl::StatusCode code,
               const std::string& text) {
    Rope1dArgs args = flat.Args(run);
    change(args);
    ExpectRefused([&] { return Rope1d(args, run.execution()); }, flat.q_out, code, text);
  }
  void Refused3d(const std::function<void(Rope3dArgs&)>& change, absl::StatusCode code,
                 const std::string& text) {
    Rope3dArgs args = grid.Args(run);
    change(args);
    ExpectRefused([&] { return Rope3d(args, run.execution()); }, grid.q_out, code, text);
  }
};

TEST_F(RopeRefusals, NamesWhatDoesNotFitIn1d) {
  Refused([](auto& args) { args.rotary_dim = 5; }, kInvalid, "rotary_dim must be even");
  Refused([](auto& args) { args.rotary_dim = 10; }, kInvalid, "rotary_dim must be even");
  Refused([](auto& args) { args.theta = 0; }, kInvalid, "theta must be above zero");
  Refused([](auto& args) { args.norm_eps = -1; }, kInvalid, "eps");
  HostTensor weight(Dtype::kF32, {8}), narrow(Dtype::kF32, {7});
  Refused([&](auto& args) { args.q_weight = run.Use(weight); }, kInvalid, "needs norm_eps");
  const auto with_narrow = [&](auto& args) {
    args.norm_eps = 1e-6;
    args.q_weight = run.Use(narrow);
  };
  Refused(with_narrow, kInvalid, "q_weight");
  const auto without_k = [&](auto& args) {
    args.norm_eps = 1e-6;
    args.k = args.k_out = std::nullopt;
    args.k_weight = run.Use(weight);
  };
  Refused(without_k, kInvalid, "k_weight belongs to a k");
  Refused([](auto& args) { args.k_out.reset(); }, kInvalid, "both be given or neither");
  Refused(
      [](auto& args) {
        args.k = Slice(*args.k, 1, 0, 2);
        args.k_out = args.k;
      },
      kInvalid, "needs positions of its own");
  Refused(
      [](auto& args) {
        args.k = Slice(*args.k, 0, 0, 1);
        args.k_out = args.k;
      },
      kInvalid, "Batch, head width and dtype");
  Refused([](auto& args) { args.q_out = *args.k; }, kInvalid, "must be equal: q_out");
  Refused([](auto& args) { args.q.dtype = Dtype::kF64; }, kUnimplemented, "q is fp64");
}

TEST_F(RopeRefusals, WantsIntegerPositionsOfTheTokens) {
  HostTensor wrong_type(Dtype::kF32, {4});
  HostTensor wrong_size(Dtype::kI32, {3});
  Refused([&](auto& args) { args.positions = wrong_type.view(); }, kUnimplemented,
          "legal are int32, int64");
  Refused([&](auto& args) { args.positions = wrong_size.view(); }, kInvalid, "[S] or [B,S]");
}

TEST_F(RopeRefusals, NamesWhatDoesNotFitIn3d) {
  Refused3d([](auto& args) { args.frames = 2; }, kInvalid, "as many places as there are tokens");
  Refused3d([](auto& args) { args.split = {{3, 1, 4}}; }, kInvalid, "The split must be even");
  Refused3d([](auto& args) { args.split = {{2, 2, 2}}; }, kInvalid, "sum to the head width");
  Refused3d([](auto& args) { args.theta[1] = -1; }, kInvalid, "theta must be above zero");
}

}  // namespace
}  // namespace reel::kernels
