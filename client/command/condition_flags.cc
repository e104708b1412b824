// SPDX-License-Identifier: Apache-2.0
#include "client/command/condition_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/command/clip_shape.h"
#include "kernels/base/program/flag_checks.h"

namespace reel::client {
namespace {

// The highest limit that a server can have.
constexpr int64_t kMostFileBytes = int64_t{256} << 20;
// Larger files are uploaded before the request.
constexpr size_t kMostBytesInRequest = 1 << 20;
// The most bytes that a server takes of all files in one request.
constexpr size_t kMostBytesOfRequest = 3'670'016;

enum class FileUse { kPicture, kClip, kSound };

void SetBytes(FileUse use, std::string bytes, v1::Condition& condition) {
  switch (use) {
    case FileUse::kPicture:
      condition.set_image(std::move(bytes));
      break;
    case FileUse::kClip:
      condition.set_video(std::move(bytes));
      break;
    case FileUse::kSound:
      condition.set_audio(std::move(bytes));
      break;
  }
}

// An uploaded MP4 is a clip unless its content type says audio.
bool IsSoundOfMp4(FileUse use, const std::string& bytes) {
  return use == FileUse::kSound && IsClip(bytes);
}

struct LoadedFile {
  std::string path, bytes;
  FileUse use;
};

// Puts the file into the request or, where it is large, sends it ahead. A request that is only
// quoted has its size alone.
absl::Status Send(Session& session, LoadedFile file, v1::VideoSpec& spec,
                  v1::Condition& condition) {
  const size_t together = spec.ByteSizeLong() + file.bytes.size();
  if (file.bytes.size() <= kMostBytesInRequest && together <= kMostBytesOfRequest) {
    SetBytes(file.use, std::move(file.bytes), condition);
    return absl::OkStatus();
  }
  if (session.only_quotes) {
    condition.set_size_bytes(static_cast<int64_t>(file.bytes.size()));
    SetBytes(file.use, "", condition);
    return absl::OkStatus();
  }
  auto client = session.Open();
  if (!client.ok()) return client.status();
  const auto sent = (*client)->Upload(file.bytes);
  if (sent.ok()) {
    condition.set_file(sent->name());
    if (IsSoundOfMp4(file.use, file.bytes)) condition.set_content_type("audio/mp4");
    return absl::OkStatus();
  }
  if (!absl::IsUnimplemented(sent.status())) return sent.status();
  // An older server takes what fits into a message.
  SetBytes(file.use, std::move(file.bytes), condition);
  if (together <= kMostBytesOfRequest) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "The conditions exceed the limit of ", kMostBytesOfRequest, " bytes for a request with ",
      file.path, ", and this server takes no files ahead of requests."));
}

absl::Status Add(Session& session, const ConditionFile& file, v1::VideoSpec& spec) {
  absl::StatusOr<std::string> bytes = ReadConditionFile(file.path, kMostFileBytes);
  if (!bytes.ok()) return bytes.status();
  v1::Condition& condition = *spec.add_conditions();
  condition.set_frame_index(file.frame_index);
  if (file.strength != 1) condition.set_strength(file.strength);
  const FileUse use = IsClip(*bytes) ? FileUse::kClip : FileUse::kPicture;
  return Send(session, {file.path, *std::move(bytes), use}, spec, condition);
}

absl::Status AddReference(Session& session, const ConditionFile& file,
                          std::optional<double> attention, v1::VideoSpec& spec) {
  absl::StatusOr<std::string> bytes = ReadConditionFile(file.path, kMostFileBytes);
  if (!bytes.ok()) return bytes.status();
  if (!IsClip(*bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("Only an MP4 is a reference: ", file.path, "."));
  }
  v1::Condition& condition = *spec.add_conditions();
  condition.set_use(v1::CONDITION_USE_REFERENCE);
  if (file.strength != 1) condition.set_strength(file.strength);
  if (attention) condition.set_attention_strength(*attention);
  return Send(session, {file.path, *std::move(bytes), FileUse::kClip}, spec, condition);
}

absl::Status AddSound(Session& session, const std::string& path, v1::VideoSpec& spec) {
  absl::StatusOr<std::string> bytes = ReadConditionFile(path, kMostFileBytes);
  if (!bytes.ok()) return bytes.status();
  v1::Condition& condition = *spec.add_conditions();
  return Send(session, {path, *std::move(bytes), FileUse::kSound}, spec, condition);
}

