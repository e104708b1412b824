// SPDX-License-Identifier: Apache-2.0
#include "server/front/scheduling/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::front {
namespace {

constexpr size_t kMaxCells = 4096;
// Start values, for the first job of a model: small, since nobody is refused for them.
constexpr double kFirstStepSeconds = 0.02;
constexpr double kFirstDecodeSecondsPerFrame = 0.002;
constexpr double kFirstTextSeconds = 0.05;
constexpr int64_t kFileHeaderBytes = 64 << 10;
constexpr int64_t kFrameHeaderBytes = 1 << 10;
constexpr double kFirstLoadBytesPerSecond = 1e9;
constexpr double kFirstCopySeconds = 0.04;  // of a gigabyte, by PCIe 4.0 with 16 lanes
constexpr double kMemoryFall = 0.1;
// Of a batch that is no batch.
constexpr double kAlone = 1.001;

absl::Duration Of(double seconds) { return absl::Seconds(seconds); }

CellKey StepKey(const model::PassWork& pass, int64_t condition_pixels) {
  return {CostKind::kStep, pass.rows, pass.rows * pass.tokens, condition_pixels};
}

CellKey ClipKey(CostKind kind, const WorkShape& shape) {
  return {kind, BucketOf(shape.frame_pixels)};
}

// Of a clip of the size in the middle of its bucket: those of others are in proportion to it. With
// guidance each token has a row more, and so a cell of its own: it would else be given what one
// without has taken. For the same reason a clip's cell is not that of a picture.
CellKey MemoryKey(const WorkShape& shape, double& scale) {
  const CellKey key = ClipKey(CostKind::kMemory, shape);
  scale = AmountOf(static_cast<int>(key.amount)) /
          static_cast<double>(std::max<int64_t>(shape.frame_pixels, 1));
  const int64_t rows_of_token = shape.rows() / std::max<int64_t>(shape.tokens(), 1);
  const int64_t encoded = shape.encoded_pixels > 0 ? 1 + BucketOf(shape.encoded_pixels) : 0;
  return {key.kind, key.amount, rows_of_token, encoded};
}

// A tenant may share steps in any mixture: these cells are counted in buckets.
CellKey SharedKey(const SeenStep& step, double& scale) {
  const int bucket = BucketOf(step.rows);
  scale = AmountOf(bucket) / static_cast<double>(std::max<int64_t>(step.rows, 1));
  return {CostKind::kSharedStep, std::lround(AmountOf(bucket)),
          std::lround(static_cast<double>(step.attention) * scale)};
}

// Of full and reused steps, as often as either was seen of this amount of work. Which ones a run
// reuses nobody knows before; its longest steps are full ones in any case.
double MeanWithReused(const CostCells& cells, const CellKey& full_key, double full) {
  CellKey key = full_key;
  key.kind = CostKind::kReusedStep;
  const CostCell* const reused = cells.Find(key);
  if (reused == nullptr) return full;
  const CostCell* const seen = cells.Find(full_key);
  const auto times = static_cast<double>(reused->count);
  const double all = times + static_cast<double>(seen == nullptr ? 1 : seen->count);
  return full + times / all * (reused->mean - full);
}

// Device time of previews, which no stage has.
absl::Duration PreviewsOf(const model::RunStats& stats) {
  if (stats.mean_batch > kAlone) return absl::ZeroDuration();  // a part of the steps is others'
  const absl::Duration stages =
      stats.text_encode + stats.denoise + stats.sound_decode + stats.decode;
  return std::max(absl::Seconds(stats.device_seconds) - stages, absl::ZeroDuration());
}

}  // namespace

absl::Duration WorkOf(const model::RunStats& stats) {
  return stats.text_encode + stats.denoise + PreviewsOf(stats) + stats.sound_decode + stats.decode +
         stats.encode_exposed;
}

void Cost::SumUp() {
  p50_ = text + previews + decode;
  p90_ = text + previews + decode_p90;
  for (const Pass& pass : passes) {
    p50_ += pass.steps * pass.step;
    p90_ += pass.steps * pass.step_p90;
  }
  if (spread > 0) p90_ = p50_ * std::max(spread, 1.0);
}

absl::Duration Cost::Left(int steps_done) const {
  if (steps_done <= 0) return p50();
  absl::Duration left = decode;
  int all = 0, ahead = 0;  // steps
  for (const Pass& pass : passes) {
    const int done = std::min(steps_done, pass.steps);
    left += (pass.steps - done) * pass.step;
    steps_done -= done;
    all += pass.steps;
    ahead += pass.steps - done;
  }
  if (ahead > 0) left += previews * ahead / all;
  return left;
}

