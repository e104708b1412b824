// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_reads.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "server/front/jobs/video_id.h"
#include "server/front/node/fleet_errors.h"
#include "server/front/node/video_index.h"

namespace reel::front {

namespace {

constexpr FleetPhase kEveryPhase[] = {FleetPhase::kQueued,    FleetPhase::kClaimed,
                                      FleetPhase::kSucceeded, FleetPhase::kFailed,
                                      FleetPhase::kCancelled, FleetPhase::kExpired};

}  // namespace

// A page of a list while it is being filled.
struct FleetReads::Listing {
  ListQuery query;  // the next query of the store
  size_t size = 0;  // of the page
  std::vector<Video> videos;
  size_t of_store = 0;
  std::optional<absl::Time> enough;  // later videos do not fit on the page
  Answer<ListPage> done;

  bool IsPast(absl::Time time) const {
    return enough && (query.oldest_first ? time > *enough : time < *enough);
  }
};

bool FleetReads::IsFleets(const std::string& id) const { return ReplicaOf(id) == options_.fleet; }

bool FleetReads::IsShown(const ViewVideo& video) const {
  return video.facts.readable && !video.gone(clock_.Wall());
}

std::optional<ViewVideo> FleetReads::Known(const Reach& reach, const std::string& id) const {
  std::optional<Key> key = Key{reach.tenant, id};
  if (reach.everybodys) key = view_.FindId(id);
  if (!key) return std::nullopt;
  return view_.FindVideo(*key);
}

absl::Status FleetReads::WhyNot(const Reach& reach, const std::string& id) const {
  const std::optional<ViewVideo> video = Known(reach, id);
  if (!video && IsFleets(id) && !view_.ready()) {
    return FleetUnavailable("This server's view of the fleet is behind");
  }
  const bool is_locked = video && video->facts.locked && !video->job.deleted;
  return is_locked ? VideoLocked(id) : NoSuchVideo(id);
}

std::optional<ViewVideo> FleetReads::Reached(const Reach& reach, const std::string& id) const {
  std::optional<ViewVideo> video = Known(reach, id);
  if (!video || !IsShown(*video)) return std::nullopt;
  return video;
}

bool FleetReads::MayBeNew(const Reach& reach, const std::string& id) const {
  return IsFleets(id) && !reach.from_peer && !Known(reach, id);
}

void FleetReads::Find(const Reach& reach, const std::string& id,
                      Answer<std::shared_ptr<Job>> done) {
  const std::optional<ViewVideo> video = Reached(reach, id);
  if (!video) {
    if (IsFleets(id) || reach.from_peer) return done(WhyNot(reach, id));
    return jobs_.Find(reach, id, std::move(done));
  }
  std::shared_ptr<FleetVideo> face =
      reach.from_peer ? faces_.FindForPeer(video->key) : faces_.Find(video->key);
  if (face == nullptr) return done(NoSuchVideo(id));
  const bool is_done = video->job.phase == FleetPhase::kSucceeded;
  const bool is_here = is_done && video->job.owner == options_.node;
  if (!is_here) {
    if (is_done) faces_.Keep(video->key, face);
    return done(std::shared_ptr<Job>(std::move(face)));
  }
  // The file is here, unless it was just deleted or this server's folder is new.
  const bool is_stored = !video->job.object.empty();
  jobs_.Find(reach, id,
             [face, reader = faces_.MakeReader(video->key), is_stored,
              done = std::move(done)](absl::StatusOr<std::shared_ptr<Job>> own) mutable {
               if (absl::IsNotFound(own.status()) && !is_stored) return done(own.status());
               if (!own.ok() || reader == nullptr) return done(std::shared_ptr<Job>(face));
               reader->SetLocal(*std::move(own));
               done(std::shared_ptr<Job>(std::move(reader)));
             });
}

std::vector<Video> FleetReads::FleetsPage(const ListQuery& query) const {
  const auto wants = [&](VideoState state) {
    return query.states.empty() ||
           std::find(query.states.begin(), query.states.end(), state) != query.states.end();
  };
  ViewPage of_view;
  if (!query.reach.everybodys) of_view.tenant = query.reach.tenant;
  of_view.oldest_first = query.oldest_first;
  of_view.after_time = query.before_time;
  of_view.after_id = query.before_id;
  of_view.now = clock_.Wall();
  of_view.size = static_cast<size_t>(query.page_size) + 1;
  for (const FleetPhase phase : kEveryPhase) {
    // A claimed video may still wait for a worker, and a cancelled one may be stored as failed.
    const bool may_be_other = phase == FleetPhase::kClaimed ||
                              (phase == FleetPhase::kFailed && wants(VideoState::kCancelled));
    if (may_be_other || wants(StateOf(phase))) of_view.phases.push_back(phase);
  }
  std::vector<Video> page;
  while (true) {
    const std::vector<ViewVideo> found = view_.Page(of_view);
    for (const ViewVideo& known : found) {
      std::optional<Video> video = faces_.Snapshot(known.key, known.job);
      if (video && wants(video->state)) page.push_back(*std::move(video));
      if (page.size() == of_view.size) return page;
    }
    if (found.size() < of_view.size) return page;
    of_view.after_time = found.back().facts.create_time;
    of_view.after_id = found.back().key.second;
  }
}

void FleetReads::List(const ListQuery& query, Answer<ListPage> done) {
  auto listing = std::make_shared<Listing>();
  listing->query = query;
  listing->size = static_cast<size_t>(query.page_size);
  listing->videos = FleetsPage(query);
  if (listing->videos.size() > listing->size) listing->enough = listing->videos.back().create_time;
  listing->done = std::move(done);
  if (options_.alone) return Finish(*listing);  // a lone server has no others
  AskStore(std::move(listing));
}

// Adds videos that ended while this server was alone. The store's rows of the fleet's videos are
// skipped: the view has those.
void FleetReads::AskStore(std::shared_ptr<Listing> listing) {
  const ListQuery query = listing->query;
  jobs_.List(
      query,
      thread_.Here<absl::StatusOr<ListPage>>(
          [this, listing = std::move(listing)](const absl::StatusOr<ListPage>& page) mutable {
            if (!page.ok()) return listing->done(page.status());
            for (const Video& video : page->videos) {
              if (IsFleets(video.id) || view_.FindVideo({video.tenant, video.id})) continue;
              listing->videos.push_back(video);
              ++listing->of_store;
            }
            if (!page->more || listing->of_store > listing->size ||
                listing->IsPast(page->videos.back().create_time)) {
              return Finish(*listing);
            }
            listing->query.before_time = page->videos.back().create_time;
            listing->query.before_id = page->videos.back().id;
            AskStore(std::move(listing));
          }));
}

void FleetReads::Finish(Listing& listing) {
  std::sort(listing.videos.begin(), listing.videos.end(), [](const Video& a, const Video& b) {
    return std::tie(a.create_time, a.id) > std::tie(b.create_time, b.id);
  });
  if (listing.query.oldest_first) std::reverse(listing.videos.begin(), listing.videos.end());
  ListPage page;
  page.more = listing.videos.size() > listing.size;
  if (page.more) listing.videos.resize(listing.size);
  page.videos = std::move(listing.videos);
  listing.done(std::move(page));
}

}  // namespace reel::front
