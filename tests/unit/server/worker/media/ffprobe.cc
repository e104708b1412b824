// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/server/worker/media/ffprobe.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "tests/fakes/temp_folder.h"

namespace reel::worker {

bool HaveFfprobe() { return std::system("ffprobe -version > /dev/null 2>&1") == 0; }

std::string Probe(std::string_view file, const std::string& entry) {
  const reel::testing::TempFolder folder;
  const std::string path = folder.Write("file", std::string(file));
  const std::string command = absl::StrCat("ffprobe -v error -count_frames -show_entries ", entry,
                                           " -of default=noprint_wrappers=1:nokey=1 ", path, " > ",
                                           folder.File("out"), " 2>&1");
  if (std::system(command.c_str()) != 0) return "error: " + folder.Read("out");
  std::string out = folder.Read("out");
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

}  // namespace reel::worker
