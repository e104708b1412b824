// SPDX-License-Identifier: Apache-2.0
#include "client/save_video.h"

#include <utility>

#include "client/video_client.h"

namespace reel::client {
namespace {

absl::Status Write(const v1::VideoEvent& event, VideoFile& file) {
  if (event.has_media()) return file.Append(event.media().data());
  if (event.has_restarted()) return file.Restart();
  if (event.has_finished()) return file.Commit(event.finished().media());
  return absl::OkStatus();
}

absl::StatusOr<v1::MediaInfo> Fetch(const VideoClient& client, const std::string& name,
                                    VideoFile& file, const DownloadObserver& observer) {
  v1::DownloadVideoRequest request;
  request.set_name(name);
  request.set_read_offset(file.size());
  DownloadStream stream = client.Download(request);
  for (;;) {
    auto chunk = stream.Next();
    if (!chunk.ok()) return chunk.status();
    if (!*chunk) break;
    if (absl::Status status = file.Append((*chunk)->data()); !status.ok()) return status;
    if (observer) observer(file.size());
  }
  if (absl::Status status = file.Commit(stream.media()); !status.ok()) return status;
  return stream.media();
}

bool IsOfAnotherFile(const absl::Status& status) {
  return status.code() == absl::StatusCode::kDataLoss ||
         status.code() == absl::StatusCode::kOutOfRange;
}

}  // namespace

absl::StatusOr<v1::Video> FollowVideo(VideoStream& stream, const EventObserver& observer) {
  for (;;) {
    auto event = stream.Next();
    if (!event.ok()) return event.status();
    if (!*event) {
      return absl::FailedPreconditionError("The stream has already been read to its end.");
    }
    if (absl::Status status = observer(**event); !status.ok()) return status;
    if ((*event)->has_finished()) return std::move(*(*event)->mutable_finished());
  }
}

absl::StatusOr<v1::Video> SaveVideo(VideoStream& stream, const std::string& path,
                                    const EventObserver& observer) {
  auto file = VideoFile::Open(path, PartFile::Mode::kFresh);
  if (!file.ok()) return file.status();
  auto video = FollowVideo(stream, [&](const v1::VideoEvent& event) {
    absl::Status status = Write(event, *file);
    return status.ok() && observer ? observer(event) : status;
  });
  const bool connection_lost = video.status().code() == absl::StatusCode::kUnavailable;
  if (!video.ok() && (!connection_lost || file->size() == 0)) file->Discard();
  return video;
}

absl::StatusOr<v1::Video> SaveVideo(VideoStream&& stream, const std::string& path,
                                    const EventObserver& observer) {
  return SaveVideo(stream, path, observer);
}

absl::StatusOr<v1::MediaInfo> SaveDownload(const VideoClient& client, const std::string& name,
                                           const std::string& path,
                                           const DownloadObserver& observer) {
  auto file = VideoFile::Open(path, PartFile::Mode::kResume);
  if (!file.ok()) return file.status();
  const bool resumed = file->size() > 0;
  auto media = Fetch(client, name, *file, observer);
  if (resumed && IsOfAnotherFile(media.status())) {
    if (absl::Status status = file->Restart(); !status.ok()) return status;
    media = Fetch(client, name, *file, observer);
  }
  const bool useless = IsOfAnotherFile(media.status()) || file->size() == 0;
  if (!media.ok() && useless) file->Discard();
  return media;
}

}  // namespace reel::client
