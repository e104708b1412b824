// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/calls.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

// The slow and plain CRC, so that the server's fast one is checked by another.
uint32_t PlainCrc32c(const std::string& bytes) {
  uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

class StreamChecker {
 public:
  StreamChecker(int64_t first_offset, int attempt)
      : next_offset_(first_offset), attempt_(attempt) {}

  void Take(v1::VideoEvent& event, StreamResult& result) {
    if (result.events.empty() && !event.has_accepted()) Fault(result, "accepted is not first");
    if (event.sequence() < last_sequence_) Fault(result, "sequence fell");
    if (event.has_media() && event.sequence() != last_sequence_ && last_sequence_ != 0) {
      Fault(result, "media does not repeat the sequence before it");
    }
    last_sequence_ = event.sequence();
    if (event.has_accepted()) {
      result.accepted = event.accepted();
      if (attempt_ == 0) attempt_ = event.accepted().attempt();
    }
    if (event.has_progress()) {
      if (event.progress().fraction() < fraction_ - 1e-9) Fault(result, "fraction fell");
      fraction_ = event.progress().fraction();
    }
    if (event.has_restarted()) {
      ++result.restarts;
      attempt_ = event.restarted().attempt();
      next_offset_ = 0;
      result.file.clear();
      result.fragment_ends.clear();
    }
    if (event.has_media()) TakeMedia(*event.mutable_media(), result);
    if (result.is_finished) Fault(result, "something came after finished");
    if (event.has_finished()) {
      result.finished = event.finished();
      result.is_finished = true;
    }
    result.events.push_back(std::move(event));
  }

 private:
  static void Fault(StreamResult& result, const std::string& what) {
    result.faults.push_back(what);
  }

  void TakeMedia(v1::MediaChunk& chunk, StreamResult& result) {
    if (chunk.offset() != next_offset_) {
      Fault(result, absl::StrCat("media at ", chunk.offset(), ", not ", next_offset_));
    }
    if (chunk.attempt() != attempt_) Fault(result, "media of another attempt");
    if (chunk.data().empty() || chunk.data().size() > (1U << 20)) Fault(result, "chunk size");
    if (chunk.crc32c() != PlainCrc32c(chunk.data())) Fault(result, "crc32c");
    next_offset_ += static_cast<int64_t>(chunk.data().size());
    result.file += chunk.data();
    if (chunk.fragment_end()) result.fragment_ends.push_back(result.file.size());
    chunk.clear_data();
  }

  int64_t next_offset_;
  int attempt_;
  uint64_t last_sequence_ = 0;
  double fraction_ = 0;
};

template <typename Response, typename Reader>
StreamResult Drain(grpc::ClientContext& context, Reader& reader, StreamChecker checker,
                   const OnEvent& on_event) {
  StreamResult result;
  const absl::Time start = absl::Now();
  Response response;
  while (reader.Read(&response)) {
    if (result.events.empty()) result.first_event = absl::Now() - start;
    const v1::VideoEvent seen = response.event();
    checker.Take(*response.mutable_event(), result);
    if (on_event && !on_event(seen)) {
      context.TryCancel();
      break;
    }
  }
  result.status = reader.Finish();
  return result;
}

}  // namespace

v1::VideoSpec SmallSpec(const std::string& prompt, uint64_t seed) {
  v1::VideoSpec spec;
  spec.set_prompt(prompt);
  spec.set_seed(seed);
  spec.set_width(128);
  spec.set_height(96);
  spec.set_num_frames(9);
  spec.set_num_inference_steps(4);
  return spec;
}

v1::VideoSpec TinyModelSpec(int num_frames) {
  v1::VideoSpec spec;
  spec.set_prompt("a red fox");
  spec.set_width(96);
  spec.set_height(64);
  spec.set_num_frames(num_frames);
  spec.set_num_inference_steps(2);
  spec.set_seed(1);
  spec.set_max_text_tokens(24);
  return spec;
}

