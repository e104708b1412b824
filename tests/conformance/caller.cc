// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/caller.h"

#include <gtest/gtest.h>

namespace reel::tests {

std::unique_ptr<grpc::ClientContext> Caller::Context() const {
  auto context = std::make_unique<grpc::ClientContext>();
  if (!token_.empty()) context->AddMetadata("authorization", "Bearer " + token_);
  return context;
}

Caller::Uploaded Caller::Upload(const std::string& bytes, int64_t said) {
  constexpr size_t kPiece = 1 << 20;
  v1::UploadFileResponse response;
  const auto context = Context();
  const auto writer = videos_->UploadFile(context.get(), &response);
  v1::UploadFileRequest piece;
  piece.set_size_bytes(said > 0 ? said : std::ssize(bytes));
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    piece.set_data(bytes.substr(at, kPiece));
    if (!writer->Write(piece)) break;
    piece.clear_size_bytes();
  }
  writer->WritesDone();
  return {writer->Finish(), response.file()};
}

Answer Caller::Create(const v1::CreateVideoRequest& request) {
  v1::CreateVideoResponse response;
  const auto context = Context();
  const grpc::Status status = videos_->CreateVideo(context.get(), request, &response);
  return {status, response.video(), {response.videos().begin(), response.videos().end()}};
}

Answer Caller::Create(const v1::VideoSpec& spec, const std::string& request_id) {
  v1::CreateVideoRequest request;
  *request.mutable_spec() = spec;
  request.set_request_id(request_id);
  return Create(request);
}

Answer Caller::Get(const std::string& name) {
  v1::GetVideoRequest request;
  request.set_name(name);
  v1::GetVideoResponse response;
  const auto context = Context();
  const grpc::Status status = videos_->GetVideo(context.get(), request, &response);
  return {status, response.video()};
}

Answer Caller::Cancel(const std::string& name) {
  v1::CancelVideoRequest request;
  request.set_name(name);
  v1::CancelVideoResponse response;
  const auto context = Context();
  const grpc::Status status = videos_->CancelVideo(context.get(), request, &response);
  return {status, response.video()};
}

grpc::Status Caller::Delete(const std::string& name) {
  v1::DeleteVideoRequest request;
  request.set_name(name);
  v1::DeleteVideoResponse response;
  const auto context = Context();
  return videos_->DeleteVideo(context.get(), request, &response);
}

Page Caller::List(int page_size, const std::string& token,
                  const std::vector<v1::VideoState>& states) {
  v1::ListVideosRequest request;
  request.set_page_size(page_size);
  request.set_page_token(token);
  for (const v1::VideoState state : states) request.add_states(state);
  v1::ListVideosResponse response;
  const auto context = Context();
  Page page;
  page.status = videos_->ListVideos(context.get(), request, &response);
  page.videos.assign(response.videos().begin(), response.videos().end());
  page.next = response.next_page_token();
  return page;
}

std::vector<std::string> Caller::Names(int page_size, const std::vector<v1::VideoState>& states) {
  std::vector<std::string> names;
  std::string token;
  do {
    const Page page = List(page_size, token, states);
    EXPECT_TRUE(page.status.ok()) << page.status.error_message();
    for (const v1::Video& video : page.videos) names.push_back(video.name());
    token = page.next;
  } while (!token.empty());
  return names;
}

v1::Video Caller::Await(const std::string& name) {
  Answer last;
  EXPECT_TRUE(Eventually([&] {
    last = Get(name);
    return !last.ok() || last.video.state() >= v1::VIDEO_STATE_SUCCEEDED;
  })) << name
      << " is still " << v1::VideoState_Name(last.video.state());
  EXPECT_TRUE(last.ok()) << last.status.error_message();
  return last.video;
}

v1::Video Caller::Finish(const v1::VideoSpec& spec) {
  const Answer made = Create(spec);
  EXPECT_TRUE(made.ok()) << made.status.error_message();
  const v1::Video video = made.ok() ? Await(made.video.name()) : v1::Video();
  EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
  return video;
}

void Caller::AwaitStep(const std::string& name, int step) {
  Answer last;
  EXPECT_TRUE(Eventually([&] {
    last = Get(name);
    return !last.ok() || last.video.state() >= v1::VIDEO_STATE_SUCCEEDED ||
           last.video.progress().step() >= step;
  }));
  EXPECT_EQ(last.video.state(), v1::VIDEO_STATE_RUNNING) << last.video.DebugString();
}

v1::VideoSpec Steps(const std::string& prompt, int steps) {
  v1::VideoSpec spec = SmallSpec(prompt);
  spec.set_num_inference_steps(steps);
  return spec;
}

v1::VideoSpec ClipSpec() {
  v1::VideoSpec spec = SmallSpec("a red fox");
  spec.set_num_frames(25);
  spec.set_frame_rate(25);
  return spec;
}

v1::VideoSpec RefinementSpec() {
  v1::VideoSpec spec = SmallSpec("a sharp fox");
  spec.clear_num_inference_steps();
  spec.set_preset("two-pass");
  spec.set_height(128);
  spec.set_num_frames(25);
  spec.set_frame_rate(25);
  spec.add_conditions()->set_use(v1::CONDITION_USE_REFINE);
  return spec;
}

std::string ErrorOf(const v1::Video& video) {
  return ReasonOf(grpc::Status(grpc::StatusCode::UNKNOWN, "", video.error().SerializeAsString()));
}

std::vector<std::string> NamesOf(const std::vector<v1::Video>& videos) {
  std::vector<std::string> names;
  for (const v1::Video& video : videos) names.push_back(video.name());
  return names;
}

}  // namespace reel::tests
