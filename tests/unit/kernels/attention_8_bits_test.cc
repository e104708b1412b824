// SPDX-License-Identifier: Apache-2.0
// Attention of calls that say that 8 bits will do.
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/attention/tile_layout.h"
#include "tests/unit/kernels/attention_case.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Sizes = AttentionSizes;

struct CodedCase : AttentionCase {
  CodedCase(Dtype dtype, const Sizes& of, Layout layout = Layout::kContiguous)
      : AttentionCase(dtype, of, layout),
        scratch(Dtype::kU8, {AttentionScratchBytes(k.view()) + 16}) {}

  absl::Status Call(ForcedRun& run) override {
    AttentionArgs args = Args(run);
    args.scratch = run.Use(scratch);
    args.int8_scores = int8_scores;
    return Attention(args, run.execution());
  }

  HostTensor scratch;
  bool int8_scores = false;
};

std::vector<OpVariant> CodedVariants() {
  std::vector<OpVariant> variants = E4m3VariantsOf("attention");
  for (const OpVariant& variant : Int8VariantsOf("attention")) {
    if (variant.variant == kInt8Sm90) variants.push_back(variant);
  }
  return variants;
}

class Attention8BitsTest : public OpTest {
 protected:
  static constexpr int64_t kWidths[] = {64, 128};  // of heads with tiles

  Attention8BitsTest() : OpTest("attention") {}

  bool TakesAll() const { return TakesEverything(GetParam()); }
  bool IsInt8() const { return GetParam().variant == kInt8Sm90; }
  // False for a type or layout that the variant does not take.
  bool Run(CodedCase& call) {
    call.int8_scores = IsInt8();
    ForcedRun run(op_, GetParam());
    const absl::Status status = call.Call(run);
    if (!TakesAll() && status.code() == absl::StatusCode::kFailedPrecondition) return false;
    EXPECT_TRUE(status.ok()) << status;
    run.Fetch();
    EXPECT_TRUE(call.out.SurroundingsIntact() && call.scratch.SurroundingsIntact());
    return true;
  }
  // Of all outputs together, in terms of their own size.
  static double ErrorOf(const CodedCase& call) {
    const Expected expected = call.Reference()[0];
    double error = 0, size = 0;
    for (int64_t i = 0; i < call.out.size(); ++i) {
      const double want = expected.want[static_cast<size_t>(i)];
      error += std::pow(call.out.Get(i) - want, 2);
      size += want * want;
    }
    return std::sqrt(error / size);
  }
  // Codes of q, k, v and the weights are 2 to 3 % off each, those of q and k in int8 less than 1 %.
  double Bound() const { return TakesAll() ? 0.01 : IsInt8() ? 0.055 : 0.075; }
  void ExpectNear(CodedCase& call) {
    if (Run(call)) {
      EXPECT_LT(ErrorOf(call), Bound());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Variants, Attention8BitsTest, testing::ValuesIn(CodedVariants()), NameOf);

TEST_P(Attention8BitsTest, IsNearTheReferenceForEveryNumberOfKeys) {
  for (const int64_t width : kWidths) {
    for (const int64_t keys : {1, 2, 77, 127, 128, 129, 300, 1000}) {
      SCOPED_TRACE(testing::Message() << width << ", " << keys);
      CodedCase call(dtype(), {.batch = 2, .queries = 5, .keys = keys, .heads = 2, .width = width});
      ExpectNear(call);
    }
  }
}

TEST_P(Attention8BitsTest, IsNearTheReferenceForEveryNumberOfQueries) {
  for (const int64_t width : kWidths) {
    for (const int64_t queries : {1, 15, 64, 127, 129, 191, 193, 400}) {
      SCOPED_TRACE(testing::Message() << width << ", " << queries);
      CodedCase call(dtype(),
                     {.batch = 1, .queries = queries, .keys = 140, .heads = 1, .width = width});
      ExpectNear(call);
    }
  }
}

TEST_P(Attention8BitsTest, TakesHeadsOfVectorsAndNoOthers) {
  for (const int64_t width : kWidths) {
    for (const Layout layout : AllLayouts()) {
      SCOPED_TRACE(testing::Message() << width << ", " << LayoutName(layout));
      CodedCase call(dtype(), {.queries = 9, .keys = 140, .width = width}, layout);
      const bool vectors =
          dtype() != Dtype::kF32 && (layout == Layout::kContiguous || layout == Layout::kPadded);
      ASSERT_EQ(Run(call), TakesAll() || vectors);
      if (vectors) {
        EXPECT_LT(ErrorOf(call), Bound());
      }
    }
  }
  for (const int64_t width : {32, 96, 192}) {
    CodedCase other(dtype(), {.queries = 9, .keys = 140, .width = width});
    EXPECT_EQ(Run(other), TakesAll()) << width;
  }
}

TEST_P(Attention8BitsTest, IsNotForCallsThatWantSixteenBits) {
  AttentionCase call(dtype(), {.queries = 9, .keys = 140, .width = 64});
  ForcedRun run(op_, GetParam());
  EXPECT_EQ(call.Call(run).code(),
            TakesAll() ? absl::StatusCode::kOk : absl::StatusCode::kFailedPrecondition);
}

// Many small weights and few large ones, values far from zero and near it.
TEST_P(Attention8BitsTest, IsNearTheReferenceForFlatAndSteepScores) {
  for (const auto& [steepness, size, width] :
       std::vector<std::tuple<double, double, int64_t>>{{0, 1e-3, 64},
                                                        {0.2, 1, 64},
                                                        {1, 1e-3, 64},
                                                        {1, 100, 64},
                                                        {3, 1, 64},
                                                        {3, 100, 64},
                                                        {0, 1, 128},
                                                        {0.2, 100, 128},
                                                        {1, 1, 128},
                                                        {3, 1e-3, 128},
                                                        {3, 1, 128}}) {
    SCOPED_TRACE(testing::Message() << steepness << ", " << size << ", " << width);
    CodedCase call(dtype(), {.batch = 1, .queries = 10, .keys = 300, .heads = 2, .width = width});
    call.q.FillNormal(7, steepness);
    call.v.SetAll([&, i = uint64_t{1}](int64_t) mutable {
      i = i * 6364136223846793005u + 1442695040888963407u;
      return size * (1 + static_cast<double>(i >> 40) / 0x1p23);
    });
    ExpectNear(call);
  }
}

// A code in the wrong place gives another key's value, or another channel's.
TEST_P(Attention8BitsTest, GivesTheValueOfTheOneKeyThatCounts) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    CodedCase call(dtype(), {.batch = 1, .queries = 60, .keys = 260, .heads = 2, .width = width});
    // The first 18 channels of 64 name each key: +-16 at bits of its number.
    const auto bits = [&](int64_t i) {
      const int64_t row = i / (2 * width), channel = i % 64;
      return channel < 18 ? (row >> (channel / 2) & 1 ? 16.0 : -16.0) : 0.0;
    };
    call.q.SetAll([&](int64_t i) {
      return bits((9 * (i / (2 * width)) % 260) * 2 * width + i % (2 * width));
    });
    call.k.SetAll(bits);
    call.v.SetAll([&](int64_t i) { return static_cast<double>((i * 5 + i / width) % 15 - 7); });
    if (!Run(call)) return;
    for (int64_t i = 0; i < call.out.size(); ++i) {
      ASSERT_NEAR(call.out.Get(i),
                  call.v.Get(9 * (i / (2 * width)) % 260 * 2 * width + i % (2 * width)), 1e-30)
          << i;
    }
  }
}