std::string NewRequestId() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  const uint64_t a = random(), b = random();
  return absl::StrFormat("%08x-%04x-4%03x-8%03x-%012x", a >> 32, (a >> 16) & 0xffffU, a & 0xfffU,
                         b >> 52, b & 0xffffffffffff);
}

std::string StreamResult::reason() const { return ReasonOf(status); }

Calls::Calls(std::shared_ptr<grpc::Channel> channel)
    : videos_(v1::VideoService::NewStub(channel)), server_(v1::ServerService::NewStub(channel)) {}

StreamResult Calls::Generate(const v1::GenerateVideoRequest& request, const OnEvent& on_event,
                             absl::Duration deadline) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
  auto reader = videos_->GenerateVideo(&context, request);
  return Drain<v1::GenerateVideoResponse>(context, *reader, StreamChecker(0, 0), on_event);
}

StreamResult Calls::Generate(const v1::VideoSpec& spec) {
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = spec;
  return Generate(request);
}

StreamResult Calls::Watch(const v1::WatchVideoRequest& request, const OnEvent& on_event,
                          absl::Duration deadline) {
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
  auto reader = videos_->WatchVideo(&context, request);
  return Drain<v1::WatchVideoResponse>(
      context, *reader, StreamChecker(request.media_offset(), request.attempt()), on_event);
}

grpc::Status Calls::Download(const std::string& name, int64_t offset, std::string* bytes,
                             v1::MediaInfo* media) {
  v1::DownloadVideoRequest request;
  request.set_name(name);
  request.set_read_offset(offset);
  grpc::ClientContext context;
  auto reader = videos_->DownloadVideo(&context, request);
  v1::DownloadVideoResponse response;
  while (reader->Read(&response)) {
    EXPECT_EQ(response.chunk().crc32c(), PlainCrc32c(response.chunk().data()));
    bytes->append(response.chunk().data());
    if (response.has_media() && media != nullptr) *media = response.media();
  }
  return reader->Finish();
}

v1::Video Calls::Create(const v1::VideoSpec& spec, const std::string& request_id) {
  v1::CreateVideoRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(request_id);
  v1::CreateVideoResponse response;
  grpc::ClientContext context;
  const grpc::Status status = videos_->CreateVideo(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.video();
}

v1::Video Calls::Get(const std::string& name) {
  v1::GetVideoRequest request;
  request.set_name(name);
  v1::GetVideoResponse response;
  grpc::ClientContext context;
  const grpc::Status status = videos_->GetVideo(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response.video();
}

std::vector<v1::Video> Calls::List() {
  std::vector<v1::Video> videos;
  v1::ListVideosRequest request;
  request.set_page_size(200);
  do {
    v1::ListVideosResponse response;
    grpc::ClientContext context;
    const grpc::Status status = videos_->ListVideos(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    if (!status.ok()) break;
    for (v1::Video& video : *response.mutable_videos()) videos.push_back(std::move(video));
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return videos;
}

v1::Video Calls::Await(const std::string& name, absl::Duration timeout) {
  v1::Video video;
  EXPECT_TRUE(Eventually(
      [&] {
        video = Get(name);
        return video.state() >= v1::VIDEO_STATE_SUCCEEDED;
      },
      timeout))
      << name << " is still " << v1::VideoState_Name(video.state());
  return video;
}

std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return "";
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    if (detail.UnpackTo(&info)) return info.reason();
  }
  return "";
}

std::vector<std::string> ViolatedFields(const grpc::Status& status) {
  std::vector<std::string> fields;
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return fields;
  for (const auto& detail : details.details()) {
    google::rpc::BadRequest bad_request;
    if (!detail.UnpackTo(&bad_request)) continue;
    for (const auto& violation : bad_request.field_violations())
      fields.push_back(violation.field());
  }
  return fields;
}

std::string Sha256Hex(const std::string& bytes) {
  std::string digest(32, '\0');
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
             EVP_sha256(), nullptr);
  return absl::BytesToHexString(digest);
}

}  // namespace reel::tests
