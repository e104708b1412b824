// SPDX-License-Identifier: Apache-2.0
// Videos by name and page: the fleet's from the view, others from this server's own store.
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

// Confined to the node's thread. What it is given outlives it.
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

  // A video that the view has, that the caller reaches, and that has neither expired nor been
  // deleted.
  std::optional<ViewVideo> Reached(const Reach& reach, const std::string& id) const;
  // Whether the name is of a video that only the view may show.
  bool IsFleets(const std::string& id) const;
  // Whether that is all that this server can say of it: another may have made it a moment ago.
  bool MayBeNew(const Reach& reach, const std::string& id) const;
  // Why such a one is not reached.
  absl::Status WhyNot(const Reach& reach, const std::string& id) const;

  void Find(const Reach& reach, const std::string& id, Answer<std::shared_ptr<Job>> done);
  void List(const ListQuery& query, Answer<ListPage> done);

 private:
  struct Listing;
  bool IsShown(const ViewVideo& video) const;
  std::optional<ViewVideo> Known(const Reach& reach, const std::string& id) const;
  // Of the fleet's; one more than the page has.
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