// Equal keys have equal weights, and places behind the last key none.
TEST_P(Attention8BitsTest, GivesTheMeanOfEqualKeys) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    for (const int64_t keys : {4, 128, 132, 256}) {
      CodedCase call(dtype(), {.batch = 1, .queries = 3, .keys = keys, .heads = 1, .width = width});
      call.k.SetAll([&](int64_t i) { return static_cast<double>(i % width % 64) / 8; });
      call.v.SetAll([&](int64_t i) { return static_cast<double>(i / width % 4); });
      if (!Run(call)) return;
      for (int64_t i = 0; i < call.out.size(); ++i)
        ASSERT_NEAR(call.out.Get(i), 1.5, 0.004) << keys;
    }
  }
}

TEST_P(Attention8BitsTest, StaysRightForScoresOfAnySize) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    for (const double size : {1e-6, 30.0, 200.0, 1500.0}) {
      SCOPED_TRACE(size);
      CodedCase call(dtype(), {.batch = 1, .queries = 6, .keys = 200, .heads = 1, .width = width});
      call.q.SetAll([&](int64_t i) { return i % width == width - 3 ? size : 0.0; });
      call.k.SetAll([&](int64_t i) {
        return i % width == width - 3 ? (i / width % 2 == 0 ? 8.0 : -8.0) : 0.0;
      });
      call.v.SetAll([&](int64_t i) { return i / width % 2 == 0 ? 2.0 : -1.0; });
      ExpectNear(call);
    }
  }
}

// What int8 is for: in e4m3 the channel that stands out takes the scores of the others with it.
TEST_P(Attention8BitsTest, KeepsScoresBesideAChannelThatStandsOut) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    CodedCase call(dtype(), {.batch = 1, .queries = 20, .keys = 300, .heads = 2, .width = width});
    for (int64_t i = 3; i < call.k.size(); i += width) call.k.Set(i, 8 + 3 * call.k.Get(i));
    if (!Run(call)) return;
    EXPECT_LT(ErrorOf(call), IsInt8() || TakesAll() ? Bound() : 0.3);
  }
}

