// SPDX-License-Identifier: Apache-2.0
#include "server/front/fleet/view_batch.h"

#include <utility>

namespace reel::front {

std::optional<FleetJob> ViewBatch::FindJob(const Key& key) {
  const auto found = changes_.find(key);
  if (found != changes_.end()) return found->second.job;
  return records_.FindJob(key);
}

FoldRecords ViewBatch::RecordsOf(const FoldEntry& entry) {
  FoldRecords records;
  Key video{entry.subject.tenant, entry.subject.id};
  if (std::holds_alternative<BindingSaid>(entry.said)) {
    const auto found = bindings_.find(video);
    records.binding = found != bindings_.end() ? found->second : records_.FindBinding(video);
    if (!records.binding) return records;
    video.second = records.binding->video;
  }
  records.job = FindJob(video);
  if (!records.job) records.trace = records_.FindTrace(video);
  return records;
}

FoldVerdict ViewBatch::Fold(const FoldEntry& entry) {
  if (entry.sequence <= position_) return FoldVerdict::kOld;
  position_ = entry.sequence;
  if (std::holds_alternative<UnreadableSaid>(entry.said)) return FoldVerdict::kUnreadable;
  FoldRecords records = RecordsOf(entry);
  const bool was_live = records.job && !HasEnded(records.job->phase);
  FoldResult result = Judge(std::move(records), entry);
  const Key key{entry.subject.tenant, entry.subject.id};
  if (result.binding) bindings_[key] = *std::move(result.binding);
  if (result.job) Note(key, *std::move(result.job), was_live);
  for (auto& [id, other] : result.others) {
    const Key of_other{key.first, id};
    if (!FindJob(of_other) && !records_.FindTrace(of_other))
      Note(of_other, std::move(other), false);
  }
  return result.verdict;
}

void ViewBatch::Note(const Key& key, FleetJob job, bool was_live) {
  Change& change = changes_[key];
  change.is_new |= job.requested == position_;
  if (was_live && HasEnded(job.phase)) {
    change.ended = true;
    ends_.push_back(key);
  }
  if (job.deleted) {
    // Its bytes go, which its bill is read from.
    if (change.ended) ReadFacts(key, change);
    change.deleted = true;
  }
  change.job = std::move(job);
}

void ViewBatch::ReadFacts(const Key& key, Change& change) {
  if (reader_ != nullptr) change.facts = reader_->ReadFacts(key, change.job);
}

void ViewBatch::Finish() {
  for (auto& [key, change] : changes_) {
    if ((change.is_new || change.ended) && !change.deleted) ReadFacts(key, change);
  }
}

}  // namespace reel::front
