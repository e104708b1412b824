// SPDX-License-Identifier: Apache-2.0
#include "client/command/frames_program.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "client/command/neighbour.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace reel::client {

absl::StatusOr<FrameDistance> AskFrames(const std::string& folder, const FramesRequest& request) {
  std::vector<std::string> words;
  if (!request.sheet.empty()) words.push_back("--sheet=" + request.sheet);
  words.insert(words.end(), {"--", request.a, request.b});
  const auto spoken = AskNeighbour(folder, "reel-frames", words);
  if (!spoken.ok()) return spoken.status();
  if (spoken->exit_code != 0) {
    const std::string why(absl::StripPrefix(spoken->errors, "error: "));
    return absl::InvalidArgumentError(
        absl::StrCat("The videos cannot be compared: ", absl::StripAsciiWhitespace(why)));
  }
  google::protobuf::Struct answer;
  if (!google::protobuf::util::JsonStringToMessage(spoken->out, &answer).ok()) {
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

std::string DistanceText(const FrameDistance& distance) {
  if (!distance.psnr_db) return "identical";
  return absl::StrFormat("PSNR %.1f dB, SSIM %.4f", *distance.psnr_db, distance.ssim);
}

}  // namespace reel::client
