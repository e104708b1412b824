// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/cost_cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace reel::front {
namespace {

constexpr size_t kTerms = 3;
constexpr size_t kLeastPoints = 3;
// Below it two terms cannot be told apart.
constexpr double kLeastPivot = 1e-9;

using Terms = std::array<double, kTerms>;

// The sums of least squares over all terms; a subset of the terms is a part of them.
struct Sums {
  std::array<Terms, kTerms> matrix = {};
  Terms right = {};
  double costs = 0;  // squared
};

// Relative errors: each point counts as 1, whatever it cost. Amounts are in units of the largest.
Sums SumsOf(absl::Span<const CurvePoint> points, const Terms& unit) {
  Sums sums;
  for (const CurvePoint& point : points) {
    if (point.cost <= 0) continue;
    const Terms terms = {unit[0] / point.cost, point.amount / unit[1] / point.cost,
                         point.square / unit[2] / point.cost};
    for (size_t i = 0; i < kTerms; ++i) {
      for (size_t j = 0; j < kTerms; ++j) sums.matrix[i][j] += point.weight * terms[i] * terms[j];
      sums.right[i] += point.weight * terms[i];
    }
    sums.costs += point.weight;
  }
  return sums;
}

// Gauss with the terms in `subset` alone; the others are zero.
std::optional<Terms> Solve(Sums sums, unsigned subset) {
  const auto in = [subset](size_t i) { return (subset >> i & 1U) != 0; };
  for (size_t i = 0; i < kTerms; ++i) {
    if (!in(i)) continue;
    const double scale = sums.matrix[i][i];
    if (scale <= 0) return std::nullopt;
    for (size_t k = i + 1; k < kTerms; ++k) {
      if (!in(k)) continue;
      const double factor = sums.matrix[k][i] / scale;
      const double before = sums.matrix[k][k];
      for (size_t j = i; j < kTerms; ++j) sums.matrix[k][j] -= factor * sums.matrix[i][j];
      sums.right[k] -= factor * sums.right[i];
      if (sums.matrix[k][k] <= kLeastPivot * before) return std::nullopt;
    }
  }
  Terms solution = {};
  for (size_t i = kTerms; i-- > 0;) {
    if (!in(i)) continue;
    double rest = sums.right[i];
    for (size_t j = i + 1; j < kTerms; ++j) rest -= sums.matrix[i][j] * solution[j];
    solution[i] = rest / sums.matrix[i][i];
    if (!(solution[i] >= 0)) return std::nullopt;
  }
  return solution;
}

double ErrorOf(const Sums& sums, const Terms& solution) {
  double error = sums.costs;
  for (size_t i = 0; i < kTerms; ++i) {
    error -= 2 * solution[i] * sums.right[i];
    for (size_t j = 0; j < kTerms; ++j) error += solution[i] * solution[j] * sums.matrix[i][j];
  }
  return error;
}

}  // namespace

std::optional<CostCurve> FitCurve(absl::Span<const CurvePoint> points) {
  if (points.size() < kLeastPoints) return std::nullopt;
  Terms unit = {};
  for (const CurvePoint& point : points) {
    unit[0] = std::max(unit[0], point.cost);
    unit[1] = std::max(unit[1], point.amount);
    unit[2] = std::max(unit[2], point.square);
  }
  for (double& most : unit) most = most > 0 ? most : 1;
  const Sums sums = SumsOf(points, unit);
  std::optional<Terms> best;
  double least = std::numeric_limits<double>::infinity();
  // There are few subsets: the best of those without a negative term is the best such curve.
  for (unsigned subset = 1; subset < 1U << kTerms; ++subset) {
    const auto solution = Solve(sums, subset);
    if (!solution) continue;
    const double error = ErrorOf(sums, *solution);
    if (error < least) {
      least = error;
      best = solution;
    }
  }
  if (!best) return std::nullopt;
  return CostCurve{(*best)[0] * unit[0], (*best)[1] / unit[1], (*best)[2] / unit[2]};
}

