// SPDX-License-Identifier: Apache-2.0
// Writes streams to files, which is what most callers want.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "client/download_stream.h"
#include "client/video_file.h"
#include "client/video_stream.h"

namespace reel::client {

class VideoClient;

// Gets every event, media included, after it was written. An error ends the stream with that error.
using EventObserver = std::function<absl::Status(const v1::VideoEvent&)>;

// Follows `stream` to its end and returns the finished video.
absl::StatusOr<v1::Video> FollowVideo(VideoStream& stream, const EventObserver& observer);

// Follows `stream`, which must carry media from the beginning, writes PATH.part and renames it to
// `path` when the file is complete and correct. Returns the finished video. On an error the part is
// removed, unless the connection was lost: then `download` may resume it.
absl::StatusOr<v1::Video> SaveVideo(VideoStream& stream, const std::string& path,
                                    const EventObserver& observer = nullptr);
absl::StatusOr<v1::Video> SaveVideo(VideoStream&& stream, const std::string& path,
                                    const EventObserver& observer = nullptr);

// Called with the number of bytes so far.
using DownloadObserver = std::function<void(int64_t received)>;

// Downloads the finished video `name`; resumes an interrupted download (PATH.part). If the part
// belongs to another file, starts again, once.
absl::StatusOr<v1::MediaInfo> SaveDownload(const VideoClient& client, const std::string& name,
                                           const std::string& path,
                                           const DownloadObserver& observer = nullptr);

}  // namespace reel::client
