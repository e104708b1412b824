// SPDX-License-Identifier: Apache-2.0
// Ids of videos: "{replica}-{128 random bits in base32}".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/errors/error.h"

namespace reel::front {

// From the system's random source; cannot be guessed.
std::string NewVideoId(const std::string& replica);

// Of another video of the same call, told by the first one's id and its place, 1 and above; as hard
// to guess as that one. Of place 0 the id itself.
std::string OtherVideoId(const std::string& first, int place);

// The replica of such an id; empty where it is none.
std::string_view ReplicaOf(std::string_view id);

// The id in a video's name, "videos/{id}"; empty where it is none.
std::string IdOfName(std::string_view name);

// Names the video in an error.
ErrorDetails AboutVideo(const std::string& id);

// Six letters, drawn from 300 million.
std::string NewReplica();

// Names of this server's videos: "{replica}-{id}". The replica is the configuration's, or letters
// that were drawn once and are kept in the data folder.
// Set once, before other threads are there; then read by any.
class Replica {
 public:
  // Empty: nothing is configured.
  explicit Replica(std::string configured) : configured_(std::move(configured)) {}

  // What the store keeps of it: a replica, and what it was here.
  using Kept = std::map<std::string, std::string>;
  static constexpr char kKind[] = "replica";
  static constexpr char kDrawn[] = "drawn", kConfigured[] = "configured";

  // Takes up what the data folder knows. True: name() is new to it and has to be kept, as what() it
  // is.
  bool TakeUp(Kept kept);

  // Of videos that are made from now on.
  const std::string& name() const { return name_; }
  const char* what() const { return configured_.empty() ? kDrawn : kConfigured; }

  // The answer for a video that is not there. It says so when the name is another replica's; it is
  // the same for an unknown one, an expired one, and another tenant's.
  absl::Status NotFound(const std::string& id) const;

 private:
  std::string configured_;
  std::string name_;
  Kept known_;  // every name that this data folder has made videos under
};

}  // namespace reel::front
