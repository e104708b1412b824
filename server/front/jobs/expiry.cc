// SPDX-License-Identifier: Apache-2.0
// Stored videos on their way out: media first, then the row; a tombstone keeps the request id of a
// finished one.
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"
#include "server/front/jobs/not_found.h"
#include "server/front/jobs/scheduler.h"
#include "server/logging/log.h"

namespace reel::front {
namespace {

constexpr int kReapAtOnce = 100;

absl::Status NotFinal(const std::string& id) {
  ErrorDetails details;
  details.metadata = {{"video", absl::StrCat("videos/", id)}};
  details.precondition_type = "STATE";
  details.precondition_subject = absl::StrCat("videos/", id);
  details.precondition_description = "the video is queued or running";
  return MakeError(Reason::kVideoNotFinal,
                   absl::StrCat("The video is queued or running; cancel it first: videos/", id),
                   details);
}

}  // namespace

void Scheduler::Delete(const std::string& tenant, const std::string& id, JobStore::Done done) {
  ActiveJob* job = FindActive(id);
  if (job != nullptr && job->row.tenant == tenant && job->phase != Phase::kCreating) {
    return done(NotFinal(id));
  }
  parts_.store.Find(
      id, Here<absl::StatusOr<std::optional<JobRow>>>(
              [this, tenant, id, done = std::move(done)](auto row) mutable {
                if (!row.ok()) return done(row.status());
                if (!row->has_value() || (*row)->tenant != tenant || FindActive(id) != nullptr) {
                  return done(VideoNotFound(id));
                }
                RemoveStored(Latest(**row), std::move(done));
              }));
}

void Scheduler::RemoveStored(const JobRow& row, JobStore::Done done) {
  if (!removing_.insert(row.id).second) return done(VideoNotFound(row.id));
  const bool success = row.state == RowState::kSucceeded;
  const absl::Time tombstone = success ? wall() + options_.keep_request_ids : absl::InfinitePast();
  auto finish = [this, id = row.id, tenant = row.tenant, bytes = success ? row.media_bytes : 0,
                 done = std::move(done)](absl::Status status) mutable {
    removing_.erase(id);
    if (status.ok()) {
      unsaved_.erase(id);
      ledger_.AddStored(tenant, -bytes);
    } else {
      Log(LogLevel::kError, "A video could not be removed", {{"video", id}, {"error", status}});
    }
    done(std::move(status));
  };
  parts_.media.Remove(row.id, row.attempt,
                      Here<absl::Status>([this, id = row.id, tombstone, finish = std::move(finish)](
                                             absl::Status removed) mutable {
                        if (!removed.ok()) return finish(std::move(removed));
                        parts_.store.Remove(id, tombstone, Here<absl::Status>(std::move(finish)));
                      }));
}

void Scheduler::Reap(Task done) {
  parts_.store.Expired(
      wall(), kReapAtOnce,
      Here<absl::StatusOr<std::vector<JobRow>>>([this, done = std::move(done)](auto rows) mutable {
        if (!rows.ok() || rows->empty()) {
          if (done) done();
          return;
        }
        struct Batch {
          size_t left;
          bool more;  // and nothing went wrong, which would go wrong again
          Task done;
        };
        auto batch = std::make_shared<Batch>(
            Batch{rows->size(), rows->size() == kReapAtOnce, std::move(done)});
        // The last one that is gone calls on.
        for (const JobRow& row : *rows) {
          RemoveStored(row, [this, batch](const absl::Status& removed) {
            batch->more &= removed.ok();
            if (--batch->left > 0) return;
            if (batch->more) return Reap(std::move(batch->done));
            if (batch->done) batch->done();
          });
        }
      }));
}

}  // namespace reel::front