// Which of the two a call wants is its own word.
TEST_P(Attention8BitsTest, IsNotForCallsThatWantTheOtherCodes) {
  CodedCase call(dtype(), {.queries = 9, .keys = 140, .width = 64});
  call.int8_scores = !IsInt8();
  ForcedRun run(op_, GetParam());
  EXPECT_EQ(call.Call(run).code(),
            TakesAll() ? absl::StatusCode::kOk : absl::StatusCode::kFailedPrecondition);
}

TEST_P(Attention8BitsTest, ShowsANanOfAQueryInItsRowAlone) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    CodedCase call(dtype(), {.batch = 1, .queries = 5, .keys = 140, .heads = 2, .width = width});
    call.q.Set((2 * 2 + 1) * width + width - 24, kNan);
    if (!Run(call)) return;
    for (int64_t i = 0; i < call.out.size(); ++i) {
      ASSERT_EQ(std::isnan(call.out.Get(i)), i / width == 2 * 2 + 1) << i;
    }
  }
}

TEST_P(Attention8BitsTest, ShowsANanOfAKeyOrAValueInEveryRowOfItsHead) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    for (const bool key : {true, false}) {
      CodedCase call(dtype(), {.batch = 1, .queries = 5, .keys = 140, .heads = 2, .width = width});
      (key ? call.k : call.v).Set((133 * 2 + 1) * width + width - 55, kNan);
      if (!Run(call)) return;
      for (int64_t i = 0; i < call.out.size(); ++i) {
        const bool there = i / width % 2 == 1 && (key || !TakesAll() || i % width == width - 55);
        ASSERT_EQ(std::isnan(call.out.Get(i)), there) << i;
      }
    }
  }
}

TEST_P(Attention8BitsTest, GivesARowTheSameBitsAloneAndAmongMany) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    CodedCase many(dtype(), {.batch = 2, .queries = 205, .keys = 140, .heads = 2, .width = width});
    if (!Run(many)) return;
    CodedCase alone(dtype(), {.batch = 1, .queries = 1, .keys = 140, .heads = 1, .width = width});
    const int64_t row = (205 + 199) * 2 + 1;
    const auto key = [&](int64_t i) { return ((140 + i / width) * 2 + 1) * width + i % width; };
    alone.q.SetAll([&](int64_t i) { return many.q.Get(row * width + i); });
    alone.k.SetAll([&](int64_t i) { return many.k.Get(key(i)); });
    alone.v.SetAll([&](int64_t i) { return many.v.Get(key(i)); });
    ASSERT_TRUE(Run(alone));
    for (int64_t i = 0; i < width; ++i)
      ASSERT_EQ(alone.out.Get(i), many.out.Get(row * width + i)) << i;
  }
}

TEST_P(Attention8BitsTest, TakesEmptyTensors) {
  for (const Sizes& sizes : {Sizes{.batch = 0, .width = 64}, Sizes{.queries = 0, .width = 64}}) {
    CodedCase call(dtype(), sizes);
    Run(call);
  }
}

class Attention8BitsRefusals : public RefusalTest {
 protected:
  Attention8BitsRefusals() : RefusalTest("attention") {}
};

TEST_F(Attention8BitsRefusals, WantsAScratchThatIsLargeEnoughAndNobodyElses) {
  CodedCase call(Dtype::kBf16, {.keys = 129, .width = 64});
  EXPECT_EQ(AttentionScratchBytes(call.k.view()), 2 * 3 * 2 * KeyTileBytes(64));
  const HostTensor wide(Dtype::kBf16, {2, 129, 3, 128});
  EXPECT_EQ(AttentionScratchBytes(wide.view()), 2 * 3 * 2 * KeyTileBytes(128));
  const auto refused = [&](const TensorView& scratch, absl::StatusCode code, const char* text) {
    AttentionArgs args = call.Args(run);
    args.scratch = scratch;
    ExpectRefused([&] { return Attention(args, run.execution()); }, call.out, code, text);
  };
  HostTensor small(Dtype::kU8, {AttentionScratchBytes(call.k.view()) - 1});
  refused(small.view(), kInvalid, "The scratch must have");
  HostTensor floats(Dtype::kF32, {AttentionScratchBytes(call.k.view())});
  refused(floats.view(), kUnimplemented, "scratch");
  HostTensor strided(Dtype::kU8, {AttentionScratchBytes(call.k.view())}, Layout::kStrided);
  refused(strided.view(), kInvalid, "side by side");
}

}  // namespace
}  // namespace reel::kernels
