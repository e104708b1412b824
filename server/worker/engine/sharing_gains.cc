// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/sharing_gains.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace reel::worker {
namespace {

// Four buckets to a doubling.
int64_t BucketOf(int64_t rows) {
  return std::lround(4 * std::log2(static_cast<double>(std::max<int64_t>(rows, 1))));
}

}  // namespace

double SharingGains::Cell::Median() const {
  std::vector<double> sorted = latest;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void SharingGains::Cell::Add(double value) {
  if (latest.size() < kWindow) {
    latest.push_back(value);
    return;
  }
  latest[next] = value;
  next = (next + 1) % kWindow;
}

bool SharingGains::Cell::EndsTry(bool tells) {
  if (!tells && ++tried < kMostTried) return false;
  tried = 0;
  return true;
}

SharingGains::Key SharingGains::KeyOf(const Sharers& sharers) {
  if (sharers.rows.size() == 1) return KeyOfOne(sharers, 0);
  const auto [least, largest] = std::minmax_element(sharers.rows.begin(), sharers.rows.end());
  const int64_t sum = std::accumulate(sharers.rows.begin(), sharers.rows.end(), int64_t{0});
  return {std::string(sharers.model), std::string(sharers.plan), sharers.rows.size(), BucketOf(sum),
          *least == *largest ? 0 : 1 + BucketOf(*largest)};
}

SharingGains::Key SharingGains::KeyOfOne(const Sharers& sharers, size_t job) {
  return {std::string(sharers.model), std::string(sharers.plan), 1, sharers.rows[job], 0};
}

const SharingGains::Cell* SharingGains::Find(const Key& key) const {
  const auto found = cells_.find(key);
  return found == cells_.end() ? nullptr : &found->second;
}

SharingGains::Cell& SharingGains::At(const Key& key) {
  if (cells_.size() >= kMostCells && !cells_.contains(key)) {
    cells_.erase(std::min_element(cells_.begin(), cells_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  }
  Cell& cell = cells_[key];
  cell.used = ++uses_;
  return cell;
}

SharingGains::Advice SharingGains::Judge(const Sharers& sharers) const {
  if (sharers.rows.size() < 2) return Advice::kShare;
  const Cell* const cell = Find(KeyOf(sharers));
  const absl::Duration unhurried = cell == nullptr ? absl::ZeroDuration() : kTryAfter * cell->took;
  const Cell* const lead = Find(KeyOfOne(sharers, 0));
  const bool is_unseen_alone = lead != nullptr && lead->shared_steps >= kLookAfter;
  if (is_unseen_alone && sharers.slack >= unhurried) return Advice::kLeadAlone;
  if (cell == nullptr || !cell->is_known() || cell->Median() >= kLeastGain) return Advice::kShare;
  const bool is_due = cell->apart >= unhurried && sharers.slack >= unhurried;
  return is_due ? Advice::kShare : Advice::kLose;
}

std::optional<absl::Duration> SharingGains::Apart(const Sharers& sharers) const {
  double sum = 0;
  for (size_t i = 0; i < sharers.rows.size(); ++i) {
    const Cell* const alone = Find(KeyOfOne(sharers, i));
    if (alone == nullptr || !alone->is_known()) return std::nullopt;
    sum += alone->Median();
  }
  return absl::Seconds(sum);
}

void SharingGains::Stepped(const Sharers& sharers, absl::Duration took, bool tells) {
  if (sharers.rows.empty() || took <= absl::ZeroDuration()) return;
  Cell& lead = At(KeyOfOne(sharers, 0));
  if (sharers.rows.size() == 1) {
    if (lead.EndsTry(tells)) lead.shared_steps = 0;
    if (tells) lead.Add(absl::ToDoubleSeconds(took));
    return;
  }
  ++lead.shared_steps;
  for (size_t i = 1; i < sharers.rows.size(); ++i) At(KeyOfOne(sharers, i));
  Cell& cell = At(KeyOf(sharers));
  const bool was_tried = cell.is_known() && cell.Median() < kLeastGain;
  if (was_tried && cell.EndsTry(tells)) cell.apart = absl::ZeroDuration();
  if (!tells) return;
  cell.took = took;
  const auto apart = Apart(sharers);
  if (!apart) return;
  const double gain = absl::FDivDuration(*apart, took);
  // The gain changed; discard its history.
  if (was_tried && gain >= kLeastGain) cell.Clear();
  cell.Add(gain);
}

void SharingGains::KeptApart(const Sharers& sharers, absl::Duration took) {
  if (sharers.rows.size() < 2) return;
  At(KeyOf(sharers)).apart += took;
}

void SharingGains::Forget(std::string_view model) {
  std::erase_if(cells_, [&](const auto& entry) { return entry.first.model == model; });
}

}  // namespace reel::worker
