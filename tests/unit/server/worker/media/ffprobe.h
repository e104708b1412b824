// SPDX-License-Identifier: Apache-2.0
// The ffprobe command as a judge of our files: what it says is what players believe.
#pragma once

#include <string>
#include <string_view>

namespace reel::worker {

// False: the command is not on this machine, and the test must skip loudly.
bool HaveFfprobe();

// One value of a file, e.g. ("stream=color_space"), ("format=duration").
std::string Probe(std::string_view file, const std::string& entry);

}  // namespace reel::worker
