// SPDX-License-Identifier: Apache-2.0
// Keys of a fleet's objects in its store, and the sealed bytes of its videos in its log.
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

// Encodes and decodes videos for the fleet's log: in the format of a server's store, sealed if the
// fleet has a key.
// Thread-safe.
class LoggedVideos final : public VideoReader {
 public:
  using Key = FleetState::Key;
  // Arguments outlive it.
  LoggedVideos(const VideoSerializer& serializer, const Seal& seal)
      : serializer_(serializer), seal_(seal) {}

  std::string Write(const Key& key, const Video& video) const {
    return seal_.Close(serializer_.Serialize(video), NameOf(key));
  }
  // FAILED_PRECONDITION: sealed with a key that this server does not have.
  absl::StatusOr<Video> Read(const Key& key, const std::string& bytes) const;
  VideoFacts ReadFacts(const Key& key, const FleetJob& job) const override;

 private:
  // The same for all messages of a video, because the end of one epoch may be written again under
  // the next.
  static std::string NameOf(const Key& key) { return "video/" + key.first + "/" + key.second; }

  const VideoSerializer& serializer_;
  const Seal& seal_;
};

// Prefixes of the keys of a fleet's results and states, and of its conditions.
std::string MediaPrefix(const std::string& fleet);
std::string ConditionPrefix(const std::string& fleet);

// Key of an epoch's result: an owner that was superseded writes to another key.
std::string MediaKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch);
// Key of the state that an epoch keeps beside its result.
std::string StateKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch);
// Keys differ by tenant, so that nobody learns what another tenant has sent.
std::string ConditionKey(const std::string& fleet, const std::string& tenant,
                         const std::string& name);
// The possible keys of a condition: first the one that this server writes, last the one of a server
// without a sealing key.
std::vector<std::string> ConditionKeys(const Seal& seal, const std::string& fleet,
                                       const std::string& tenant, const std::string& sha256);

// Marker of an uploaded file: an empty object whose key encodes these fields. The file's bytes are
// stored like a condition's.
struct FilePlace {
  std::string tenant, name;  // as in the condition's key
  int64_t hour = 0;          // of the upload, since 1970
  int64_t size_bytes = 0;
  std::string content_type;

  absl::Time expire_time() const;  // no request may name it afterwards
};
std::string FilePrefix(const std::string& fleet);
// Empty if the type is not one of a condition.
std::string FileKey(const std::string& fleet, const FilePlace& place);
// nullopt if `key` is not one of the fleet.
std::optional<FilePlace> ReadFileKey(const std::string& fleet, const std::string& key);

struct MediaPlace {
  std::string tenant, id;
  uint32_t epoch = 0;
  bool is_state = false;  // else a result
};
// nullopt if `key` is not that of a result or state of the fleet.
std::optional<MediaPlace> ReadMediaKey(const std::string& fleet, const std::string& key);

}  // namespace reel::front
