// SPDX-License-Identifier: Apache-2.0
// Formats videos and enums for people.
#pragma once

#include <string>

#include "reel/v1/server_service.pb.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// "running" for VIDEO_STATE_RUNNING: the name without its prefix, in lower case.
std::string StateName(v1::VideoState state);
std::string StateName(v1::WorkerState state);

// The steps of a resolved spec, which has their number or the time of each.
int NumSteps(const v1::VideoSpec& spec);

// The facts of one video, one a line, as "name: value" in two columns.
std::string DescribeVideo(const v1::Video& video);

}  // namespace reel::client
