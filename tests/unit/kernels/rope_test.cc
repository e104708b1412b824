// SPDX-License-Identifier: Apache-2.0
#include "kernels/rope/rope.h"

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

// q and k with what the rotations of both operators have in common: an angle for (batch, token,
// channel), in fp64, and the channel that it is paired with.
struct RopeCase : OpCase {
  RopeCase(Dtype dtype, const std::vector<int64_t>& q_sizes, const std::vector<int64_t>& k_sizes,
           Layout layout)
      : q(dtype, q_sizes, layout),
        q_out(dtype, q_sizes, layout),
        k(dtype, k_sizes, layout),
        k_out(dtype, k_sizes, layout) {
    q.FillNormal(1);
    k.FillNormal(2);
  }

  struct Pair {
    double angle;
    int64_t partner;
    double sign;  // of the sine's term
  };
  virtual std::optional<Pair> PairOf(bool is_k, int64_t batch, int64_t token,
                                     int64_t channel) const = 0;

  Expected ReferenceOf(bool is_k) const {
    const HostTensor& in = is_k ? k : q;
    Expected expected{is_k ? &k_out : &q_out, {}, {}};
    const TensorView view = in.view();
    for (int64_t i = 0; i < in.size(); ++i) {
      const int64_t channel = i % view.size(3);
      const int64_t token = i / view.size(3) / view.size(2) % view.size(1);
      const int64_t batch = i / view.size(3) / view.size(2) / view.size(1);
      const auto pair = PairOf(is_k, batch, token, channel);
      const double x = in.Get(i);
      if (!pair.has_value()) {
        expected.Add(x, 0);
        continue;
      }
      const double other = in.Get(i - channel + pair->partner);
      expected.Add(x * std::cos(pair->angle) + pair->sign * other * std::sin(pair->angle),
                   std::abs(x) + std::abs(other));
    }
    return expected;
  }
  std::vector<Expected> Reference() const override {
    return {ReferenceOf(false), ReferenceOf(true)};
  }

  HostTensor q, q_out, k, k_out;
};

struct Form1d {
  bool interleaved = true;
  std::optional<int64_t> rotary_dim = std::nullopt;
  int64_t offset = 0;
  std::optional<Dtype> positions = std::nullopt;
  bool batched_positions = false;
};

struct Case1d : RopeCase {
  Case1d(const Form1d& use, Dtype dtype, const std::vector<int64_t>& q_sizes,
         const std::vector<int64_t>& k_sizes, Layout layout = Layout::kContiguous)
      : RopeCase(dtype, q_sizes, k_sizes, layout), form(use) {
    if (!use.positions.has_value()) return;
    positions.emplace_back(*use.positions, PositionSizes(q_sizes));
    positions.emplace_back(*use.positions, PositionSizes(k_sizes));
    positions[0].SetAll([](int64_t i) { return static_cast<double>(i * 4099 % 100000); });
    positions[1].SetAll([](int64_t i) { return static_cast<double>(i * 1031 % 5000); });
  }
  std::vector<int64_t> PositionSizes(const std::vector<int64_t>& sizes) const {
    if (form.batched_positions) return {sizes[0], sizes[1]};
    return {sizes[1]};
  }
  int64_t rotary() const { return form.rotary_dim.value_or(q.view().size(3)); }

  Rope1dArgs Args(ForcedRun& run) {
    Rope1dArgs args;
    args.q = run.Use(q);
    args.q_out = run.Use(q_out);
    args.k = run.Use(k);
    args.k_out = run.Use(k_out);
    if (form.positions.has_value()) {
      args.positions = run.Use(positions[0]);
      args.k_positions = run.Use(positions[1]);
    }
    args.offset = form.offset;
    args.rotary_dim = form.rotary_dim;
    args.interleaved = form.interleaved;
    return args;
  }
  absl::Status Call(ForcedRun& run) override { return Rope1d(Args(run), run.execution()); }

  std::optional<Pair> PairOf(bool is_k, int64_t batch, int64_t token,
                             int64_t channel) const override {
    if (channel >= rotary()) return std::nullopt;
    double position = static_cast<double>(token);
    if (form.positions.has_value()) {
      const HostTensor& given = positions[is_k ? 1 : 0];
      position =
          given.Get(form.batched_positions ? batch * (is_k ? k : q).view().size(1) + token : token);
    }
    const int64_t half = rotary() / 2;
    const int64_t pair = form.interleaved ? channel / 2 : channel % half;
    const bool first = form.interleaved ? channel % 2 == 0 : channel < half;
    const int64_t partner = form.interleaved ? channel ^ 1 : (channel + half) % rotary();
    const double frequency =
        std::pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(rotary()));
    return Pair{(position + static_cast<double>(form.offset)) * frequency, partner,
                first ? -1.0 : 1.0};
  }

  Form1d form;
  std::vector<HostTensor> positions;
};

// Elements are off by the table's 1e-6 at most.
Bound RopeBound(Dtype dtype) { return BoundFor(dtype, 8 + 1e-6 * 0x1p24); }

class Rope1dTest : public OpTest {
 protected:
  Rope1dTest() : OpTest("rope_1d") {}
};
INSTANTIATE_TEST_SUITE_P(Rows, Rope1dTest, testing::ValuesIn(VariantsOf("rope_1d")), NameOf);

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
    Case1d apart({.interleaved = interleaved}, dtype(), {1, 5, 2, 64}, {1, 5, 2, 64});
    Case1d in_place({.interleaved = interleaved}, dtype(), {1, 5, 2, 64}, {1, 5, 2, 64});
    ExpectMatch(apart, RopeBound(dtype()));
    ForcedRun run("rope_1d", GetParam());
    Rope1dArgs args = in_place.Args(run);
    args.q_out = args.q;
    args.k_out = args.k;
    ASSERT_TRUE(Rope1d(args, run.execution()).ok());
    run.Fetch();
    EXPECT_TRUE(SameBits(in_place.q, apart.q_out));
    EXPECT_TRUE(SameBits(in_place.k, apart.k_out));
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
INSTANTIATE_TEST_SUITE_P(Rows, Rope3dTest, testing::ValuesIn(VariantsOf("rope_3d")), NameOf);

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
