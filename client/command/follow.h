// SPDX-License-Identifier: Apache-2.0
// Follows a video on the terminal: progress, previews, media, Ctrl-C. Shared by generate and watch.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/command/session.h"
#include "client/video_stream.h"

namespace reel::client {

struct FollowOptions {
  std::string output;       // path; "-" for stdout, empty for no media
  std::string preview_dir;  // folder for previews; empty: none are written
  // Ctrl-C cancels the video on the server; otherwise it only stops following.
  bool cancel_on_interrupt = false;
};

struct Followed {
  absl::StatusOr<v1::Video> video;
  std::string name;               // as far as known, also after an error
  int signal = 0;                 // not 0: ended by Ctrl-C
  absl::Duration since_accepted;  // from that event to the end of the stream
};

// `start` as for VideoStream; the client's calls and threads start in here.
Followed Follow(Session& session, const VideoStream::Start& start, const FollowOptions& options);

}  // namespace reel::client
