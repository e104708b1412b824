// SPDX-License-Identifier: Apache-2.0
// Videos and enums as text for people.
#pragma once

#include <string>

#include "reel/v1/server_service.pb.h"
#include "reel/v1/video.pb.h"

namespace reel::client {

// "running" of VIDEO_STATE_RUNNING: the name without its prefix, in lower case.
std::string StateName(v1::VideoState state);
std::string StateName(v1::WorkerState state);

// Of a resolved spec, which has a number of steps or the times of each.
int NumSteps(const v1::VideoSpec& spec);

// Everything worth knowing of one video, a line each: "name: value" in two columns.
std::string DescribeVideo(const v1::Video& video);

}  // namespace reel::client
