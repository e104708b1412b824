// SPDX-License-Identifier: Apache-2.0
// A video as a value and as the API's message.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reel/v1/video.pb.h"
#include "server/front/jobs/job.h"
#include "server/front/jobs/video.h"

namespace reel::front {

v1::Video VideoToProto(const Video& video);
// As ListVideos shows it: prompts cut to 256 bytes at a character's edge, no statistics.
v1::Video VideoToListProto(const Video& video);
// Everything but the tenant, which messages do not carry.
Video VideoFromProto(const v1::Video& proto);

// An entry of the log of `job` as the event of a stream; `accepted` shows the video as it is now.
v1::VideoEvent EntryToProto(LogEntry entry, const Job& job);

// The other way round, without the videos; nullopt for what is no entry of a log.
std::optional<LogEntry> EntryFromProto(v1::VideoEvent& proto);

// A finite time.
google::protobuf::Timestamp TimeToProto(absl::Time time);

// Enums of the API have the values of ours behind one that is unspecified.
template <typename Proto, typename Enum>
constexpr Proto EnumToProto(Enum value) {
  return static_cast<Proto>(static_cast<int>(value) + 1);
}

// `proto` is one of the five states.
VideoState StateFromProto(v1::VideoState proto);
// Unspecified and unknown values are NORMAL.
Priority PriorityFromProto(v1::Priority proto);

// At most `max_bytes` of valid UTF-8, never half a character.
std::string CutUtf8(std::string_view text, size_t max_bytes);

}  // namespace reel::front
