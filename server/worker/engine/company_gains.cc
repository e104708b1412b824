// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/company_gains.h"

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

double CompanyGains::Cell::Median() const {
  std::vector<double> sorted = latest;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void CompanyGains::Cell::Add(double value) {
  if (latest.size() < kWindow) {
    latest.push_back(value);
    return;
  }
  latest[next] = value;
  next = (next + 1) % kWindow;
}

bool CompanyGains::Cell::EndsTry(bool tells) {
  if (!tells && ++tried < kMostTried) return false;
  tried = 0;
  return true;
}

CompanyGains::Key CompanyGains::KeyOf(const Company& company) {
  if (company.rows.size() == 1) return KeyOfOne(company, 0);
  const auto [least, largest] = std::minmax_element(company.rows.begin(), company.rows.end());
  const int64_t sum = std::accumulate(company.rows.begin(), company.rows.end(), int64_t{0});
  return {std::string(company.model), std::string(company.plan), company.rows.size(), BucketOf(sum),
          *least == *largest ? 0 : 1 + BucketOf(*largest)};
}

CompanyGains::Key CompanyGains::KeyOfOne(const Company& company, size_t job) {
  return {std::string(company.model), std::string(company.plan), 1, company.rows[job], 0};
}

const CompanyGains::Cell* CompanyGains::Find(const Key& key) const {
  const auto found = cells_.find(key);
  return found == cells_.end() ? nullptr : &found->second;
}

CompanyGains::Cell& CompanyGains::At(const Key& key) {
  if (cells_.size() >= kMostCells && !cells_.contains(key)) {
    cells_.erase(std::min_element(cells_.begin(), cells_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  }
  Cell& cell = cells_[key];
  cell.used = ++uses_;
  return cell;
}

CompanyGains::Advice CompanyGains::Judge(const Company& company) const {
  if (company.rows.size() < 2) return Advice::kShare;
  const Cell* const cell = Find(KeyOf(company));
  const absl::Duration unhurried = cell == nullptr ? absl::ZeroDuration() : kTryAfter * cell->took;
  const Cell* const lead = Find(KeyOfOne(company, 0));
  const bool is_unseen_alone = lead != nullptr && lead->in_company >= kLookAfter;
  if (is_unseen_alone && company.slack >= unhurried) return Advice::kLeadAlone;
  if (cell == nullptr || !cell->is_known() || cell->Median() >= kLeastGain) return Advice::kShare;
  const bool is_due = cell->apart >= unhurried && company.slack >= unhurried;
  return is_due ? Advice::kShare : Advice::kLose;
}

std::optional<absl::Duration> CompanyGains::Apart(const Company& company) const {
  double sum = 0;
  for (size_t i = 0; i < company.rows.size(); ++i) {
    const Cell* const alone = Find(KeyOfOne(company, i));
    if (alone == nullptr || !alone->is_known()) return std::nullopt;
    sum += alone->Median();
  }
  return absl::Seconds(sum);
}

void CompanyGains::Stepped(const Company& company, absl::Duration took, bool tells) {
  if (company.rows.empty() || took <= absl::ZeroDuration()) return;
  Cell& lead = At(KeyOfOne(company, 0));
  if (company.rows.size() == 1) {
    if (lead.EndsTry(tells)) lead.in_company = 0;
    if (tells) lead.Add(absl::ToDoubleSeconds(took));
    return;
  }
  ++lead.in_company;
  for (size_t i = 1; i < company.rows.size(); ++i) At(KeyOfOne(company, i));
  Cell& cell = At(KeyOf(company));
  const bool was_tried = cell.is_known() && cell.Median() < kLeastGain;
  if (was_tried && cell.EndsTry(tells)) cell.apart = absl::ZeroDuration();
  if (!tells) return;
  cell.took = took;
  const auto apart = Apart(company);
  if (!apart) return;
  const double gain = absl::FDivDuration(*apart, took);
  // The gain changed; discard its history.
  if (was_tried && gain >= kLeastGain) cell.Clear();
  cell.Add(gain);
}

void CompanyGains::KeptApart(const Company& company, absl::Duration took) {
  if (company.rows.size() < 2) return;
  At(KeyOf(company)).apart += took;
}

void CompanyGains::Forget(std::string_view model) {
  std::erase_if(cells_, [&](const auto& entry) { return entry.first.model == model; });
}

}  // namespace reel::worker
