// SPDX-License-Identifier: Apache-2.0
// Learned costs of one model and kernel plan on one kind of device. Each amount of work that was
// seen has a cell; a curve through the cells tells of other amounts.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "server/front/scheduling/run_spread.h"

namespace reel::front {

struct CurvePoint {
  double amount = 0;  // e.g. rows of a step
  double square =
      0;  // e.g. rows times the tokens that each attends to; 0: the cost has no such part
  double cost = 0;
  double weight = 1;
};

// A cost as a function of the amount of work, fitted to what was seen: constant, linear and, where
// an amount is known that grows with the square, quadratic. Pure.
struct CostCurve {
  double constant = 0, per_amount = 0, per_square = 0;

  double At(double amount, double square) const {
    return constant + per_amount * amount + per_square * square;
  }
};

// The curve with the least squares of relative errors among those that never fall. nullopt: fewer
// than three points, or points that tell nothing.
std::optional<CostCurve> FitCurve(absl::Span<const CurvePoint> points);

// The numbers are those in the store.
enum class CostKind {
  kStep,
  kText,
  kDecode,
  kMemory,
  kOutput,
  kPreview,
  kSharedStep,
  kReusedStep,  // that took over what an earlier one computed
  kLoad,        // of the model, with what it makes before it serves
  kCopy,        // of a gigabyte of weights to the device
};
inline constexpr int kCostKinds = 10;

// What does not apply to a kind is 0.
struct CellKey {
  CostKind kind = CostKind::kStep;
  int64_t amount = 0;  // rows, pixels, or a bucket of either
  int64_t attention = 0;
  int64_t condition_pixels = 0;
  auto operator<=>(const CellKey&) const = default;
};

// Four buckets to a doubling, from 256 on.
int BucketOf(int64_t amount);
// The amount in the middle of a bucket.
double AmountOf(int bucket);

// Seconds; bytes in cells of memory and output.
struct CostCell {
  double mean = 0;
  double deviation = 0;  // mean absolute
  int64_t count = 0;
  int outliers = 0;      // in a row
  uint64_t learned = 0;  // when, counted in changes of all cells

  double p90() const;
  void Learn(double value);
};

struct CostValue {
  double mean = 0, p90 = 0;
};

// Confined to one thread.
class CostCells {
 public:
  const CostCell* Find(const CellKey& key) const;
  bool Has(CostKind kind) const;
  // Made where there is none.
  CostCell& At(const CellKey& key);
  void Remove(const CellKey& key) { cells_.erase(key); }
  // Of an amount that may not have been seen: its own cell, else the curve, else the nearest cell,
  // in proportion within reason. nullopt: none of the kind was.
  std::optional<CostValue> Predict(const CellKey& key) const;
  // The cell of the kind with the nearest amount.
  const CostCell* Nearest(CostKind kind, int64_t amount, int64_t& found) const;

  const std::map<CellKey, CostCell>& all() const { return cells_; }
  RunSpread& spread() { return spread_; }
  const RunSpread& spread() const { return spread_; }

 private:
  std::optional<CostCurve> Fit(CostKind kind) const;

  std::map<CellKey, CostCell> cells_;
  RunSpread spread_;
};

}  // namespace reel::front
