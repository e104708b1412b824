// SPDX-License-Identifier: Apache-2.0
// Admitted requests whose videos are not in the log yet. Each video counts as a job until it is
// adopted.
#pragma once

#include <string>

#include "server/front/jobs/dispatcher_state.h"
#include "server/front/jobs/quotes.h"
#include "server/front/jobs/stored_videos.h"

namespace reel::front {

// Confined to the dispatcher's thread. What it is given outlives it.
class Reservations {
 public:
  Reservations(DispatcherState& state, const DispatcherPorts& ports, Quotes& quotes,
               StoredVideos& stored)
      : state_(state), ports_(ports), quotes_(quotes), stored_(stored) {}

  // Admits all videos of a request or none. Answers with the first one as it is to be written; the
  // others derive from it (VideoAt). Each counts until it is adopted or its reservation is dropped.
  void Reserve(NewJob request, Answer<Video> done) {
    Reserve(std::move(request), false, std::move(done));
  }
  void Drop(const std::string& id);
  // Makes the same checks and reserves nothing.
  absl::StatusOr<Video> Validate(const NewJob& request);
  absl::StatusOr<CostEstimate> Estimate(const NewJob& request);

 private:
  void Reserve(NewJob request, bool reaped, Answer<Video> done);
  // Checks each video with the earlier ones in place.
  absl::StatusOr<Video> ReserveAll(NewJob request);
  void Add(const NewJob& request, const CheckedRequest& checked, const Video& first, int place,
           const Outlook& told);
  void DropAll(const Video& first, int count);
  ActiveJob Make(const NewJob& request, CheckedRequest checked, Video video) const;

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  Quotes& quotes_;
  StoredVideos& stored_;
};

}  // namespace reel::front
