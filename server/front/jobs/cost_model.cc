// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::front {
namespace {

constexpr double kLearningRate = 0.05;
constexpr size_t kMaxCells = 4096;
constexpr double kOutlierFactor = 5;
constexpr int kOutliersThatCount = 3;
// Start values, for the first job of a model: small, since nobody is refused for them.
constexpr double kFirstStepSeconds = 0.02;
constexpr double kFirstDecodeSecondsPerFrame = 0.002;
constexpr double kFirstTextSeconds = 0.05;
// A cell says something of its neighbours, but a far one only so much.
constexpr double kMostScaling = 4;
constexpr int64_t kFileHeaderBytes = 64 << 10;
constexpr int64_t kFrameHeaderBytes = 1 << 10;

// Four buckets to a doubling, from 256 on.
int BucketOf(int64_t amount) {
  if (amount <= 256) return 0;
  return static_cast<int>(std::lround(4 * std::log2(static_cast<double>(amount) / 256)));
}

double ScaleBetween(int from, int to) {
  return std::clamp(std::exp2((to - from) / 4.0), 1 / kMostScaling, kMostScaling);
}

absl::Duration Of(double seconds) { return absl::Seconds(seconds); }

}  // namespace

WorkShape ShapeOf(const model::GenerationSpec& resolved, const model::ModelCard& card,
                  const std::string& plan) {
  WorkShape shape;
  shape.model = card.name;
  shape.plan = plan;
  shape.passes = model::PassesOf(resolved, card);
  shape.frames = resolved.num_frames;
  const model::PassWork& last = shape.passes.back();
  shape.frame_pixels = int64_t{last.width} * last.height * resolved.num_frames;
  shape.crf = resolved.encoding.crf.value_or(0);
  shape.weights = card.parameters > 0;
  return shape;
}

int64_t WorkShape::tokens() const { return passes.empty() ? 0 : model::LargestOf(passes).tokens; }

int64_t WorkShape::rows() const {
  int64_t most = 0;
  for (const model::PassWork& pass : passes) most = std::max(most, pass.rows);
  return most;
}

int WorkShape::steps() const {
  int steps = 0;
  for (const model::PassWork& pass : passes) steps += pass.steps;
  return steps;
}

absl::Duration Cost::p50() const {
  absl::Duration sum = text + decode;
  for (const Pass& pass : passes) sum += pass.steps * pass.step;
  return sum;
}

absl::Duration Cost::p90() const {
  absl::Duration sum = text + decode_p90;
  for (const Pass& pass : passes) sum += pass.steps * pass.step_p90;
  return sum;
}

absl::Duration Cost::Left(int steps_done) const {
  if (steps_done <= 0) return p50();
  absl::Duration left = decode;
  for (const Pass& pass : passes) {
    const int done = std::min(steps_done, pass.steps);
    left += (pass.steps - done) * pass.step;
    steps_done -= done;
  }
  return left;
}

absl::Duration Cost::longest_step_p90() const {
  absl::Duration longest;
  for (const Pass& pass : passes) longest = std::max(longest, pass.step_p90);
  return longest;
}

double CostModel::Cell::p90() const {
  // 1.28 standard deviations, each 1.25 mean deviations; and the doubt of a young cell.
  const double doubt = count >= 5 ? 0.1 : 0.5;
  return std::max(mean * (1 + doubt), mean + 1.6 * deviation);
}

const CostModel::Cell* CostModel::Nearest(const Key& key, int& bucket) const {
  const Cell* best = nullptr;
  int best_distance = 0;
  const auto first = cells_.lower_bound(Key{key.model, "", Kind::kStep, 0});
  for (auto cell = first; cell != cells_.end() && cell->first.model == key.model; ++cell) {
    if (cell->first.kind != key.kind) continue;
    int distance = std::abs(cell->first.bucket - key.bucket);
    if (cell->first.plan != key.plan) distance += 1000;
    if (best != nullptr && distance >= best_distance) continue;
    best = &cell->second;
    best_distance = distance;
    bucket = cell->first.bucket;
  }
  return best;
}

bool CostModel::PredictStep(const WorkShape& shape, int64_t rows, Cost::Pass& pass) const {
  const int wanted = BucketOf(rows);
  int bucket = 0;
  const Cell* cell = Nearest({shape.model, shape.plan, Kind::kStep, wanted}, bucket);
  if (cell == nullptr) {
    pass.step = pass.step_p90 = Of(kFirstStepSeconds);
    return false;
  }
  pass.step = Of(cell->mean * ScaleBetween(bucket, wanted));
  pass.step_p90 = Of(cell->p90() * ScaleBetween(bucket, wanted));
  return true;
}

