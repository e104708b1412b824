// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/stored_videos.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/dispatcher_state.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kReapAtOnce = 100;

}  // namespace

absl::Status VideoNotFinal(const std::string& id) {
  const std::string name = absl::StrCat("videos/", id);
  ErrorDetails details = AboutVideo(id);
  details.precondition_type = "STATE";
  details.precondition_subject = name;
  details.precondition_description = "the video is queued or running";
  return MakeError(Reason::kVideoNotFinal,
                   absl::StrCat("The video is queued or running; cancel it first: ", name),
                   details);
}

void StoredVideos::Find(const Reach& reach, const std::string& id,
                        Answer<std::shared_ptr<Job>> done) {
  if (const ActiveJob* job = state_.jobs.FindOf(reach, id))
    return done(std::shared_ptr<Job>(job->log));
  // Another tenant's goes the same way as an unknown one, so that time tells nothing either.
  records_.Find(id, [this, reach, id, done = std::move(done)](auto row) mutable {
    if (!row.ok()) return done(row.status());
    if (!row->has_value() || !reach.Covers((*row)->tenant) || state_.jobs.Find(id) != nullptr) {
      return done(state_.replica.NotFound(id));
    }
    auto stored = records_.ReadBack(**row);
    if (!stored.ok()) return done(stored.status());
    done(std::shared_ptr<Job>(*std::move(stored)));
  });
}

void StoredVideos::List(const ListQuery& query, Answer<ListPage> done) {
  PageQuery page;
  if (!query.reach.everybodys) page.tenant = query.reach.tenant;
  page.states = query.states;
  page.before_time = query.before_time;
  page.before_id = query.before_id;
  page.oldest_first = query.oldest_first;
  page.limit = query.page_size + 1;  // one more shows whether there is more
  records_.Page(std::move(page), [this, query, done = std::move(done)](auto rows) mutable {
    if (!rows.ok()) return done(rows.status());
    const auto size = static_cast<size_t>(query.page_size);
    ListPage found;
    found.more = rows->size() > size;
    if (found.more) rows->resize(size);
    for (const JobRow& row : *rows) {
      // One that cannot be read costs itself alone; the log has been told.
      auto video = records_.Read(row);
      if (video.ok()) found.videos.push_back(*std::move(video));
    }
    if (found.videos.empty() && found.more) {
      ListQuery rest = query;
      rest.before_time = rows->back().create_time;
      rest.before_id = rows->back().id;
      return List(rest, std::move(done));
    }
    done(std::move(found));
  });
}

void StoredVideos::Delete(const Reach& reach, const std::string& id, JobStore::Done done) {
  if (state_.jobs.FindOf(reach, id) != nullptr) return done(VideoNotFinal(id));
  records_.Find(id, [this, reach, id, done = std::move(done)](auto row) mutable {
    if (!row.ok()) return done(row.status());
    if (!row->has_value() || !reach.Covers((*row)->tenant) || state_.jobs.Find(id) != nullptr) {
      return done(state_.replica.NotFound(id));
    }
    Remove(**row, std::move(done));
  });
}

void StoredVideos::Remove(const JobRow& row, JobStore::Done done) {
  if (!state_.removals.Begin(row.id)) return done(state_.replica.NotFound(row.id));
  auto finish = [this, row, done = std::move(done)](absl::Status status) mutable {
    OnRemoved(row, status);
    done(std::move(status));
  };
  ports_.media.Remove(
      row.id, row.attempt,
      state_.thread.Here<absl::Status>(
          [this, id = row.id, finish = std::move(finish)](absl::Status removed) mutable {
            if (!removed.ok()) return finish(std::move(removed));
            records_.Remove(id, std::move(finish));
          }));
}

void StoredVideos::OnRemoved(const JobRow& row, const absl::Status& status) {
  state_.removals.End(row.id);
  if (status.ok()) {
    // Only a success has media that are counted.
    const bool counted = row.state == VideoState::kSucceeded;
    state_.ledger.AddStored(row.tenant, counted ? -row.media_bytes : 0);
  } else {
    Log(LogLevel::kError, "A video could not be removed", {{"video", row.id}, {"error", status}});
  }
}

void StoredVideos::Reap(absl::AnyInvocable<void()> done) {
  records_.Expired(ports_.clock.Wall(), kReapAtOnce,
                   [this, done = std::move(done)](auto rows) mutable {
                     if (rows.ok() && !rows->empty()) {
                       return RemoveAll(*rows, std::move(done));
                     }
                     if (done) done();
                   });
}

void StoredVideos::RemoveAll(const std::vector<JobRow>& rows, absl::AnyInvocable<void()> done) {
  struct Batch {
    size_t left;
    bool more;  // and nothing went wrong, which would go wrong again
    absl::AnyInvocable<void()> done;
  };
  auto batch =
      std::make_shared<Batch>(Batch{rows.size(), rows.size() == kReapAtOnce, std::move(done)});
  // The last one that is gone calls on.
  for (const JobRow& row : rows) {
    Remove(row, [this, batch](const absl::Status& removed) {
      batch->more &= removed.ok();
      if (--batch->left > 0) return;
      if (batch->more) return Reap(std::move(batch->done));
      if (batch->done) batch->done();
    });
  }
}

}  // namespace reel::front
