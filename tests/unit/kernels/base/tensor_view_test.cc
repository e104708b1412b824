// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/tensor_view.h"

#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

std::vector<float> storage(4096);

TensorView Floats(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset = 0) {
  return Strided(storage.data() + 1024 + offset, Dtype::kF32, sizes, strides);
}

std::multiset<int64_t> Elements(const TensorView& view) {
  std::multiset<int64_t> elements = {0};
  for (int d = 0; d < view.rank; ++d) {
    std::multiset<int64_t> next;
    for (const int64_t base : elements) {
      for (int64_t i = 0; i < view.size(d); ++i) next.insert(base + i * view.stride(d));
    }
    elements = next;
  }
  const auto* base = static_cast<const float*>(view.data);
  std::multiset<int64_t> shifted;
  for (const int64_t element : elements) shifted.insert(element + (base - storage.data()));
  return shifted;
}

bool ShareAnElement(const TensorView& a, const TensorView& b) {
  const auto left = Elements(a);
  for (const int64_t element : Elements(b)) {
    if (left.count(element) > 0) return true;
  }
  return false;
}

TEST(TensorView, KnowsItsShape) {
  const TensorView view = Contiguous(storage.data(), Dtype::kF32, {2, 3, 4});
  EXPECT_EQ(view.num_elements(), 24);
  EXPECT_EQ(view.stride(0), 12);
  EXPECT_EQ(view.size(-1), 4);
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_EQ(Describe(view), "fp32 [2, 3, 4]");
  EXPECT_EQ(Describe(Floats({2, 3}, {4, 1})), "fp32 [2, 3] strides [4, 1]");
}

TEST(TensorView, SliceMovesTheDataAndKeepsTheStrides) {
  const TensorView slice = Slice(Contiguous(storage.data(), Dtype::kF32, {4, 8}), 1, 2, 3);
  EXPECT_EQ(slice.data, storage.data() + 2);
  EXPECT_EQ(slice.size(1), 3);
  EXPECT_FALSE(slice.is_contiguous());
}

TEST(BytesOf, CoversNegativeStrides) {
  const ByteRange range = BytesOf(Floats({3}, {-2}));
  EXPECT_EQ(range.end - range.begin, 5 * sizeof(float));
  EXPECT_EQ(range.end, reinterpret_cast<uintptr_t>(storage.data() + 1025));
}

TEST(OverlapOf, TellsTheSameFromAPart) {
  const TensorView view = Floats({2, 3}, {3, 1});
  EXPECT_EQ(OverlapOf(view, view), Overlap::kSame);
  EXPECT_EQ(OverlapOf(view, Floats({2, 3}, {3, 1}, 1)), Overlap::kPartial);
  EXPECT_EQ(OverlapOf(view, Floats({3, 2}, {2, 1})), Overlap::kPartial);
  EXPECT_EQ(OverlapOf(view, Floats({2, 3}, {3, 1}, 6)), Overlap::kNone);
  EXPECT_EQ(OverlapOf(view, Floats({0, 3}, {3, 1})), Overlap::kNone);
}

TEST(OverlapOf, ToleratesTheSlicesOfAPackedBuffer) {
  // [B, S, 3, N, Dh]: q, k and v interleave without a common element.
  const std::vector<int64_t> sizes = {2, 5, 4, 8};
  const std::vector<int64_t> strides = {5 * 3 * 32, 3 * 32, 8, 1};
  const TensorView q = Floats(sizes, strides);
  const TensorView k = Floats(sizes, strides, 32);
  EXPECT_EQ(OverlapOf(q, k), Overlap::kNone);
  EXPECT_EQ(OverlapOf(q, Floats(sizes, strides, 31)), Overlap::kPartial);
}

TEST(OverlapOf, SeesElementsThatMeetHalfway) {
  TensorView shifted = Floats({4}, {1});
  shifted.data = static_cast<char*>(shifted.data) + 2;
  shifted.sizes[0] = 1;
  EXPECT_EQ(OverlapOf(Floats({1}, {1}), shifted), Overlap::kPartial);
}

TEST(OverlapOf, AgreesWithCountingOnRandomViews) {
  std::mt19937 random(7);
  const auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int overlapping = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto view = [&] {
      return Floats({number(1, 3), number(1, 3), number(1, 4)},
                    {number(-30, 30), number(-9, 9), number(0, 3)}, number(0, 40));
    };
    const TensorView a = view();
    const TensorView b = view();
    const bool shared = ShareAnElement(a, b);
    overlapping += shared ? 1 : 0;
    EXPECT_EQ(OverlapOf(a, b) != Overlap::kNone, shared) << Describe(a) << " " << Describe(b);
  }
  EXPECT_GT(overlapping, 500);
  EXPECT_LT(overlapping, 2500);
}

TEST(MayRepeatElements, NeverMissesARepetition) {
  std::mt19937 random(8);
  const auto number = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const TensorView view = Floats({number(1, 3), number(1, 4)}, {number(-6, 6), number(0, 3)});
    const auto elements = Elements(view);
    const bool repeats =
        std::set<int64_t>(elements.begin(), elements.end()).size() < elements.size();
    EXPECT_TRUE(!repeats || MayRepeatElements(view)) << Describe(view);
  }
  EXPECT_FALSE(MayRepeatElements(Floats({4, 3}, {5, 1})));
  EXPECT_FALSE(MayRepeatElements(Floats({3, 4}, {1, 3})));
}

}  // namespace
}  // namespace reel::kernels