absl::Duration Cost::longest_step_p90() const {
  absl::Duration longest;
  for (const Pass& pass : passes) longest = std::max(longest, pass.step_p90);
  return longest;
}

// Note: [Costs]
// Costs are learned apart for each model, kernel plan, kind of device, weights and build. A shape
// that was seen has a cell of its own for its steps and one for its frames. Of the others a curve
// through the cells tells, from three of them on: a constant, rows, and rows times the tokens that
// each attends to, none of them negative. Conditions have cells of their own, since nobody knows
// the rows that they add before their pixels are decoded. Previews have a price each. Steps of
// several jobs have buckets, and are on the curve too. Steps that reuse what an earlier one
// computed (kernel profile "cache") have cells of their own. In one cell with full steps they would
// be taken for the rule, and full steps for accidents. Text that was remembered by the worker
// counts as it comes: its cell is a mean.
//
// A quote is of the work of the device and of the end of the encoding: what other jobs take of the
// device in between is in the queue's time. Its p90 is what a share of the latest 50 runs stayed
// within, over what was predicted for them: nine of ten. The share grows with each quote that does
// not hold, and falls with those that do.
CostModel::Source CostModel::SourceOf(const WorkShape& shape, CostKind kind) const {
  const auto has = [kind](const CostCells& cells) {
    return cells.Has(kind) || (kind == CostKind::kStep && cells.Has(CostKind::kSharedStep));
  };
  const auto own = groups_.find(std::tie(shape.model, shape.plan, shape.where));
  if (own != groups_.end() && has(own->second)) return {&own->second, true, true};
  Source best;
  int most = -1;
  for (auto group = groups_.lower_bound(GroupKey(shape.model, "", ""));
       group != groups_.end() && std::get<0>(group->first) == shape.model; ++group) {
    const auto& [model, plan, where] = group->first;
    const bool alike = shape.where.empty() || where == shape.where;
    const int likeness = 2 * static_cast<int>(alike) + static_cast<int>(plan == shape.plan);
    if (likeness <= most || !has(group->second)) continue;
    best = {&group->second, alike, plan == shape.plan};
    most = likeness;
  }
  return best;
}

// Weights are copied beside the work: whichever takes longer is the step's time.
absl::Duration CostModel::LeastStreamingStep(const WorkShape& shape) const {
  const auto group = groups_.find(GroupKey(shape.model, "", shape.where));
  const CostCell* cell = group == groups_.end() ? nullptr : group->second.Find({CostKind::kCopy});
  const double seconds = cell == nullptr ? kFirstCopySeconds : cell->mean;
  return Of(static_cast<double>(shape.streamed_bytes) / 1e9 * seconds);
}

bool CostModel::PredictStep(const WorkShape& shape, const model::PassWork& work,
                            Cost::Pass& pass) const {
  const Source source = SourceOf(shape, CostKind::kStep);
  const auto value = source.cells == nullptr
                         ? std::nullopt
                         : source.cells->Predict(StepKey(work, shape.condition_pixels));
  if (!value) {
    pass.step = pass.step_p90 = std::max(Of(kFirstStepSeconds), LeastStreamingStep(shape));
    return false;
  }
  const CellKey key = StepKey(work, shape.condition_pixels);
  pass.step = Of(source.own ? MeanWithReused(*source.cells, key, value->mean) : value->mean);
  pass.step_p90 = Of(value->p90);
  if (source.alike) return true;
  pass.step = std::max(pass.step, LeastStreamingStep(shape));
  pass.step_p90 = std::max(pass.step_p90, pass.step);
  return false;
}

void CostModel::PredictDecode(const WorkShape& shape, Cost& cost) const {
  const Source source = SourceOf(shape, CostKind::kDecode);
  const auto value = source.cells == nullptr
                         ? std::nullopt
                         : source.cells->Predict({CostKind::kDecode, shape.frame_pixels});
  cost.decode = Of(value ? value->mean : kFirstDecodeSecondsPerFrame * shape.frames);
  cost.decode_p90 = value ? Of(value->p90) : cost.decode;
}

