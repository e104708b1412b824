// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/lookups.h"

#include <utility>

namespace reel::front {

void Lookups::Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done) {
  if (const ActiveJob* job = jobs_.FindOf(reach, id)) return done(std::shared_ptr<Job>(job->log));
  // Another tenant's goes the same way as an unknown one, so that time tells nothing either.
  records_.Find(id, [this, reach, id, done = std::move(done)](auto row) mutable {
    if (!row.ok()) return done(row.status());
    if (!row->has_value() || !reach.Covers((*row)->tenant) || jobs_.Find(id) != nullptr) {
      return done(replica_.NotFound(id));
    }
    auto stored = records_.ReadBack(**row);
    if (!stored.ok()) return done(stored.status());
    done(std::shared_ptr<Job>(*std::move(stored)));
  });
}

void Lookups::List(const ListQuery& query, Answer<ListPage> done) {
  PageQuery page;
  if (!query.reach.everybodys) page.tenant = query.reach.tenant;
  for (VideoState state : query.states) page.states.push_back(static_cast<RowState>(state));
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

}  // namespace reel::front
