// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/sharing_gains.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace reel::worker {
namespace {

// A batch of a size that is still unknown after so many steps seldom makes steps that say
// something.
constexpr int kMostUnknown = 24;
// Steps of a trial, mostly.
constexpr double kMeasured = 5;
// A gain that differs by less has not changed: machines are busy.
constexpr double kSameGain = 0.25;
// Weight of the latest steps of what is used.
constexpr double kSmoothing = 0.1;

// So many buckets to a doubling.
int64_t BucketOf(int64_t value, double of_doubling) {
  return std::lround(of_doubling * std::log2(static_cast<double>(std::max<int64_t>(value, 1))));
}
int64_t BucketOfJobs(size_t jobs) { return BucketOf(static_cast<int64_t>(jobs), 2); }
int64_t BucketOfRows(int64_t rows) { return BucketOf(rows, 4); }

size_t Half(size_t jobs) { return (jobs + 1) / 2; }

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// In solo runs: of each job while more come, else until they end in the mean.
double CostOf(size_t jobs, double gain, const Sharers& all) {
  if (all.more_come) return 1 / gain;
  const double groups = std::ceil(static_cast<double>(all.rows.size()) / static_cast<double>(jobs));
  return static_cast<double>(jobs) / gain * (groups + 1) / 2;
}

bool IsHurried(const Sharers& all, absl::Duration took) {
  return all.slack < SharingGains::kMostWait * took;
}

}  // namespace

void SharingGains::Cell::Add(double value) {
  if (latest.size() < kWindow) {
    latest.push_back(value);
  } else {
    latest[next] = value;
    next = (next + 1) % kWindow;
  }
}

void SharingGains::Cell::AddSolo(double seconds) {
  Add(seconds);
  if (known || latest.size() == kWindow) known = MedianOf(latest);
}

void SharingGains::Cell::AddGain(double gain) {
  Add(gain);
  if (is_on_trial) return;
  if (known) {
    *known += kSmoothing * (MedianOf(latest) - *known);
  } else if (latest.size() == kWindow) {
    known = MedianOf(latest);
  }
}

void SharingGains::Cell::BeginTrial() {
  is_on_trial = true;
  tried = told = 0;
  latest.clear();
  next = 0;
}

void SharingGains::Cell::EndTrialIfDone() {
  if (told < kTrialTells && tried < kMostTried) return;
  is_on_trial = false;
  unused = absl::ZeroDuration();
  ++in_vain;
  if (told < kTrialTells) return;
  const double now = MedianOf(latest);
  const bool pays = now >= kLeastGain, paid = *known >= kLeastGain;
  const bool has_changed = std::abs(now - *known) > kSameGain * *known;
  if (has_changed || pays != paid) in_vain = 0;
  known = has_changed ? now : (now + *known) / 2;
}

SharingGains::Key SharingGains::KeyOf(const Sharers& sharers) {
  if (sharers.rows.size() == 1) return KeyOfOne(sharers, 0);
  const auto [least, largest] = std::minmax_element(sharers.rows.begin(), sharers.rows.end());
  Key key = {std::string(sharers.model), std::string(sharers.plan),
             BucketOfJobs(sharers.rows.size()), BucketOfRows(*largest)};
  if (*least == *largest) return key;
  const int64_t sum = std::accumulate(sharers.rows.begin(), sharers.rows.end(), int64_t{0});
  key.sum = 1 + BucketOfRows(sum);
  return key;
}

