// SPDX-License-Identifier: Apache-2.0
// Requests that were let in and wait for their log: each counts as a job until it is adopted.
#pragma once

#include <string>

#include "server/front/jobs/dispatcher_ports.h"
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

  // The video as it is to be written. It counts under the id that it is given, until it is adopted
  // or its reservation is dropped.
  void Reserve(NewJob request, Answer<Video> done) {
    Reserve(std::move(request), false, std::move(done));
  }
  void Drop(const std::string& id);

 private:
  void Reserve(NewJob request, bool reaped, Answer<Video> done);
  ActiveJob Make(const NewJob& request, CheckedRequest checked, Video video) const;

  DispatcherState& state_;
  const DispatcherPorts& ports_;
  Quotes& quotes_;
  StoredVideos& stored_;
};

}  // namespace reel::front
