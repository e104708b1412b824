// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/object_keys.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kernels/base/status_macros.h"
#include "server/front/jobs/video_id.h"
#include "server/front/node/fleet_use.h"

namespace reel::front {

absl::StatusOr<Video> LoggedVideos::Read(const Key& key, const std::string& bytes) const {
  if (!Seal::IsSealed(bytes)) return serializer_.Parse(bytes);
  REEL_ASSIGN_OR_RETURN(const std::string opened, seal_.Open(bytes, NameOf(key)));
  return serializer_.Parse(opened);
}

VideoFacts LoggedVideos::ReadFacts(const Key& key, const FleetJob& job) const {
  const absl::StatusOr<Video> video = Read(key, job.video);
  VideoFacts facts;
  facts.readable = video.ok();
  facts.locked = absl::IsFailedPrecondition(video.status());
  if (!video.ok()) return facts;
  facts.model = video->spec.model;
  facts.work = PixelStepsOf(video->spec);
  facts.create_time = video->create_time;
  facts.end_time = video->end_time;
  facts.expire_time = video->expire_time;
  if (video->spec.source) facts.source = IdOfName(video->spec.source->video);
  if (video->kept) {
    facts.state_bytes = video->kept->size_bytes;
    facts.state_expire_time = video->kept->expire_time;
  }
  if (video->stats) facts.device_seconds = video->stats->device_seconds;
  return facts;
}

namespace {

constexpr char kFile[] = ".mp4";
constexpr char kState[] = ".state";

}  // namespace

std::string MediaPrefix(const std::string& fleet) { return absl::StrCat(fleet, "/media/"); }
std::string ConditionPrefix(const std::string& fleet) {
  return absl::StrCat(fleet, "/conditions/");
}

std::string MediaKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch) {
  return absl::StrCat(MediaPrefix(fleet), tenant, "/", id, "/", epoch, kFile);
}

std::string StateKey(const std::string& fleet, const std::string& tenant, const std::string& id,
                     uint32_t epoch) {
  return absl::StrCat(MediaPrefix(fleet), tenant, "/", id, "/", epoch, kState);
}

std::string ConditionKey(const std::string& fleet, const std::string& tenant,
                         const std::string& name) {
  return absl::StrCat(ConditionPrefix(fleet), tenant, "/", name);
}

std::vector<std::string> ConditionKeys(const Seal& seal, const std::string& fleet,
                                       const std::string& tenant, const std::string& sha256) {
  std::vector<std::string> keys;
  for (const std::string& name : seal.NamesFor("condition/" + tenant, sha256)) {
    keys.push_back(ConditionKey(fleet, tenant, name));
  }
  return keys;
}

namespace {

// A content type and the word for it in a key.
struct FileType {
  std::string_view content_type, word;
};
constexpr FileType kFileTypes[] = {
    {"image/png", "png"}, {"image/jpeg", "jpeg"}, {"image/webp", "webp"}, {"video/mp4", "mp4"},
    {"audio/wav", "wav"}, {"audio/flac", "flac"}, {"audio/mpeg", "mp3"}};
// The lifetime of a file, counted from the hour of its upload.
constexpr int64_t kHoursOfFiles = 25;

std::string_view WordOf(std::string_view content_type) {
  for (const FileType& type : kFileTypes) {
    if (type.content_type == content_type) return type.word;
  }
  return {};
}

}  // namespace

absl::Time FilePlace::expire_time() const {
  return absl::FromUnixSeconds((hour + kHoursOfFiles) * 3600);
}

std::string FilePrefix(const std::string& fleet) { return absl::StrCat(fleet, "/files/"); }

std::string FileKey(const std::string& fleet, const FilePlace& place) {
  const std::string word(WordOf(place.content_type));
  if (word.empty()) return "";
  return absl::StrCat(FilePrefix(fleet), place.tenant, "/", place.name, "/", place.hour, ".",
                      place.size_bytes, ".", word);
}

std::optional<FilePlace> ReadFileKey(const std::string& fleet, const std::string& key) {
  absl::string_view rest = key;
  if (!absl::ConsumePrefix(&rest, FilePrefix(fleet))) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(rest, '/');
  if (parts.size() != 3) return std::nullopt;
  const std::vector<std::string> facts = absl::StrSplit(parts[2], '.');
  FilePlace place;
  place.tenant = parts[0];
  place.name = parts[1];
  if (facts.size() != 3 || !absl::SimpleAtoi(facts[0], &place.hour) ||
      !absl::SimpleAtoi(facts[1], &place.size_bytes)) {
    return std::nullopt;
  }
  for (const FileType& type : kFileTypes) {
    if (type.word == facts[2]) place.content_type = type.content_type;
  }
  if (FileKey(fleet, place) != key) return std::nullopt;
  return place;
}

std::optional<MediaPlace> ReadMediaKey(const std::string& fleet, const std::string& key) {
  absl::string_view rest = key;
  if (!absl::ConsumePrefix(&rest, MediaPrefix(fleet))) return std::nullopt;
  MediaPlace place;
  place.is_state = absl::ConsumeSuffix(&rest, kState);
  if (!place.is_state && !absl::ConsumeSuffix(&rest, kFile)) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(rest, '/');
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[2], &place.epoch)) return std::nullopt;
  place.tenant = parts[0];
  place.id = parts[1];
  const auto key_of = place.is_state ? StateKey : MediaKey;
  if (key_of(fleet, place.tenant, place.id, place.epoch) != key) return std::nullopt;
  return place;
}

}  // namespace reel::front
