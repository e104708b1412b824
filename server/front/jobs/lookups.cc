// SPDX-License-Identifier: Apache-2.0
// Videos by name and in pages: live ones from memory, the others from the store.
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/front/jobs/not_found.h"
#include "server/front/jobs/scheduler.h"

namespace reel::front {

void Scheduler::Find(const std::string& tenant, const std::string& id,
                     Answer<std::shared_ptr<Job>> done) {
  ActiveJob* job = FindActive(id);
  if (job != nullptr && job->row.tenant == tenant && job->phase != Phase::kCreating) {
    return done(std::shared_ptr<Job>(job->log));
  }
  // Another tenant's goes the same way as an unknown one, so that time tells nothing either.
  parts_.store.Find(
      id, Here<absl::StatusOr<std::optional<JobRow>>>(
              [this, tenant, id, done = std::move(done)](auto row) mutable {
                if (!row.ok()) return done(row.status());
                if (!row->has_value() || (*row)->tenant != tenant || FindActive(id) != nullptr) {
                  return done(VideoNotFound(id));
                }
                auto stored = ReadBack(Latest(**row));
                if (!stored.ok()) return done(stored.status());
                done(std::shared_ptr<Job>(*std::move(stored)));
              }));
}

void Scheduler::List(ListQuery query, Answer<ListPage> done) {
  PageQuery page;
  page.tenant = query.tenant;
  for (VideoState state : query.states) page.states.push_back(static_cast<RowState>(state));
  page.before_time = query.before_time;
  page.before_id = query.before_id;
  page.limit = query.page_size + 1;  // one more shows whether there is more
  parts_.store.Page(
      std::move(page),
      Here<absl::StatusOr<std::vector<JobRow>>>([this, size = static_cast<size_t>(query.page_size),
                                                 done = std::move(done)](auto rows) mutable {
        if (!rows.ok()) return done(rows.status());
        ListPage found;
        found.more = rows->size() > size;
        if (found.more) rows->resize(size);
        for (const JobRow& row : *rows) {
          if (const ActiveJob* job = FindActive(row.id)) {
            found.videos.push_back(job->log->Snapshot());
            continue;
          }
          auto video = parts_.serializer.Parse(Latest(row).video);
          if (!video.ok()) return done(video.status());
          video->tenant = row.tenant;
          found.videos.push_back(*std::move(video));
        }
        done(std::move(found));
      }));
}

}  // namespace reel::front