Cost CostModel::Predict(const WorkShape& shape) const {
  Cost cost;
  cost.observed = !shape.passes.empty();
  for (const model::PassWork& work : shape.passes) {
    Cost::Pass& pass = cost.passes.emplace_back();
    pass.steps = work.steps;
    cost.observed &= PredictStep(shape, work, pass);
  }
  PredictDecode(shape, cost);
  int64_t found = 0;
  const CostCells* texts = SourceOf(shape, CostKind::kText).cells;
  const CostCell* text =
      texts == nullptr ? nullptr : texts->Nearest(CostKind::kText, shape.condition_pixels, found);
  cost.text = Of(text == nullptr ? kFirstTextSeconds : text->mean);
  if (shape.previews > 0) {
    const CostCells* previews = SourceOf(shape, CostKind::kPreview).cells;
    const CostCell* preview = previews == nullptr ? nullptr : previews->Find({CostKind::kPreview});
    if (preview != nullptr) cost.previews = shape.previews * Of(preview->mean);
  }
  const auto own = groups_.find(std::tie(shape.model, shape.plan, shape.where));
  if (own != groups_.end() && cost.observed) cost.spread = own->second.spread().p90();
  cost.SumUp();
  return cost;
}

int64_t CostModel::PeakMemory(const WorkShape& shape) const {
  const Source source = SourceOf(shape, CostKind::kMemory);
  double scale = 1;
  const CellKey key = MemoryKey(shape, scale);
  const CostCell* cell = source.own && source.alike ? source.cells->Find(key) : nullptr;
  return cell == nullptr ? shape.memory_formula : std::lround(cell->mean / scale);
}

// Too little costs a job, too much only room: up at once, down by and by.
void CostModel::LearnMemory(const WorkShape& shape, int64_t bytes) {
  if (bytes <= 0) return;
  double scale = 1;
  const CellKey key = MemoryKey(shape, scale);
  CostCell& cell = CellOf({shape.model, shape.plan, shape.where}, key);
  const double seen = static_cast<double>(bytes) * scale;
  cell.mean =
      cell.count == 0 || seen > cell.mean ? seen : cell.mean + kMemoryFall * (seen - cell.mean);
  ++cell.count;
}

void CostModel::RaiseMemory(const WorkShape& shape, int64_t bytes) {
  double scale = 1;
  const CellKey key = MemoryKey(shape, scale);
  CostCell& cell = CellOf({shape.model, shape.plan, shape.where}, key);
  cell.mean = std::max(cell.mean, static_cast<double>(bytes) * scale);
  ++cell.count;
}

absl::Duration CostModel::LoadTime(const WorkShape& shape, int64_t weight_bytes,
                                   bool& observed) const {
  const auto group = groups_.find(GroupKey(shape.model, "", shape.where));
  const CostCell* cell = group == groups_.end() ? nullptr : group->second.Find({CostKind::kLoad});
  observed = cell != nullptr;
  return Of(observed ? cell->mean : static_cast<double>(weight_bytes) / kFirstLoadBytesPerSecond);
}

void CostModel::LearnLoad(const std::string& model, const std::string& where, absl::Duration took) {
  Learn({model, "", where}, {CostKind::kLoad}, absl::ToDoubleSeconds(took));
}

// Keeps the latest measurement only: a device may have moved to another slot.
void CostModel::LearnCopies(const std::string& model, const std::string& where,
                            int64_t bytes_per_second) {
  if (bytes_per_second <= 0) return;
  CostCell& cell = CellOf({model, "", where}, {CostKind::kCopy});
  cell.mean = 1e9 / static_cast<double>(bytes_per_second);
  ++cell.count;
}

OutputSize CostModel::Output(const WorkShape& shape) const {
  // An encoder that cannot make a block smaller sends its pixels as they are: one and a half bytes
  // each. The rest is for headers, of the file and of each frame.
  const int64_t most = kFileHeaderBytes + shape.frames * kFrameHeaderBytes + shape.frame_pixels +
                       shape.frame_pixels / 2;
  const auto group = groups_.find(OutputGroup(shape));
  const CostCell* cell =
      group == groups_.end() ? nullptr : group->second.Find(ClipKey(CostKind::kOutput, shape));
  if (cell == nullptr) return {.likely = 0, .most = most};
  return {.likely = std::min(most, static_cast<int64_t>(cell->mean)),
          .most = std::min(most, static_cast<int64_t>(cell->p90()))};
}

// The fineness stands where other groups have the plan: neither kernels nor devices change the size
// of a file.
CostModel::GroupKey CostModel::OutputGroup(const WorkShape& shape) {
  return {shape.model, absl::StrCat("crf ", shape.crf), ""};
}

void CostModel::LearnOutput(const WorkShape& shape, int64_t bytes) {
  Learn(OutputGroup(shape), ClipKey(CostKind::kOutput, shape), static_cast<double>(bytes));
}

void CostModel::GiveUpOldest() {
  const auto& [group, key] = by_age_.begin()->second;
  group->second.Remove(key);
  if (group->second.all().empty()) groups_.erase(group);
  by_age_.erase(by_age_.begin());
}

