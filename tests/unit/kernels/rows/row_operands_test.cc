// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/row_operands.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

alignas(16) float storage[4096];

struct Rows {
  explicit Rows(const TensorView& x, const std::optional<TensorView>& vector = {})
      : shape(RowsOf(x)), x_operand(RowsOperand(x)), vector_operand(VectorOperand(vector)) {
    for (int64_t row = 0; row < shape.rows; ++row) before.push_back(Offsets(row));
    MergeRowDims(shape, {&x_operand, &vector_operand});
  }
  std::pair<int64_t, int64_t> Offsets(int64_t row) const {
    return {RowOffset(shape, x_operand, row), RowOffset(shape, vector_operand, row)};
  }
  void ExpectSameOffsets() const {
    for (int64_t row = 0; row < shape.rows; ++row) {
      EXPECT_EQ(Offsets(row), before[static_cast<size_t>(row)]) << row;
    }
  }

  RowShape shape;
  RowOperand x_operand;
  RowOperand vector_operand;
  std::vector<std::pair<int64_t, int64_t>> before;
};

TEST(MergeRowDims, RunsAContiguousTensorAsOneDim) {
  const Rows rows(Contiguous(storage, Dtype::kF32, {2, 1, 3, 4, 8}));
  EXPECT_EQ(rows.shape.dims, 1);
  EXPECT_EQ(rows.shape.rows, 24);
  EXPECT_EQ(rows.shape.width, 8);
  rows.ExpectSameOffsets();
}

TEST(MergeRowDims, KeepsDimsThatAnyOperandNeedsApart) {
  const TensorView x = Contiguous(storage, Dtype::kF32, {2, 3, 8});
  const Rows batch(x, Contiguous(storage, Dtype::kF32, {2, 1, 8}));
  EXPECT_EQ(batch.shape.dims, 2);
  batch.ExpectSameOffsets();
  const Rows every(x, Contiguous(storage, Dtype::kF32, {2, 3, 8}));
  EXPECT_EQ(every.shape.dims, 1);
  every.ExpectSameOffsets();
  const Rows one(x, Contiguous(storage, Dtype::kF32, {8}));
  EXPECT_EQ(one.shape.dims, 1);
  EXPECT_EQ(one.Offsets(5).second, 0);
}

TEST(MergeRowDims, LeavesPermutedAndExpandedRowsAsTheyAre) {
  Rows permuted(
      Strided(storage, Dtype::kF32, std::vector<int64_t>{3, 4, 8}, std::vector<int64_t>{8, 24, 1}));
  EXPECT_EQ(permuted.shape.dims, 2);
  permuted.ExpectSameOffsets();
  Rows expanded(
      Strided(storage, Dtype::kF32, std::vector<int64_t>{3, 4, 8}, std::vector<int64_t>{0, 8, 1}));
  EXPECT_EQ(expanded.shape.dims, 2);
  expanded.ExpectSameOffsets();
}

TEST(MergeRowDims, LeavesOneRowWithoutDims) {
  const Rows rows(Contiguous(storage, Dtype::kF32, {1, 1, 8}));
  EXPECT_EQ(rows.shape.dims, 0);
  EXPECT_EQ(rows.shape.rows, 1);
  EXPECT_EQ(rows.Offsets(0).first, 0);
}

bool Fits(const TensorView& x) {
  const Rows rows(x);
  return FitsVectorRows(rows.shape, rows.x_operand, {&rows.x_operand, &rows.vector_operand});
}

TEST(FitsVectorRows, WantsSixteenByteRowsSideBySide) {
  EXPECT_TRUE(Fits(Contiguous(storage, Dtype::kF32, {4, 8})));
  EXPECT_TRUE(Fits(Slice(Contiguous(storage, Dtype::kF32, {4, 16}), 1, 4, 8)));
  EXPECT_FALSE(Fits(Contiguous(storage, Dtype::kF32, {4, 7})));
  EXPECT_FALSE(Fits(Contiguous(storage + 1, Dtype::kF32, {4, 8})));
  EXPECT_FALSE(Fits(Slice(Contiguous(storage, Dtype::kF32, {4, 9}), 1, 0, 8)));
  EXPECT_FALSE(
      Fits(Strided(storage, Dtype::kF32, std::vector<int64_t>{4, 8}, std::vector<int64_t>{16, 2})));
  const TensorView wide = Contiguous(storage, Dtype::kF32, {1, kMaxVectorRowBytes / 4 + 4});
  EXPECT_FALSE(Fits(wide));
  const Rows rows(wide);
  EXPECT_TRUE(FitsVectorElements(rows.shape, rows.x_operand, {&rows.x_operand}));
}

TEST(FitsVectorRows, TakesCallsWithoutElements) {
  EXPECT_TRUE(Fits(Contiguous(nullptr, Dtype::kF32, {0, 7})));
  EXPECT_TRUE(Fits(Contiguous(storage + 1, Dtype::kF32, {2, 2, 0})));
}

}  // namespace
}  // namespace reel::kernels
