// SPDX-License-Identifier: Apache-2.0
// Learned costs of one model and kernel plan on one kind of device. Each amount of work that was
// measured has a cell; a curve through the cells predicts other amounts.
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
      0;  // e.g. rows times the tokens that each attends to; 0 if the cost has no such part
  double cost = 0;
  double weight = 1;
};

// A cost as a function of the amount of work, fitted to measurements: constant, linear and, where
// such an amount is known, quadratic. Pure.
struct CostCurve {
  double constant = 0, per_amount = 0, per_square = 0;

  double At(double amount, double square) const {
    return constant + per_amount * amount + per_square * square;
  }
};

// The non-decreasing curve with the least squares of relative errors. nullopt for fewer than three
// points, or points that determine no curve.
std::optional<CostCurve> FitCurve(absl::Span<const CurvePoint> points);

// The numbers are stored; do not change them.
enum class CostKind {
  kStep,
  kText,
  kDecode,
  kMemory,
  kOutput,
  kPreview,
  kSharedStep,
  kReusedStep,  // that reused results of an earlier one
  kLoad,        // of the model, with what it makes before it serves
  kCopy,        // of a gigabyte of weights to the device
};
inline constexpr int kCostKinds = 10;

// Fields that do not apply to a kind are 0.
struct CellKey {
  CostKind kind = CostKind::kStep;
  int64_t amount = 0;  // rows, pixels, or a bucket of either
  int64_t attention = 0;
  int64_t condition_pixels = 0;
  auto operator<=>(const CellKey&) const = default;
};

// Four buckets per doubling, from 256 on.
int BucketOf(int64_t amount);
// Amount in the middle of a bucket.
double AmountOf(int bucket);

// In seconds; in bytes for memory and output.
struct CostCell {
  double mean = 0;
  double deviation = 0;  // mean absolute
  int64_t count = 0;
  int outliers = 0;      // in a row
  uint64_t learned = 0;  // time of the last change, counted in changes of all cells

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
  // Creates a missing cell.
  CostCell& At(const CellKey& key);
  void Remove(const CellKey& key) { cells_.erase(key); }
  // Predicts by the amount's own cell, else by the curve, else by the nearest cell in proportion,
  // within limits. nullopt if the kind has no cell.
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
