// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/video_id.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/sha256.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz234567";
constexpr int kBits = 128;
constexpr size_t kRandomDigits = (kBits + 4) / 5;
constexpr int kReplicaLetters = 6;

static_assert(kRandomDigits <= std::tuple_size_v<Sha256Digest>);

}  // namespace

std::string NewVideoId(const std::string& replica) {
  std::random_device source("/dev/urandom");
  std::string id = replica + "-";
  uint64_t bits = 0;
  int have = 0;
  for (int taken = 0; taken < kBits; taken += 5) {
    if (have < 5) {
      bits |= static_cast<uint64_t>(source()) << have;
      have += 32;
    }
    id += kDigits[bits & 31];
    bits >>= 5;
    have -= 5;
  }
  return id;
}

std::string OtherVideoId(const std::string& first, int place) {
  if (place == 0) return first;
  const Sha256Digest digest = Sha256Of(absl::StrCat(first, "/", place));
  std::string id = first.substr(0, first.size() - std::min(first.size(), kRandomDigits));
  for (size_t i = 0; i < kRandomDigits; ++i) id += kDigits[digest[i] & 31];
  return id;
}

std::string_view ReplicaOf(std::string_view id) {
  if (id.size() < kRandomDigits + 2) return {};
  const std::string_view replica = id.substr(0, id.size() - kRandomDigits - 1);
  if (id[replica.size()] != '-') return {};
  const std::string_view random = id.substr(replica.size() + 1);
  const bool ours = random.find_first_not_of(kDigits) == std::string_view::npos;
  return ours ? replica : std::string_view();
}

std::string IdOfName(std::string_view name) {
  constexpr std::string_view kPrefix = "videos/";
  return name.starts_with(kPrefix) ? std::string(name.substr(kPrefix.size())) : std::string();
}

std::string NewReplica() {
  std::random_device source("/dev/urandom");
  std::uniform_int_distribution<int> letter('a', 'z');
  std::string replica;
  for (int i = 0; i < kReplicaLetters; ++i) replica += static_cast<char>(letter(source));
  return replica;
}

ErrorDetails AboutVideo(const std::string& id) {
  const std::string name = absl::StrCat("videos/", id);
  return {.metadata = {{"video", name}}, .resource_type = "video", .resource_name = name};
}

bool Replica::TakeUp(Kept kept) {
  known_ = std::move(kept);
  name_ = configured_;
  for (const auto& [name, what] : known_) {
    if (name_.empty() && what == kDrawn) name_ = name;
  }
  if (name_.empty()) name_ = NewReplica();
  return known_.emplace(name_, what()).second;
}

absl::Status Replica::NotFound(const std::string& id) const {
  const std::string name = absl::StrCat("videos/", id);
  ErrorDetails details = AboutVideo(id);
  const std::string theirs(ReplicaOf(id));
  if (theirs.empty() || known_.contains(theirs)) {
    return MakeError(Reason::kVideoNotFound, absl::StrCat("No such video: ", name), details);
  }
  details.metadata["replica"] = theirs;
  details.metadata["this_replica"] = name_;
  return MakeError(Reason::kWrongReplica,
                   absl::StrCat("The video is on another server: its name is of replica ", theirs,
                                ", and this is replica ", name_, ": ", name),
                   details);
}

}  // namespace reel::front
