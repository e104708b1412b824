// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/leftovers.h"

#include <optional>

#include "server/front/node/fleet_video.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kPageSize = 200;

// For a video that has succeeded.
uint64_t LastSequenceOf(const Job& job) {
  uint64_t last = 0;
  while (const std::optional<LogEntry> entry = job.NextEntry(last)) last = entry->sequence;
  return last;
}

}  // namespace

void Leftovers::Look() {
  if (begun_) return;
  begun_ = true;
  ListQuery query;
  query.reach.everybodys = true;
  query.page_size = kPageSize;
  query.states = {VideoState::kSucceeded};
  NextPage(query);
}

void Leftovers::NextPage(const ListQuery& query) {
  ++open_;
  jobs_.List(query, thread_.Here<absl::StatusOr<ListPage>>(
                        [this, query](const absl::StatusOr<ListPage>& page) {
                          --open_;
                          OnPage(query, page);
                        }));
}

void Leftovers::OnPage(ListQuery query, const absl::StatusOr<ListPage>& page) {
  if (!page.ok()) {
    Log(LogLevel::kError, "This server's store cannot tell what an earlier process has rendered",
        {{"error", page.status()}});
    return;
  }
  for (const Video& video : page->videos) {
    const Key key{video.tenant, video.id};
    const Use use = UseOf(key, video);
    if (use == Use::kWaits) Find(key);
    if (use == Use::kNone) Remove(key);
  }
  if (!page->more) return;
  query.before_time = page->videos.back().create_time;
  query.before_id = page->videos.back().id;
  NextPage(query);
}

Leftovers::Use Leftovers::UseOf(const Key& key, const Video& video) const {
  const std::optional<ViewVideo> known = view_.FindVideo(key);
  // From before this server joined, forgotten by the log, or of another log: keep it.
  if (!known) return Use::kKept;
  const FleetJob& job = known->job;
  // An earlier process may have read of the deletion without acting on it.
  if (job.deleted || job.owner != options_.node || job.begun != EpochOf(video.attempt)) {
    return Use::kNone;
  }
  if (job.phase == FleetPhase::kClaimed) return Use::kWaits;
  return job.phase == FleetPhase::kSucceeded ? Use::kKept : Use::kNone;
}

void Leftovers::Find(const Key& key) {
  ++open_;
  jobs_.Find({key.first}, key.second,
             thread_.Here<absl::StatusOr<std::shared_ptr<Job>>>(
                 [this, key](const absl::StatusOr<std::shared_ptr<Job>>& job) {
                   --open_;
                   OnFound(key, job);
                 }));
}

// A file that cannot be read is removed; its video is released and rendered again.
void Leftovers::OnFound(const Key& key, const absl::StatusOr<std::shared_ptr<Job>>& job) {
  if (!job.ok()) return Remove(key);
  found_({key, *job, LastSequenceOf(**job)});
}

void Leftovers::Remove(const Key& key) {
  ++open_;
  jobs_.Delete({key.first}, key.second,
               thread_.Here<absl::Status>([this](const absl::Status&) { --open_; }));
}

}  // namespace reel::front
