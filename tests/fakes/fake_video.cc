// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_video.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/base/digest/crc32c.h"
#include "kernels/base/digest/sha256.h"

namespace reel::fakes {
namespace {

constexpr uint64_t kLastSequence = 100;

// Bytes that differ at every offset and between attempts.
std::string MakeMedia(int64_t size, int attempt) {
  std::string media(static_cast<size_t>(size), '\0');
  uint32_t state = 12345u + static_cast<uint32_t>(attempt);
  for (char& byte : media) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  return media;
}

}  // namespace

FakeVideo::FakeVideo(int64_t size, int64_t chunk_size)
    : size_(size), chunk_size_(chunk_size), media_(MakeMedia(size, 1)) {}

std::string FakeVideo::name() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return absl::StrCat("videos/fake", job_);
}

int FakeVideo::attempt() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return attempt_;
}

std::string FakeVideo::media() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return media_;
}

void FakeVideo::Replace() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++job_;
}

v1::VideoEvent FakeVideo::Restart() {
  std::lock_guard<std::mutex> lock(mutex_);
  media_ = MakeMedia(size_, ++attempt_);
  v1::VideoEvent event;
  event.set_sequence(20 + static_cast<uint64_t>(attempt_));
  event.mutable_restarted()->set_attempt(attempt_);
  event.mutable_restarted()->set_reason("WORKER_LOST");
  return event;
}

void FakeVideo::SetStats(const v1::RunStats& stats) {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_ = stats;
}

void FakeVideo::Notice(const std::string& code, const std::string& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  notice_.set_code(code);
  notice_.set_message(message);
}

v1::Video FakeVideo::InState(v1::VideoState state) const {
  v1::Video video;
  video.set_name(name());
  video.set_state(state);
  video.set_attempt(attempt());
  video.mutable_spec()->set_model("testcard");
  video.mutable_spec()->set_prompt("a fake");
  video.mutable_spec()->set_width(64);
  video.mutable_spec()->set_height(32);
  video.mutable_spec()->set_num_frames(9);
  video.mutable_spec()->set_seed(7);
  video.set_worker("cpu0");
  video.mutable_create_time()->set_seconds(1'700'000'000);
  return video;
}

v1::Video FakeVideo::Finished(bool wrong_hash) const {
  v1::Video video = InState(v1::VIDEO_STATE_SUCCEEDED);
  *video.mutable_media() = Info(wrong_hash);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!notice_.code().empty()) *video.add_notices() = notice_;
  if (stats_.has_total()) *video.mutable_stats() = stats_;
  return video;
}

v1::MediaInfo FakeVideo::Info(bool wrong_hash) const {
  Sha256 sha256;
  sha256.Update(media());
  v1::MediaInfo info;
  info.set_content_type("video/mp4");
  info.set_size_bytes(size_);
  info.set_sha256(wrong_hash ? std::string(64, '0') : sha256.Hex());
  return info;
}

v1::VideoEvent FakeVideo::Accepted() const {
  v1::VideoEvent event;
  event.set_sequence(1);
  *event.mutable_accepted() = InState(v1::VIDEO_STATE_QUEUED);
  return event;
}

v1::VideoEvent FakeVideo::Ended(bool wrong_hash) const {
  v1::VideoEvent event;
  event.set_sequence(kLastSequence);
  *event.mutable_finished() = Finished(wrong_hash);
  return event;
}

v1::MediaChunk FakeVideo::Chunk(int64_t offset, int64_t end, bool corrupt) const {
  std::lock_guard<std::mutex> lock(mutex_);
  v1::MediaChunk chunk;
  chunk.set_offset(offset);
  chunk.set_data(media_.substr(static_cast<size_t>(offset),
                               static_cast<size_t>(std::min(chunk_size_, end - offset))));
  chunk.set_crc32c(Crc32c(chunk.data()));
  if (corrupt) (*chunk.mutable_data())[0] ^= 1;
  chunk.set_attempt(attempt_);
  chunk.set_fragment_end(true);
  return chunk;
}

}  // namespace reel::fakes