namespace {

constexpr double kLearningRate = 0.05;
constexpr double kOutlierFactor = 5;
constexpr int kOutliersThatCount = 3;
// A cell that was seen more often than that tells a curve no more.
constexpr int64_t kMostWeight = 20;
// A cell says something of its neighbours, but a far one only so much.
constexpr double kMostScaling = 4;

// A curve through steps goes through those of several jobs, too.
bool OnCurveOf(CostKind kind, const CellKey& key) {
  const bool shared = kind == CostKind::kStep && key.kind == CostKind::kSharedStep;
  return (key.kind == kind || shared) && key.condition_pixels == 0;
}

double Distance(int64_t a, int64_t b) {
  return std::abs(std::log2((static_cast<double>(a) + 1) / (static_cast<double>(b) + 1)));
}

}  // namespace

int BucketOf(int64_t amount) {
  if (amount <= 256) return 0;
  return static_cast<int>(std::lround(4 * std::log2(static_cast<double>(amount) / 256)));
}

double AmountOf(int bucket) { return 256 * std::exp2(bucket / 4.0); }

double CostCell::p90() const {
  // 1.28 standard deviations, each 1.25 mean deviations; and the doubt of a young cell.
  const double doubt = count >= 5 ? 0.1 : 0.5;
  return std::max(mean * (1 + doubt), mean + 1.6 * deviation);
}

void CostCell::Learn(double value) {
  if (count >= 5 && value > kOutlierFactor * mean) {
    // One is an accident; several in a row are how things are now.
    if (++outliers < kOutliersThatCount) return;
    *this = CostCell{.learned = learned};
  }
  outliers = 0;
  ++count;
  const double rate = std::max(kLearningRate, 1.0 / static_cast<double>(count));
  const double error = value - mean;
  mean += rate * error;
  if (count > 1) deviation += rate * (std::abs(error) - deviation);
}

const CostCell* CostCells::Find(const CellKey& key) const {
  const auto found = cells_.find(key);
  return found == cells_.end() || found->second.count == 0 ? nullptr : &found->second;
}

bool CostCells::Has(CostKind kind) const {
  const auto first = cells_.lower_bound(CellKey{.kind = kind});
  return first != cells_.end() && first->first.kind == kind;
}

CostCell& CostCells::At(const CellKey& key) { return cells_[key]; }

const CostCell* CostCells::Nearest(CostKind kind, int64_t amount, int64_t& found) const {
  const CostCell* best = nullptr;
  double least = 0;
  for (const auto& [key, cell] : cells_) {
    if (!OnCurveOf(kind, key)) continue;
    const double distance = Distance(key.amount, amount);
    if (best != nullptr && distance >= least) continue;
    best = &cell;
    least = distance;
    found = key.amount;
  }
  return best;
}

std::optional<CostCurve> CostCells::Fit(CostKind kind) const {
  std::vector<CurvePoint> points;
  for (const auto& [key, cell] : cells_) {
    if (!OnCurveOf(kind, key)) continue;
    points.push_back({static_cast<double>(key.amount), static_cast<double>(key.attention),
                      cell.mean, static_cast<double>(std::min(cell.count, kMostWeight))});
  }
  return FitCurve(points);
}

std::optional<CostValue> CostCells::Predict(const CellKey& key) const {
  const CostCell* own = Find(key);
  if (own == nullptr && key.condition_pixels > 0) {
    // What conditions add is learned with the first such job.
    own = Find({key.kind, key.amount, key.attention, 0});
  }
  if (own != nullptr) return CostValue{own->mean, own->p90()};
  int64_t amount = 0;
  const CostCell* near = Nearest(key.kind, key.amount, amount);
  if (near == nullptr) return std::nullopt;
  const double doubt = near->mean > 0 ? near->p90() / near->mean : 1;
  if (const auto curve = Fit(key.kind)) {
    const double mean =
        curve->At(static_cast<double>(key.amount), static_cast<double>(key.attention));
    if (mean > 0) return CostValue{mean, mean * doubt};
  }
  const double ratio = static_cast<double>(std::max<int64_t>(key.amount, 1)) /
                       static_cast<double>(std::max<int64_t>(amount, 1));
  const double mean = near->mean * std::clamp(ratio, 1 / kMostScaling, kMostScaling);
  return CostValue{mean, mean * doubt};
}

}  // namespace reel::front
