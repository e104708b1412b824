// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/server/worker/media/ffmpeg_tool.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace reel::server {
namespace {

// A file of its own, gone with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes, const std::string& ending = "") {
    path_ = (std::filesystem::temp_directory_path() / ("reel_media_XXXXXX" + ending)).string();
    const int descriptor = mkstemps(path_.data(), static_cast<int>(ending.size()));
    if (descriptor >= 0) close(descriptor);
    std::ofstream(path_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  std::string Read() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

struct CommandResult {
  int status = -1;
  std::string out, errors;
};

CommandResult RunCommand(const std::string& command) {
  const TemporaryFile errors("");
  CommandResult result;
  FILE* pipe = popen(absl::StrCat(command, " 2>", errors.path()).c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[65536];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    result.out.append(buffer, n);
  }
  result.status = pclose(pipe);
  result.errors = errors.Read();
  return result;
}

std::optional<DecodedVideo> DecodeAs(std::string_view file, const char* stream) {
  const std::string size = Probe(file, "stream=width,height");
  const std::vector<std::string> sides = absl::StrSplit(size, '\n');
  DecodedVideo video;
  if (sides.size() < 2 || !absl::SimpleAtoi(sides[0], &video.width) ||
      !absl::SimpleAtoi(sides[1], &video.height)) {
    return std::nullopt;
  }
  const TemporaryFile in(file);
  const auto result = RunCommand(absl::StrCat("ffmpeg -nostdin -xerror ", stream, " -i ", in.path(),
                                              " -f rawvideo -pix_fmt gray -"));
  if (result.status != 0 || !result.errors.empty()) {
    std::fprintf(stderr, "ffmpeg: %s\n", result.errors.c_str());
    return std::nullopt;
  }
  const size_t plane = static_cast<size_t>(video.width) * static_cast<size_t>(video.height);
  if (result.out.size() % plane != 0) return std::nullopt;
  for (size_t at = 0; at < result.out.size(); at += plane) {
    video.luma.emplace_back(result.out.begin() + static_cast<std::ptrdiff_t>(at),
                            result.out.begin() + static_cast<std::ptrdiff_t>(at + plane));
  }
  return video;
}

}  // namespace

bool HaveFfmpeg() {
  return RunCommand("ffmpeg -version").status == 0 && RunCommand("ffprobe -version").status == 0;
}

std::optional<DecodedVideo> Decode(std::string_view file) {
  return DecodeAs(file, "-v warning -f mp4");
}

std::optional<DecodedVideo> DecodePicture(std::string_view file) {
  return DecodeAs(file, "-v error -f image2 -pattern_type none");
}

std::string Probe(std::string_view file, const std::string& entry) {
  const TemporaryFile in(file);
  const auto result =
      RunCommand(absl::StrCat("ffprobe -v error -count_frames -show_entries ", entry,
                              " -of default=noprint_wrappers=1:nokey=1 ", in.path()));
  if (result.status != 0 || !result.errors.empty()) return "error: " + result.errors;
  std::string out = result.out;
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::string DecodeRgb(std::string_view file) {
  const TemporaryFile in(file);
  const auto result = RunCommand(absl::StrCat("ffmpeg -nostdin -v error -i ", in.path(),
                                              " -f rawvideo -pix_fmt rgb24 -vsync passthrough -"));
  return result.status == 0 ? result.out : "";
}

std::string MakeWithFfmpeg(const std::string& arguments, const std::string& ending) {
  const TemporaryFile out("", ending);
  const auto result =
      RunCommand(absl::StrCat("ffmpeg -nostdin -v error ", arguments, " -y ", out.path()));
  if (result.status != 0) std::fprintf(stderr, "ffmpeg: %s\n", result.errors.c_str());
  return result.status == 0 ? out.Read() : "";
}

}  // namespace reel::server