// The frames of the video that the spec resolves to.
absl::StatusOr<int> LastFrame(Session& session, const v1::VideoSpec& spec) {
  if (spec.num_frames() > 0) return spec.num_frames() - 1;
  auto client = session.Open();
  if (!client.ok()) return client.status();
  v1::EstimateVideoRequest request;
  *request.mutable_spec() = spec;
  request.mutable_spec()->clear_adapters();  // one may want a clip, which is not read yet
  const auto estimate = (*client)->Estimate(request);
  if (!estimate.ok()) return estimate.status();
  return estimate->spec().num_frames() - 1;
}

}  // namespace

absl::Status AddRefinedClip(Session& session, const std::string& path, v1::VideoSpec& spec) {
  absl::StatusOr<std::string> bytes = ReadConditionFile(path, kMostFileBytes);
  if (!bytes.ok()) return bytes.status();
  if (!IsClip(*bytes)) {
    return absl::InvalidArgumentError(absl::StrCat("Only an MP4 is refined: ", path, "."));
  }
  FillFromClip(ShapeOfClip(*bytes), spec);
  v1::Condition& condition = *spec.add_conditions();
  condition.set_use(v1::CONDITION_USE_REFINE);
  return Send(session, {path, *std::move(bytes), FileUse::kClip}, spec, condition);
}

void ConditionFlags::AddTo(CLI::App& command) {
  command.add_option("--image", image_, "A PNG, JPEG or WebP that the video starts from")
      ->type_name("FILE")
      ->check(WhyEmpty);
  command.add_option("--last-image", last_image_, "A picture that the video ends in")
      ->type_name("FILE")
      ->check(WhyEmpty);
  command
      .add_option_function<std::vector<std::string>>(
          "--condition",
          [this](const std::vector<std::string>& values) {
            for (const std::string& value : values) {
              const auto file = ParseConditionFile(value);
              if (!file) {
                throw CLI::ValidationError(
                    "--condition",
                    "\"" + value + "\" is not FILE@FRAME:STRENGTH, as in end.png@48:0.8");
              }
              files_.push_back(*file);
            }
          },
          "A picture or MP4 that the video follows from that frame on; may be repeated")
      ->type_name("FILE[@FRAME[:STRENGTH]]")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option_function<std::string>(
          "--reference", [this](const std::string& text) { reference_ = ParseReferenceFile(text); },
          "The MP4 that an --adapter wants a reference of (`reel models` shows which do), such as "
          "a depth or a pose; its strength is 0 to 1")
      ->type_name("FILE[:STRENGTH]")
      ->check(WhyEmpty);
  command
      .add_option("--reference-attention", attention_,
                  "0 to 1 (default): how much video and --reference attend to each other")
      ->needs("--reference");
  command
      .add_option("--sound", sound_,
                  "A WAV, FLAC, MP3 or MP4 whose sound the video has and its pictures follow")
      ->type_name("FILE")
      ->check(WhyEmpty);
  command.add_option("--image-crf", crf_,
                     "0 to 51: how far pictures are compressed before they are encoded; 0: not");
}

absl::Status ConditionFlags::Fill(Session& session, v1::VideoSpec& spec) const {
  if (crf_) spec.set_condition_crf(*crf_);
  std::vector<ConditionFile> all;
  const auto take = [&](const char* flag, const ConditionFile& file) {
    all.push_back(file);
    session.conditions.push_back(absl::StrCat(flag, " ", file.path));
  };
  if (!image_.empty()) take("--image", {image_, 0, 1});
  for (const ConditionFile& file : files_) take("--condition", file);
  if (!last_image_.empty()) {
    // Asked before any file is read, since the answer does not depend on them.
    const auto last_frame = LastFrame(session, spec);
    if (!last_frame.ok()) return last_frame.status();
    take("--last-image", {last_image_, *last_frame, 1});
  }
  for (const ConditionFile& file : all) {
    if (absl::Status added = Add(session, file, spec); !added.ok()) return added;
  }
  if (reference_) {
    session.conditions.push_back("--reference " + reference_->path);
    const absl::Status added = AddReference(session, *reference_, attention_, spec);
    if (!added.ok()) return added;
  }
  if (sound_.empty()) return absl::OkStatus();
  session.conditions.push_back("--sound " + sound_);
  return AddSound(session, sound_, spec);
}

}  // namespace reel::client
