// SPDX-License-Identifier: Apache-2.0
// Attention of calls that want a share of the tiles of keys, and means of the others.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/attention/route_layout.h"
#include "kernels/attention/tile_layout.h"
#include "tests/unit/kernels/attention_case.h"
#include "tests/unit/kernels/op_test.h"

namespace reel::kernels {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct RoutedCase : AttentionCase {
  RoutedCase(Dtype dtype, const AttentionSizes& of, double share)
      : AttentionCase(dtype, of),
        exact_share(share),
        scratch(Dtype::kU8, {RoutedScratchBytes(q.view(), k.view(), share) + 16}) {}

  absl::Status Call(ForcedRun& run) override {
    AttentionArgs args = Args(run);
    args.scratch = run.Use(scratch);
    args.exact_share = exact_share;
    return Attention(args, run.execution());
  }

  double exact_share;
  HostTensor scratch;
};

// What sm90_routed should give, in fp64.
class Definition {
 public:
  explicit Definition(const RoutedCase& of)
      : call_(of),
        tiles_(KeyTiles(of.sizes.keys)),
        chosen_(static_cast<size_t>(std::ceil(of.exact_share * static_cast<double>(tiles_)))) {}

  std::vector<double> Outputs() {
    const AttentionSizes& of = call_.sizes;
    std::vector<double> out(static_cast<size_t>(call_.out.size()));
    for (int64_t b = 0; b < of.batch; ++b) {
      for (int64_t n = 0; n < of.heads; ++n) {
        const int64_t block = QueriesOfBlock(of.width);
        for (int64_t s = 0; s < of.queries; s += block) {
          const int64_t end = std::min(s + block, of.queries);
          const std::vector<bool> taken = Taken(b, n, Mean(call_.q, of.queries, b, n, s, end));
          for (int64_t row = s; row < end; ++row) Attend(b, n, row, taken, out);
        }
      }
    }
    return out;
  }

 private:
  std::vector<double> Mean(const HostTensor& of, int64_t rows, int64_t b, int64_t n, int64_t first,
                           int64_t end) const {
    const int64_t width = call_.sizes.width;
    std::vector<double> mean(static_cast<size_t>(width));
    for (int64_t row = first; row < end; ++row) {
      for (int64_t i = 0; i < width; ++i) {
        mean[static_cast<size_t>(i)] +=
            of.Get(((b * rows + row) * call_.sizes.heads + n) * width + i) /
            static_cast<double>(end - first);
      }
    }
    return mean;
  }
  std::vector<double> TileMean(const HostTensor& of, int64_t b, int64_t n, int64_t tile) const {
    const int64_t first = tile * kTileKeys;
    return Mean(of, call_.sizes.keys, b, n, first, std::min(first + kTileKeys, call_.sizes.keys));
  }
  static double Dot(const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  }
  std::vector<bool> Taken(int64_t b, int64_t n, const std::vector<double>& query) const {
    std::vector<double> scores;
    for (int64_t t = 0; t < tiles_; ++t) scores.push_back(Dot(query, TileMean(call_.k, b, n, t)));
    if (call_.sizes.keys % kTileKeys != 0) scores.back() = 1e300;
    std::vector<size_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t x, size_t y) { return scores[x] > scores[y]; });
    std::vector<bool> taken(scores.size());
    for (size_t i = 0; i < std::max<size_t>(chosen_, 1); ++i) taken[order[i]] = true;
    return taken;
  }
  void Attend(int64_t b, int64_t n, int64_t row, const std::vector<bool>& taken,
              std::vector<double>& out) const {
    const AttentionSizes& of = call_.sizes;
    const std::vector<double> query = Mean(call_.q, of.queries, b, n, row, row + 1);
    std::vector<double> sums(static_cast<size_t>(of.width));
    double weights = 0;
    const auto add = [&](const std::vector<double>& key, const std::vector<double>& value,
                         double times) {
      const double weight =
          times * std::exp(Dot(query, key) / std::sqrt(static_cast<double>(of.width)));
      weights += weight;
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += weight * value[i];
    };
    for (int64_t t = 0; t < tiles_; ++t) {
      if (!taken[static_cast<size_t>(t)]) {
        add(TileMean(call_.k, b, n, t), TileMean(call_.v, b, n, t), kTileKeys);
        continue;
      }
      for (int64_t l = t * kTileKeys; l < std::min((t + 1) * kTileKeys, of.keys); ++l) {
        add(Mean(call_.k, of.keys, b, n, l, l + 1), Mean(call_.v, of.keys, b, n, l, l + 1), 1);
      }
    }
    for (int64_t i = 0; i < of.width; ++i) {
      out[static_cast<size_t>(((b * of.queries + row) * of.heads + n) * of.width + i)] =
          sums[static_cast<size_t>(i)] / weights;
    }
  }

  const RoutedCase& call_;
  const int64_t tiles_;
  const size_t chosen_;
};