CostCell& CostModel::CellOf(const GroupKey& group_key, const CellKey& key) {
  const auto known = groups_.find(group_key);
  const bool is_new = known == groups_.end() || !known->second.all().contains(key);
  if (is_new && by_age_.size() >= kMaxCells) GiveUpOldest();
  const auto group = groups_.try_emplace(group_key).first;
  CostCell& cell = group->second.At(key);
  by_age_.erase(cell.learned);
  cell.learned = ++changes_;
  by_age_.emplace(cell.learned, std::pair(group, key));
  changed_ = true;
  return cell;
}

void CostModel::Learn(const GroupKey& group, const CellKey& key, double value) {
  if (!std::isfinite(value) || value < 0) return;
  CellOf(group, key).Learn(value);
}

void CostModel::LearnStep(const SeenStep& step, absl::Duration took) {
  const GroupKey group(step.model, step.plan, step.where);
  const double seconds = absl::ToDoubleSeconds(took);
  if (!step.shared) {
    const CostKind kind = step.reused ? CostKind::kReusedStep : CostKind::kStep;
    return Learn(group, {kind, step.rows, step.attention, step.condition_pixels}, seconds);
  }
  if (step.reused) return;  // it tells of neither kind
  double scale = 1;
  const CellKey key = SharedKey(step, scale);
  Learn(group, key, seconds * scale);
}

void CostModel::LearnRun(const WorkShape& shape, const model::RunStats& stats,
                         absl::Duration predicted, absl::Duration quoted) {
  const GroupKey group(shape.model, shape.plan, shape.where);
  Learn(group, {CostKind::kText, shape.condition_pixels}, absl::ToDoubleSeconds(stats.text_encode));
  Learn(group, {CostKind::kDecode, shape.frame_pixels},
        absl::ToDoubleSeconds(stats.sound_decode + stats.decode + stats.encode_exposed));
  if (shape.previews > 0 && stats.mean_batch <= kAlone) {
    Learn(group, {CostKind::kPreview}, absl::ToDoubleSeconds(PreviewsOf(stats)) / shape.previews);
  }
  if (predicted > absl::ZeroDuration()) {
    groups_[group].spread().Add(absl::FDivDuration(WorkOf(stats), predicted),
                                absl::FDivDuration(quoted, predicted));
  }
}

// A cell, with the place of its group first; a group's spread, which has no kind.
std::string CostModel::Serialize() const {
  std::string text;
  for (const auto& [group_key, cells] : groups_) {
    const auto& [model, plan, where] = group_key;
    const std::string place = absl::StrCat(model, "\t", plan, "\t", where, "\t");
    for (const auto& [key, cell] : cells.all()) {
      absl::StrAppend(&text, place, static_cast<int>(key.kind), "\t", key.amount, "\t",
                      key.attention, "\t", key.condition_pixels, "\t", cell.mean, "\t",
                      cell.deviation, "\t", cell.count, "\n");
    }
    const std::string ratios = cells.spread().Serialize();
    if (!ratios.empty()) absl::StrAppend(&text, place, ratios, "\n");
  }
  return text;
}

void CostModel::ParseCell(const std::vector<std::string>& parts) {
  CellKey key;
  CostCell cell;
  int kind = 0;
  if (!absl::SimpleAtoi(parts[3], &kind) || kind < 0 || kind >= kCostKinds ||
      !absl::SimpleAtoi(parts[4], &key.amount) || !absl::SimpleAtoi(parts[5], &key.attention) ||
      !absl::SimpleAtoi(parts[6], &key.condition_pixels) ||
      !absl::SimpleAtod(parts[7], &cell.mean) || !absl::SimpleAtod(parts[8], &cell.deviation) ||
      !absl::SimpleAtoi(parts[9], &cell.count) || !std::isfinite(cell.mean) || cell.mean < 0 ||
      !std::isfinite(cell.deviation) || cell.count <= 0) {
    return;
  }
  key.kind = static_cast<CostKind>(kind);
  CostCell& place = CellOf({parts[0], parts[1], parts[2]}, key);
  cell.learned = place.learned;
  place = cell;
}

void CostModel::Parse(std::string_view text) {
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    if (parts.size() == 10) ParseCell(parts);
    if (parts.size() != 4) continue;
    // After its cells: a group without any is of no use.
    const auto group = groups_.find(GroupKey(parts[0], parts[1], parts[2]));
    if (group != groups_.end()) group->second.spread().Parse(parts[3]);
  }
  changed_ = false;  // it is stored already
}

bool CostModel::TakeChanged() { return std::exchange(changed_, false); }

}  // namespace reel::front
