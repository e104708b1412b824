// SPDX-License-Identifier: Apache-2.0
// Renders several videos of one call: a file for each, and a contact sheet.
#pragma once

#include <string>

#include "client/command/session.h"
#include "reel/v1/video_service.pb.h"

namespace reel::client {

struct SeveralOptions {
  std::string stem;      // STEM-1.mp4, STEM-2.mp4, ..., STEM.png
  bool detach = false;   // Ctrl-C leaves the videos to the server
  bool profile = false;  // the bill of each goes to stderr
};

// One that fails keeps no other from being written; the first error is the exit code. Without
// reel-frames there is no contact sheet, and a notice says so.
ExitCode RenderSeveral(Session& session, const v1::CreateVideoRequest& request,
                       const SeveralOptions& options);

}  // namespace reel::client
