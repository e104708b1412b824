// SPDX-License-Identifier: Apache-2.0
#include "client/command/frames_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace reel::client {
namespace {

struct Spoken {
  int status = 0;
  std::string words;  // standard output, and standard error
};

std::string ReadToEnd(int descriptor) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t got = read(descriptor, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece, static_cast<size_t>(got));
  }
}

absl::StatusOr<Spoken> Speak(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "Cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Spoken spoken;
  if (error == 0) spoken.words = ReadToEnd(ends[0]);
  close(ends[0]);
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat(words[0], " cannot be started"));
  while (waitpid(pid, &spoken.status, 0) < 0 && errno == EINTR) {
  }
  return spoken;
}

}  // namespace

absl::StatusOr<FrameDistance> AskFrames(const std::string& folder, const FramesRequest& request) {
  const std::string program = folder + "/reel-frames";
  std::error_code ignored;
  if (folder.empty() || !std::filesystem::exists(program, ignored)) {
    return absl::NotFoundError("The program reel-frames is not installed beside reel.");
  }
  std::vector<std::string> words = {program};
  if (!request.sheet.empty()) words.push_back("--sheet=" + request.sheet);
  words.insert(words.end(), {"--", request.a, request.b});
  const auto spoken = Speak(words);
  if (!spoken.ok()) return spoken.status();
  if (!WIFEXITED(spoken->status) || WEXITSTATUS(spoken->status) != 0) {
    const std::string why(absl::StripPrefix(spoken->words, "error: "));
    return absl::InvalidArgumentError(
        absl::StrCat("The videos cannot be compared: ", absl::StripAsciiWhitespace(why)));
  }
  google::protobuf::Struct answer;
  if (!google::protobuf::util::JsonStringToMessage(spoken->words, &answer).ok()) {
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