class AttentionRoutedTest : public OpTest {
 protected:
  static constexpr int64_t kWidths[] = {64, 128};  // of heads with tiles

  AttentionRoutedTest() : OpTest("attention") {}

  bool TakesAll() const { return TakesEverything(GetParam()); }
  // False for a type that the variant does not take.
  bool Run(RoutedCase& call) {
    ForcedRun run(op_, GetParam());
    const absl::Status status = call.Call(run);
    if (!TakesAll() && status.code() == absl::StatusCode::kFailedPrecondition) return false;
    EXPECT_TRUE(status.ok()) << status;
    run.Fetch();
    EXPECT_TRUE(call.out.SurroundingsIntact() && call.scratch.SurroundingsIntact());
    return true;
  }
  // Of all outputs together, in terms of their own size.
  static double ErrorOf(const RoutedCase& call, const std::vector<double>& want) {
    double error = 0, size = 0;
    for (int64_t i = 0; i < call.out.size(); ++i) {
      const double each = want[static_cast<size_t>(i)];
      error += std::pow(call.out.Get(i) - each, 2);
      size += each * each;
    }
    return std::sqrt(error / size);
  }
  // Those that take every call compute all keys.
  std::vector<double> WantedOf(RoutedCase& call) const {
    return TakesAll() ? call.Reference()[0].want : Definition(call).Outputs();
  }
  double Bound() const { return TakesAll() ? 0.01 : 0.075; }
};
INSTANTIATE_TEST_SUITE_P(Variants, AttentionRoutedTest,
                         testing::ValuesIn(RoutedVariantsOf("attention")), NameOf);

TEST_P(AttentionRoutedTest, IsNearItsDefinitionForEveryNumberOfKeysAndShare) {
  for (const int64_t width : kWidths) {
    for (const int64_t keys : {5, 128, 300, 640}) {
      for (const double share : {0.01, 0.4, 0.8}) {
        SCOPED_TRACE(testing::Message() << width << ", " << keys << ", " << share);
        RoutedCase call(
            dtype(), {.batch = 1, .queries = 9, .keys = keys, .heads = 2, .width = width}, share);
        if (!Run(call)) return;
        EXPECT_LT(ErrorOf(call, WantedOf(call)), Bound());
      }
    }
  }
}

TEST_P(AttentionRoutedTest, ChoosesForEachBlockOfQueries) {
  if (TakesAll()) return;  // it takes all keys, as the test above shows
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    RoutedCase call(dtype(), {.batch = 1, .queries = 400, .keys = 520, .heads = 2, .width = width},
                    0.4);
    // Blocks of queries and tiles of keys that are alike.
    const auto alike = [&](HostTensor& tensor, int64_t together, uint64_t step) {
      tensor.SetAll([&](int64_t i) {
        const int64_t row = i / (2 * width), group = row / together;
        const bool own = i % width % 4 == static_cast<int64_t>(step) * group % 4;
        return 0.7 * tensor.Get(i) + (own ? 1.0 : 0.0);
      });
    };
    alike(call.q, QueriesOfBlock(width), 1);
    alike(call.k, kTileKeys, 3);
    if (!Run(call)) return;
    EXPECT_LT(ErrorOf(call, WantedOf(call)), Bound());
  }
}

