// SPDX-License-Identifier: Apache-2.0
#include "client/command/frames_program.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/command/neighbour.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace reel::client {
namespace {

// Runs reel-frames. Returns its stdout.
absl::StatusOr<std::string> RunFrames(const std::string& folder,
                                      const std::vector<std::string>& words,
                                      absl::string_view failure) {
  const auto spoken = AskNeighbour(folder, "reel-frames", words);
  if (!spoken.ok()) return spoken.status();
  if (spoken->exit_code == 0) return spoken->out;
  const std::string why(absl::StripPrefix(spoken->errors, "error: "));
  return absl::InvalidArgumentError(absl::StrCat(failure, ": ", absl::StripAsciiWhitespace(why)));
}

}  // namespace

absl::StatusOr<FrameDistance> AskFrames(const std::string& folder, const FramesRequest& request) {
  std::vector<std::string> words;
  if (!request.sheet.empty()) words.push_back("--sheet=" + request.sheet);
  words.insert(words.end(), {"--", request.a, request.b});
  const auto spoken = RunFrames(folder, words, "The videos cannot be compared");
  if (!spoken.ok()) return spoken.status();
  google::protobuf::Struct answer;
  if (!google::protobuf::util::JsonStringToMessage(*spoken, &answer).ok()) {
    return absl::InternalError("reel-frames has not answered with JSON.");
  }
  FrameDistance distance;
  for (const auto& [name, value] : answer.fields()) {
    if (name == "frames") distance.frames = static_cast<int>(value.number_value());
    if (name == "psnrDb") distance.psnr_db = value.number_value();
    if (name == "ssim") distance.ssim = value.number_value();
  }
  return distance;
}

absl::Status DrawOverview(const std::string& folder, const std::vector<std::string>& videos,
                          const std::string& png) {
  std::vector<std::string> words = {"--overview=" + png, "--"};
  words.insert(words.end(), videos.begin(), videos.end());
  return RunFrames(folder, words, "The contact sheet cannot be drawn").status();
}

std::string DistanceText(const FrameDistance& distance) {
  if (!distance.psnr_db) return "identical";
  return absl::StrFormat("PSNR %.1f dB, SSIM %.4f", *distance.psnr_db, distance.ssim);
}

}  // namespace reel::client
