// SPDX-License-Identifier: Apache-2.0
// The ffmpeg command as a maker of files that are not ours, and as a second opinion on them.
#pragma once

#include <string>
#include <string_view>

namespace reel::worker {

// False: the command is not on this machine, and the test must skip loudly.
bool HaveFfmpeg();

// The frames of a clip, as RGB of 8 bits, one after the other; empty when ffmpeg fails.
std::string DecodeRgb(std::string_view file);

// A file that ffmpeg makes with these arguments in front of its name, which ends in `ending`; empty
// when it fails.
std::string MakeWithFfmpeg(const std::string& arguments, const std::string& ending);

}  // namespace reel::worker