// A mean in the place of another, or with another weight, would show.
TEST_P(AttentionRoutedTest, EqualKeysOfATileAreAsGoodAsTheirMean) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    RoutedCase call(dtype(),
                    {.batch = 2, .queries = 20, .keys = 9 * 128 + 40, .heads = 1, .width = width},
                    0.2);
    const HostTensor keys = call.k;
    call.k.SetAll([&](int64_t i) {
      const int64_t row = i / width, batch = row / call.sizes.keys;
      const int64_t first = row % call.sizes.keys / kTileKeys * kTileKeys;
      return keys.Get((batch * call.sizes.keys + first) * width + i % width);
    });
    if (!Run(call)) return;
    EXPECT_LT(ErrorOf(call, call.Reference()[0].want), Bound());
  }
}

TEST_P(AttentionRoutedTest, ShowsANanOfAQueryInItsRowAlone) {
  for (const int64_t width : kWidths) {
    SCOPED_TRACE(width);
    RoutedCase call(dtype(), {.batch = 1, .queries = 5, .keys = 700, .heads = 2, .width = width},
                    0.3);
    call.q.Set((2 * 2 + 1) * width + width - 24, kNan);
    if (!Run(call)) return;
    for (int64_t i = 0; i < call.out.size(); ++i) {
      ASSERT_EQ(std::isnan(call.out.Get(i)), i / width == 2 * 2 + 1) << i;
    }
  }
}

TEST_P(AttentionRoutedTest, ShowsANanOfAKeyOrAValueInEveryRowOfItsHead) {
  for (const int64_t width : kWidths) {
    for (const int64_t row : {3, 300, 699}) {
      for (const bool key : {true, false}) {
        SCOPED_TRACE(testing::Message() << width << ", " << row << ", " << key);
        RoutedCase call(dtype(),
                        {.batch = 1, .queries = 5, .keys = 700, .heads = 2, .width = width}, 0.3);
        (key ? call.k : call.v).Set((row * 2 + 1) * width + width - 55, kNan);
        if (!Run(call)) return;
        for (int64_t i = 0; i < call.out.size(); ++i) {
          const bool there = i / width % 2 == 1 && (key || !TakesAll() || i % width == width - 55);
          ASSERT_EQ(std::isnan(call.out.Get(i)), there) << i;
        }
      }
    }
  }
}

TEST_P(AttentionRoutedTest, TakesEmptyTensors) {
  for (const AttentionSizes& sizes :
       {AttentionSizes{.batch = 0, .width = 64}, AttentionSizes{.queries = 0, .width = 64}}) {
    RoutedCase call(dtype(), sizes, 0.5);
    Run(call);
  }
}

TEST_P(AttentionRoutedTest, IsNotForCallsThatWantAllKeys) {
  RoutedCase call(dtype(), {.queries = 9, .keys = 140, .width = 64}, 0.5);
  call.exact_share = 0;
  ForcedRun run(op_, GetParam());
  EXPECT_EQ(call.Call(run).code(),
            TakesAll() ? absl::StatusCode::kOk : absl::StatusCode::kFailedPrecondition);
}

class AttentionRoutedRefusals : public RefusalTest {
 protected:
  AttentionRoutedRefusals() : RefusalTest("attention") {}
};

TEST_F(AttentionRoutedRefusals, WantsAShareAndTheScratchThatItTakes) {
  RoutedCase call(Dtype::kBf16, {.keys = 700, .width = 64}, 0.5);
  const auto refused = [&](double share, const TensorView& scratch, const char* text) {
    AttentionArgs args = call.Args(run);
    args.exact_share = share;
    args.scratch = scratch;
    ExpectRefused([&] { return Attention(args, run.execution()); }, call.out, kInvalid, text);
  };
  for (const double share : {-0.1, 1.01, kNan}) {
    refused(share, call.scratch.view(), "The exact share must be 0 to 1");
  }
  HostTensor of_all_keys(Dtype::kU8, {AttentionScratchBytes(call.k.view())});
  refused(0.5, of_all_keys.view(), "The scratch must have");
}

}  // namespace
}  // namespace reel::kernels
