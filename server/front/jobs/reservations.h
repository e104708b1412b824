// SPDX-License-Identifier: Apache-2.0
// Requests that were let in and wait for their log: each counts as a job until it is adopted.
#pragma once

#include <string>

#include "server/front/jobs/clock.h"
#include "server/front/jobs/job_table.h"
#include "server/front/jobs/quotes.h"
#include "server/front/jobs/replica.h"
#include "server/front/jobs/stored_videos.h"
#include "server/front/store/media_store.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Reservations {
 public:
  Reservations(JobTable& jobs, Quotes& quotes, StoredVideos& stored, const MediaStore& media,
               const Replica& replica, const Clock& clock);

  // The video as it is to be written. It counts under the id that it is given, until it is adopted
  // or its reservation is dropped.
  void Reserve(NewJob request, Answer<Video> done) {
    Reserve(std::move(request), false, std::move(done));
  }
  void Drop(const std::string& id);

 private:
  void Reserve(NewJob request, bool reaped, Answer<Video> done);
  ActiveJob Make(const NewJob& request, CheckedRequest checked, Video video) const;

  JobTable& jobs_;
  Quotes& quotes_;
  StoredVideos& stored_;
  const MediaStore& media_;
  const Replica& replica_;
  const Clock& clock_;
};

}  // namespace reel::front
