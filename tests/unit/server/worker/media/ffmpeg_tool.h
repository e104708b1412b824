// SPDX-License-Identifier: Apache-2.0
// The ffmpeg and ffprobe commands as judges of our files: independent of the code under test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reel::server {

// False: the commands are not on this machine, and the test must skip loudly.
bool HaveFfmpeg();

struct DecodedVideo {
  int width = 0, height = 0;
  std::vector<std::vector<uint8_t>> luma;  // a plane per frame
};

// nullopt when ffmpeg has anything to complain about.
std::optional<DecodedVideo> Decode(std::string_view file);

// One value of a file, e.g. ("stream=color_space"), ("format=duration").
std::string Probe(std::string_view file, const std::string& entry);

// Luma of a picture (PNG, JPEG).
std::optional<DecodedVideo> DecodePicture(std::string_view file);

// The frames of a clip, as RGB of 8 bits, one after the other; empty when ffmpeg fails.
std::string DecodeRgb(std::string_view file);

// A file that ffmpeg makes with these arguments in front of its name, which ends in `ending`; empty
// when it fails.
std::string MakeWithFfmpeg(const std::string& arguments, const std::string& ending);

}  // namespace reel::server
