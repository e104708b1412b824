// SPDX-License-Identifier: Apache-2.0
// Finds and lists videos: the fleet's in the view, others in this server's own store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/front/fleet/fleet_view.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/jobs/own_thread.h"
#include "server/front/jobs/timer_queue.h"
#include "server/front/node/node_options.h"
#include "server/front/node/video_faces.h"

namespace reel::front {

// Confined to the node's thread. Arguments outlive it.
class FleetReads {
 public:
  using Key = FleetState::Key;
  FleetReads(Dispatcher& jobs, FleetView& view, VideoFaces& faces, const OwnThread& thread,
             const NodeOptions& options, const Clock& clock)
      : jobs_(jobs),
        view_(view),
        faces_(faces),
        thread_(thread),
        options_(options),
        clock_(clock) {}

  // The video, if the view has it, the caller may see it, and it has neither expired nor been
  // deleted.
  std::optional<ViewVideo> Reached(const Reach& reach, const std::string& id) const;
  // Whether this id belongs to the fleet, so that only the view may show it.
  bool IsFleets(const std::string& id) const;
  // Whether another server may have created the video a moment ago, so that the view may lack it.
  bool MayBeNew(const Reach& reach, const std::string& id) const;
  // The error for a video that Reached does not return.
  absl::Status WhyNot(const Reach& reach, const std::string& id) const;

  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done);
  void List(const ListQuery& query, Answer<ListPage> done);

 private:
  struct Listing;
  bool IsShown(const ViewVideo& video) const;
  std::optional<ViewVideo> Known(const Reach& reach, const std::string& id) const;
  // The fleet's videos of the page, and one more.
  std::vector<Video> FleetsPage(const ListQuery& query) const;
  void AskStore(std::shared_ptr<Listing> listing);
  static void Finish(Listing& listing);

  Dispatcher& jobs_;
  FleetView& view_;
  VideoFaces& faces_;
  const OwnThread& thread_;
  const NodeOptions& options_;
  const Clock& clock_;
};

}  // namespace reel::front
