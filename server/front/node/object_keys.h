// SPDX-License-Identifier: Apache-2.0
// Objects and videos of a fleet as bytes in its store and its log: under which keys, and how
// sealed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/front/fleet/log_fold.h"
#include "server/front/fleet/seal.h"
#include "server/front/fleet/view_video.h"
#include "server/front/jobs/video.h"

namespace reel::front {

// Videos as bytes of the fleet's log: as a server's store keeps them, sealed where the fleet has a
// key.
// Thread-safe.
class LoggedVideos final : public VideoReader {
 public:
  using Key = FleetState::Key;
  // Both outlive it.
  LoggedVideos(const VideoSerializer& serializer, const Seal& seal)
      : serializer_(serializer), seal_(seal) {}

  std::string Write(const Key& key, const Video& video) const {
    return seal_.Close(serializer_.Serialize(video), NameOf(key));
  }
  // FAILED_PRECONDITION: it is sealed with a key that is not here.
  absl::StatusOr<Video> Read(const Key& key, const std::string& bytes) const;
  VideoFacts ReadFacts(const Key& key, const FleetJob& job) const override;

 private:
  // One for all messages of a video: the end of an epoch may be written again under the next.
  static std::string NameOf(const Key& key) { return "video/" + key.first + "/" + key.second; }

  const VideoSerializer& serializer_;
  const Seal& seal_;
};

// Pure from here on. What begins the keys of all results and states, of all conditions of a fleet.
std::string MediaPrefix(const std::string& fleet);
std::string ConditionPrefix(const std::string& fleet);

// The result of one epoch: whoever comes too late writes elsewhere.
std::string MediaKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch);
// The state that the video of one epoch has kept, beside its result.
std::string StateKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch);
// A tenant's own: what another has sent tells it nothing.
std::string ConditionKey(const std::string& fleet, const std::string& tenant,
                         const std::string& name);
// Where a condition may lie: first where this server puts it, last where one without a key does, in
// the clear and by its hash.
std::vector<std::string> ConditionKeys(const Seal& seal, const std::string& fleet,
                                       const std::string& tenant, const std::string& sha256);

// The marker of an uploaded file: an empty object whose key has these fields. The file's bytes are
// stored as those of a condition.
struct FilePlace {
  std::string tenant, name;  // as the condition's key has them
  int64_t hour = 0;          // since 1970, in which it was sent
  int64_t size_bytes = 0;
  std::string content_type;

  absl::Time expire_time() const;  // no request may name it afterwards
};
std::string FilePrefix(const std::string& fleet);
// "" where the type is none of a condition's.
std::string FileKey(const std::string& fleet, const FilePlace& place);
// nullopt: it is none of the fleet's.
std::optional<FilePlace> ReadFileKey(const std::string& fleet, const std::string& key);

struct MediaPlace {
  std::string tenant, id;
  uint32_t epoch = 0;
  bool is_state = false;  // else it is the result
};
// nullopt: it is none of the fleet's results or states.
std::optional<MediaPlace> ReadMediaKey(const std::string& fleet, const std::string& key);

}  // namespace reel::front