SharingGains::Key SharingGains::KeyOfOne(const Sharers& sharers, size_t job) {
  return {std::string(sharers.model), std::string(sharers.plan), 0, sharers.rows[job], 0};
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

bool SharingGains::IsLookDue(const Sharers& all) const {
  const Cell* const lead = Find(KeyOfOne(all, 0));
  if (lead == nullptr || lead->led < (lead->known ? kLookAfter : kFirstLookAfter)) return false;
  const Cell* const together = Find(KeyOf(all));
  return !IsHurried(all, together == nullptr ? absl::ZeroDuration() : together->took);
}

std::vector<SharingGains::Size> SharingGains::KnownSizes(const Sharers& all) const {
  std::vector<Size> sizes;
  for (size_t jobs = all.rows.size(); jobs > 1; jobs = Half(jobs)) {
    const Cell* const cell = Find(KeyOf(all.First(jobs)));
    if (cell == nullptr || !cell->known) continue;
    sizes.push_back({jobs, CostOf(jobs, *cell->known, all), cell});
  }
  return sizes;
}

std::optional<size_t> SharingGains::Unmeasured(const Sharers& all, bool all_lose) const {
  const Key of_all = KeyOf(all);
  const Cell* const together = Find(of_all);
  if (together == nullptr || !together->known) return all.rows.size();
  const bool are_equal = of_all.sum == 0;
  if (!all_lose && (!are_equal || IsHurried(all, together->took))) return std::nullopt;
  for (size_t jobs = Half(all.rows.size()); jobs > 1; jobs = Half(jobs)) {
    const Cell* const cell = Find(KeyOf(all.First(jobs)));
    if (cell == nullptr || (!cell->known && cell->tried < kMostUnknown)) return jobs;
  }
  return std::nullopt;
}

SharingGains::Choice SharingGains::Choose(const Sharers& all) const {
  if (all.rows.size() < 2) return {};
  if (IsLookDue(all)) return {.is_look = true};
  const std::vector<Size> sizes = KnownSizes(all);
  const auto is_less = [](const Size& a, const Size& b) { return a.cost < b.cost; };
  const auto best = std::min_element(sizes.begin(), sizes.end(), is_less);
  const double apart = CostOf(1, all.more_come ? kLeastGain : 1, all);
  const bool all_lose = best == sizes.end() || best->cost > apart;
  if (const auto unmeasured = Unmeasured(all, all_lose)) {
    return {*unmeasured, /*is_look=*/*unmeasured < all.rows.size()};
  }
  Choice choice;
  if (!all_lose) {
    const auto is_as_good = [&](const Size& size) { return kAsGood * size.cost <= best->cost; };
    choice.jobs = std::find_if(sizes.begin(), sizes.end(), is_as_good)->jobs;
  }
  const double least = all_lose ? apart : best->cost;
  for (const Size& size : sizes) {
    const Cell& cell = *size.cell;
    if (size.jobs == choice.jobs || IsHurried(all, cell.took)) continue;
    const double loss = std::max(0.0, 1 - least / size.cost);
    const double wait =
        std::max(kLeastWait, kMeasured * loss / kTrialCost) * std::exp2(std::min(cell.in_vain, 10));
    if (cell.is_on_trial || cell.unused >= std::min(wait, kMostWait) * cell.took) {
      return {size.jobs, /*is_look=*/size.jobs < choice.jobs};
    }
  }
  return choice;
}

std::optional<absl::Duration> SharingGains::Apart(const Sharers& sharers) const {
  double sum = 0;
  for (size_t i = 0; i < sharers.rows.size(); ++i) {
    const Cell* const alone = Find(KeyOfOne(sharers, i));
    if (alone == nullptr || !alone->known) return std::nullopt;
    sum += *alone->known;
  }
  return absl::Seconds(sum);
}

std::optional<double> SharingGains::GainOf(const Sharers& sharers) const {
  const Cell* const cell = Find(KeyOf(sharers));
  return cell == nullptr ? std::nullopt : cell->known;
}

void SharingGains::SteppedAlone(Cell& lead, absl::Duration took, bool tells) {
  ++lead.tried;
  lead.told += tells ? 1 : 0;
  const int wanted = lead.known ? 1 : static_cast<int>(kWindow);
  if (lead.told >= wanted || lead.tried >= kMostTried) lead.led = lead.tried = lead.told = 0;
  if (tells) lead.AddSolo(absl::ToDoubleSeconds(took));
}

void SharingGains::Stepped(const Sharers& made, absl::Duration took, bool tells) {
  if (made.rows.empty() || took <= absl::ZeroDuration()) return;
  Cell& lead = At(KeyOfOne(made, 0));
  if (made.rows.size() == 1) return SteppedAlone(lead, took, tells);
  ++lead.led;
  for (size_t i = 1; i < made.rows.size(); ++i) At(KeyOfOne(made, i));
  Cell& cell = At(KeyOf(made));
  const bool was_away = cell.known && cell.unused >= kLeastWait * cell.took;
  if (was_away && !cell.is_on_trial) cell.BeginTrial();
  ++cell.tried;
  const auto apart = tells ? Apart(made) : std::nullopt;
  if (tells) cell.took = took;
  if (apart) {
    ++cell.told;
    cell.AddGain(absl::FDivDuration(*apart, took));
  }
  if (cell.is_on_trial) {
    cell.EndTrialIfDone();
  } else {
    cell.unused = absl::ZeroDuration();
  }
}

void SharingGains::PassedOver(const Sharers& all, size_t jobs, absl::Duration took) {
  for (size_t other = all.rows.size(); other > 1; other = Half(other)) {
    const Key key = KeyOf(all.First(other));
    if (other != jobs && Find(key) != nullptr) At(key).unused += took;
  }
}

void SharingGains::Forget(std::string_view model) {
  std::erase_if(cells_, [&](const auto& entry) { return entry.first.model == model; });
}

}  // namespace reel::worker
