// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/fleet_reads.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "server/front/jobs/video_id.h"
#include "server/front/node/fleet_errors.h"

namespace reel::front {

// What a page is made of, until it is full.
struct FleetReads::Listing {
  ListQuery query;  // what is asked of the store next
  size_t size = 0;  // of the page
  std::vector<Video> videos;
  size_t of_store = 0;
  std::optional<absl::Time> enough;  // what comes after it has no place on it
  Answer<ListPage> done;

  bool IsPast(absl::Time time) const {
    return enough && (query.oldest_first ? time > *enough : time < *enough);
  }
};

bool FleetReads::IsFleets(const std::string& id) const {
  return ReplicaOf(id) == parts_.options.fleet;
}

bool FleetReads::IsShown(const KnownVideo& video) const {
  return video.readable && !video.gone(parts_.clock.Wall());
}

std::optional<FleetReads::Key> FleetReads::KeyOf(const Reach& reach, const std::string& id) const {
  if (reach.everybodys) return parts_.index.FindId(id);
  return Key{reach.tenant, id};
}

absl::Status FleetReads::WhyNot(const Reach& reach, const std::string& id) const {
  const std::optional<Key> key = KeyOf(reach, id);
  const KnownVideo* const video = key ? parts_.index.Find(*key) : nullptr;
  const bool is_locked = video != nullptr && video->locked && !video->deleted;
  return is_locked ? VideoLocked(id) : NoSuchVideo(id);
}

std::optional<FleetReads::Key> FleetReads::Reached(const Reach& reach,
                                                   const std::string& id) const {
  const std::optional<Key> key = KeyOf(reach, id);
  const KnownVideo* const video = key ? parts_.index.Find(*key) : nullptr;
  if (video == nullptr || !IsShown(*video)) return std::nullopt;
  return key;
}

bool FleetReads::MayBeNew(const Reach& reach, const std::string& id) const {
  if (!IsFleets(id) || reach.from_peer) return false;
  const std::optional<Key> key = KeyOf(reach, id);
  return !key || parts_.index.Find(*key) == nullptr;
}

void FleetReads::Find(const Reach& reach, const std::string& id,
                      Answer<std::shared_ptr<Job>> done) {
  const std::optional<Key> key = Reached(reach, id);
  if (!key) {
    if (IsFleets(id) || reach.from_peer) return done(WhyNot(reach, id));
    return parts_.jobs.Find(reach, id, std::move(done));
  }
  std::shared_ptr<FleetVideo> face =
      reach.from_peer ? parts_.faces.FindForPeer(*key) : parts_.faces.Find(*key);
  if (face == nullptr) return done(NoSuchVideo(id));
  const KnownVideo& video = *parts_.index.Find(*key);
  const bool is_here = video.phase == FleetPhase::kSucceeded && video.owner == parts_.options.node;
  if (!is_here) {
    if (video.phase == FleetPhase::kSucceeded) parts_.faces.Keep(*key, face);
    return done(std::shared_ptr<Job>(std::move(face)));
  }
  // Its file is.
  parts_.jobs.Find(
      reach, id, [face, done = std::move(done)](absl::StatusOr<std::shared_ptr<Job>> own) mutable {
        if (own.ok()) face->SetLocal(*std::move(own));
        done(std::shared_ptr<Job>(std::move(face)));
      });
}

std::vector<Video> FleetReads::FleetsPage(const ListQuery& query) const {
  std::vector<Video> page;
  const auto wanted = static_cast<size_t>(query.page_size) + 1;
  const auto wants = [&](VideoState state) {
    return query.states.empty() ||
           std::find(query.states.begin(), query.states.end(), state) != query.states.end();
  };
  const auto visit = [&](const Key& key, const KnownVideo& known) {
    // What a node has claimed may still wait for its worker.
    const bool may_be = known.phase == FleetPhase::kClaimed || wants(StateOf(known.phase));
    if (query.reach.Covers(key.first) && may_be && IsShown(known)) {
      const auto face = parts_.faces.Find(key);
      std::optional<Video> video;
      if (face != nullptr) video = face->Snapshot();
      if (video && wants(video->state)) page.push_back(*std::move(video));
    }
    return page.size() < wanted;
  };
  if (query.oldest_first) {
    parts_.index.WalkUp(query.before_time, query.before_id, visit);
  } else {
    parts_.index.Walk(query.before_time, query.before_id, visit);
  }
  return page;
}

void FleetReads::List(const ListQuery& query, Answer<ListPage> done) {
  auto listing = std::make_shared<Listing>();
  listing->query = query;
  listing->size = static_cast<size_t>(query.page_size);
  listing->videos = FleetsPage(query);
  if (listing->videos.size() > listing->size) listing->enough = listing->videos.back().create_time;
  listing->done = std::move(done);
  AskStore(std::move(listing));
}

// Its rows of the fleet's videos are how this node runs them, and the view has them.
void FleetReads::AskStore(std::shared_ptr<Listing> listing) {
  const ListQuery query = listing->query;
  parts_.jobs.List(
      query,
      parts_.thread.Here<absl::StatusOr<ListPage>>(
          [this, listing = std::move(listing)](const absl::StatusOr<ListPage>& page) mutable {
            if (!page.ok()) return listing->done(page.status());
            for (const Video& video : page->videos) {
              if (IsFleets(video.id)) continue;
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