Cost CostModel::Predict(const WorkShape& shape) const {
  Cost cost;
  cost.observed = !shape.passes.empty();
  for (const model::PassWork& work : shape.passes) {
    Cost::Pass& pass = cost.passes.emplace_back();
    pass.steps = work.steps;
    cost.observed &= PredictStep(shape, work.rows, pass);
  }
  int bucket = 0;
  const int clip = BucketOf(shape.frame_pixels);
  if (const Cell* cell = Nearest({shape.model, shape.plan, Kind::kDecode, clip}, bucket)) {
    cost.decode = Of(cell->mean * ScaleBetween(bucket, clip));
    cost.decode_p90 = Of(cell->p90() * ScaleBetween(bucket, clip));
  } else {
    cost.decode = cost.decode_p90 = Of(kFirstDecodeSecondsPerFrame * shape.frames);
  }
  const Cell* text = Nearest({shape.model, shape.plan, Kind::kText, 0}, bucket);
  cost.text = Of(text == nullptr ? kFirstTextSeconds : text->mean);
  return cost;
}

int64_t CostModel::PeakMemory(const WorkShape& shape) const {
  const auto cell =
      cells_.find({shape.model, shape.plan, Kind::kMemory, BucketOf(shape.frame_pixels)});
  return cell == cells_.end() ? 0 : static_cast<int64_t>(cell->second.mean);
}

// The fineness stands where other cells have the plan: kernels do not change the size of a file.
CostModel::Key CostModel::OutputKey(const WorkShape& shape) {
  return {shape.model, absl::StrCat("crf ", shape.crf), Kind::kOutput,
          BucketOf(shape.frame_pixels)};
}

OutputSize CostModel::Output(const WorkShape& shape) const {
  // An encoder that cannot make a block smaller sends its pixels as they are: one and a half bytes
  // each. The rest is for headers, of the file and of each frame.
  const int64_t most = kFileHeaderBytes + shape.frames * kFrameHeaderBytes + shape.frame_pixels +
                       shape.frame_pixels / 2;
  const auto cell = cells_.find(OutputKey(shape));
  if (cell == cells_.end()) return {.likely = 0, .most = most};
  return {.likely = std::min(most, static_cast<int64_t>(cell->second.mean)),
          .most = std::min(most, static_cast<int64_t>(cell->second.p90()))};
}

void CostModel::LearnOutput(const WorkShape& shape, int64_t bytes) {
  Learn(OutputKey(shape), static_cast<double>(bytes));
}

void CostModel::Learn(const Key& key, double value) {
  if (!std::isfinite(value) || value < 0) return;
  if (cells_.size() >= kMaxCells && !cells_.contains(key)) return;
  Cell& cell = cells_[key];
  changed_ = true;
  if (cell.count >= 5 && value > kOutlierFactor * cell.mean) {
    // One is an accident; several in a row are how things are now.
    if (++cell.outliers < kOutliersThatCount) return;
    cell = Cell{};
  }
  cell.outliers = 0;
  ++cell.count;
  const double rate = std::max(kLearningRate, 1.0 / static_cast<double>(cell.count));
  const double error = value - cell.mean;
  cell.mean += rate * error;
  if (cell.count > 1) cell.deviation += rate * (std::abs(error) - cell.deviation);
}

void CostModel::LearnStep(const std::string& model, const std::string& plan, int64_t rows,
                          absl::Duration took) {
  Learn({model, plan, Kind::kStep, BucketOf(rows)}, absl::ToDoubleSeconds(took));
}

void CostModel::LearnRun(const WorkShape& shape, const model::RunStats& stats) {
  const int clip = BucketOf(shape.frame_pixels);
  Learn({shape.model, shape.plan, Kind::kText, 0}, absl::ToDoubleSeconds(stats.text_encode));
  Learn({shape.model, shape.plan, Kind::kDecode, clip},
        absl::ToDoubleSeconds(stats.decode + stats.encode_exposed));
  if (stats.peak_memory_bytes > 0) {
    const Key key{shape.model, shape.plan, Kind::kMemory, clip};
    if (cells_.size() >= kMaxCells && !cells_.contains(key)) return;
    Cell& peak = cells_[key];
    peak.mean = std::max(peak.mean, static_cast<double>(stats.peak_memory_bytes));
    ++peak.count;
  }
}

std::string CostModel::Serialize() const {
  std::string text;
  for (const auto& [key, cell] : cells_) {
    absl::StrAppend(&text, key.model, "\t", key.plan, "\t", static_cast<int>(key.kind), "\t",
                    key.bucket, "\t", cell.mean, "\t", cell.deviation, "\t", cell.count, "\n");
  }
  return text;
}

void CostModel::Parse(std::string_view text) {
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    Key key;
    Cell cell;
    int kind = 0;
    if (parts.size() != 7 || !absl::SimpleAtoi(parts[2], &kind) || kind < 0 || kind > 4 ||
        !absl::SimpleAtoi(parts[3], &key.bucket) || !absl::SimpleAtod(parts[4], &cell.mean) ||
        !absl::SimpleAtod(parts[5], &cell.deviation) || !absl::SimpleAtoi(parts[6], &cell.count) ||
        !std::isfinite(cell.mean) || cell.mean < 0 || cells_.size() >= kMaxCells) {
      continue;
    }
    key.model = parts[0];
    key.plan = parts[1];
    key.kind = static_cast<Kind>(kind);
    cells_[key] = cell;
  }
}

bool CostModel::TakeChanged() { return std::exchange(changed_, false); }

}  // namespace reel::front
