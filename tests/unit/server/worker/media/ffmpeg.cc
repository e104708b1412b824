// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/server/worker/media/ffmpeg.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temp_folder.h"

namespace reel::worker {
namespace {

// What `arguments` make of `output`; empty, with ffmpeg's words, when it fails.
std::string Run(const reel::testing::TempFolder& folder, const std::string& arguments,
                const std::string& output) {
  const std::string command = absl::StrCat("ffmpeg -nostdin -v error ", arguments, " -y ",
                                           folder.File(output), " 2> ", folder.File("errors"));
  if (std::system(command.c_str()) == 0) return folder.Read(output);
  std::fprintf(stderr, "ffmpeg: %s\n", folder.Read("errors").c_str());
  return "";
}

}  // namespace

bool HaveFfmpeg() { return std::system("ffmpeg -version > /dev/null 2>&1") == 0; }

std::string DecodeRgb(std::string_view file) {
  const reel::testing::TempFolder folder;
  const std::string path = folder.Write("file", std::string(file));
  return Run(folder, absl::StrCat("-i ", path, " -f rawvideo -pix_fmt rgb24 -vsync passthrough"),
             "rgb");
}

std::string MakeWithFfmpeg(const std::string& arguments, const std::string& ending) {
  const reel::testing::TempFolder folder;
  return Run(folder, arguments, "made" + ending);
}

}  // namespace reel::worker
