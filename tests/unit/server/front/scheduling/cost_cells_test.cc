// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/cost_cells.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace reel::front {
namespace {

void TeachCell(CostCells& cells, const CellKey& key, double value) {
  for (int i = 0; i < 10; ++i) cells.At(key).Learn(value);
}

TEST(CostCells, BucketsAreFourToADoubling) {
  EXPECT_EQ(BucketOf(1), 0);
  EXPECT_EQ(BucketOf(256), 0);
  EXPECT_EQ(BucketOf(512), 4);
  EXPECT_EQ(BucketOf(1 << 20), 48);
  EXPECT_DOUBLE_EQ(AmountOf(4), 512);
}

TEST(CostCells, WhatWasSeenIsToldAsItWas) {
  CostCells cells;
  const CellKey key = {CostKind::kDecode, 1000};
  EXPECT_FALSE(cells.Predict(key).has_value());
  EXPECT_FALSE(cells.Has(CostKind::kDecode));
  TeachCell(cells, key, 2);
  EXPECT_TRUE(cells.Has(CostKind::kDecode));
  EXPECT_FALSE(cells.Has(CostKind::kStep));
  EXPECT_DOUBLE_EQ(cells.Predict(key)->mean, 2);
  EXPECT_DOUBLE_EQ(cells.Predict(key)->p90, 2.2);
}

TEST(CostCells, TwoCellsMakeNoCurveThreeDo) {
  CostCells cells;
  TeachCell(cells, {CostKind::kDecode, 1000}, 11);
  TeachCell(cells, {CostKind::kDecode, 2000}, 12);
  EXPECT_NEAR(cells.Predict({CostKind::kDecode, 8000})->mean, 48, 1e-6) << "in proportion";
  TeachCell(cells, {CostKind::kDecode, 4000}, 14);
  EXPECT_NEAR(cells.Predict({CostKind::kDecode, 8000})->mean, 18, 1e-6);
}

TEST(CostCells, ConditionsAreApartFromTheCurve) {
  CostCells cells;
  for (const int64_t rows : {100, 200, 400}) {
    TeachCell(cells, {CostKind::kStep, rows, 0, 0}, static_cast<double>(rows));
  }
  TeachCell(cells, {CostKind::kStep, 800, 0, 7}, 5000);
  EXPECT_NEAR(cells.Predict({CostKind::kStep, 800, 0, 0})->mean, 800, 1);
  EXPECT_NEAR(cells.Predict({CostKind::kStep, 800, 0, 7})->mean, 5000, 1);
  EXPECT_NEAR(cells.Predict({CostKind::kStep, 400, 0, 9})->mean, 400, 1) << "not seen with any yet";
}

}  // namespace
}  // namespace reel::front
