// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/fake_video_service.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "reel/v1/server_service.grpc.pb.h"
#include "reel/v1/video_service.grpc.pb.h"
#include "tests/fakes/fake_server_service.h"
#include "tests/fakes/fake_video.h"

namespace reel::fakes {
namespace {

constexpr int kSteps = 4;

grpc::Status ToGrpc(const google::rpc::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), status.message(),
                      status.SerializeAsString());
}

}  // namespace

class FakeVideoService::Impl final : public v1::VideoService::Service {
 public:
  Impl(int64_t media_bytes, int64_t chunk_bytes) : video_(media_bytes, chunk_bytes) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    builder.RegisterService(&server_service_);
    builder.RegisterService(&health_);
    server_ = builder.BuildAndStart();
    address_ = absl::StrCat("127.0.0.1:", port);
  }

  ~Impl() override { Shutdown(); }

  FakeServerService server_service_;

  void Shutdown() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  grpc::Status GenerateVideo(grpc::ServerContext* context, const v1::GenerateVideoRequest* request,
                             grpc::ServerWriter<v1::GenerateVideoResponse>* writer) override {
    if (auto refused = Refused(context, "GenerateVideo")) return *refused;
    const Trouble trouble = Begin([&] { asked_.generates.push_back(*request); });
    Cursor cursor{.without_media = request->without_media()};
    const grpc::Status status = Stream(context, trouble, cursor, [&](v1::VideoEvent event) {
      v1::GenerateVideoResponse response;
      *response.mutable_event() = std::move(event);
      return writer->Write(response);
    });
    std::lock_guard<std::mutex> lock(mutex_);
    if (context->IsCancelled() && !request->detached()) ++asked_.owners_left;
    changed_.notify_all();
    return status;
  }

  grpc::Status WatchVideo(grpc::ServerContext* context, const v1::WatchVideoRequest* request,
                          grpc::ServerWriter<v1::WatchVideoResponse>* writer) override {
    if (auto refused = Refused(context, "WatchVideo")) return *refused;
    const Trouble trouble = Begin([&] { asked_.watches.push_back(*request); });
    Cursor cursor{request->after_sequence(), 0, request->without_media()};
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const bool current = request->attempt() == 0 || request->attempt() == video_.attempt();
      if (current) cursor.offset = request->media_offset();
    }
    return Stream(context, trouble, cursor, [&](v1::VideoEvent event) {
      v1::WatchVideoResponse response;
      *response.mutable_event() = std::move(event);
      return writer->Write(response);
    });
  }

  grpc::Status DownloadVideo(grpc::ServerContext* context, const v1::DownloadVideoRequest* request,
                             grpc::ServerWriter<v1::DownloadVideoResponse>* writer) override {
    if (auto refused = Refused(context, "DownloadVideo")) return *refused;
    const Trouble trouble = Begin([&] { asked_.downloads.push_back(*request); });
    int64_t offset = request->read_offset();
    if (offset > video_.size()) {
      return ToGrpc(MakeRefusal(11, "OFFSET_PAST_END", "The offset lies past the end.").status);
    }
    const int64_t end = request->read_limit() == 0
                            ? video_.size()
                            : std::min(video_.size(), offset + request->read_limit());
    const int64_t start = offset;
    while (offset < end) {
      if (trouble.cut_after >= 0 && offset - start >= trouble.cut_after) return Cut();
      v1::DownloadVideoResponse response;
      *response.mutable_chunk() = video_.Chunk(offset, end, IsCorrupt(trouble, offset - start));
      offset += static_cast<int64_t>(response.chunk().data().size());
      if (!writer->Write(response)) return Cut();
      Pause();
    }
    v1::DownloadVideoResponse last;
    *last.mutable_media() = video_.Info(trouble.wrong_hash);
    writer->Write(last);
    return grpc::Status::OK;
  }

  grpc::Status CreateVideo(grpc::ServerContext* context, const v1::CreateVideoRequest* request,
                           v1::CreateVideoResponse* response) override {
    if (auto refused = Refused(context, "CreateVideo")) return *refused;
    std::lock_guard<std::mutex> lock(mutex_);
    asked_.creates.push_back(*request);
    *response->mutable_video() = video_.InState(v1::VIDEO_STATE_QUEUED);
    *response->mutable_video()->mutable_spec() = request->spec();
    if (request->validate_only()) response->mutable_video()->clear_name();
    // All of them are the one video that it plays.
    for (int i = 0; i < request->count(); ++i) *response->add_videos() = response->video();
    return grpc::Status::OK;
  }

  grpc::Status GetVideo(grpc::ServerContext* context, const v1::GetVideoRequest* request,
                        v1::GetVideoResponse* response) override {
    if (auto refused = Refused(context, "GetVideo")) return *refused;
    if (request->name() != video_.name()) return Unknown();
    *response->mutable_video() = video_.Finished(false);
    return grpc::Status::OK;
  }

  grpc::Status ListVideos(grpc::ServerContext* context, const v1::ListVideosRequest*,
                          v1::ListVideosResponse* response) override {
    if (auto refused = Refused(context, "ListVideos")) return *refused;
    *response->add_videos() = video_.Finished(false);
    return grpc::Status::OK;
  }

  grpc::Status CancelVideo(grpc::ServerContext* context, const v1::CancelVideoRequest* request,
                           v1::CancelVideoResponse* response) override {
    if (auto refused = Refused(context, "CancelVideo")) return *refused;
    if (request->name() != video_.name()) return Unknown();
    std::lock_guard<std::mutex> lock(mutex_);
    ++asked_.cancels;
    changed_.notify_all();
    *response->mutable_video() = video_.InState(v1::VIDEO_STATE_RUNNING);
    return grpc::Status::OK;
  }

  grpc::Status DeleteVideo(grpc::ServerContext* context, const v1::DeleteVideoRequest* request,
                           v1::DeleteVideoResponse*) override {
    if (auto refused = Refused(context, "DeleteVideo")) return *refused;
    return request->name() == video_.name() ? grpc::Status::OK : Unknown();
  }

  grpc::Status EstimateVideo(grpc::ServerContext* context, const v1::EstimateVideoRequest* request,
                             v1::EstimateVideoResponse* response) override {
    if (auto refused = Refused(context, "EstimateVideo")) return *refused;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      asked_.estimates.push_back(*request);
    }
    *response->mutable_spec() = request->spec();
    if (request->spec().num_frames() == 0) response->mutable_spec()->set_num_frames(9);
    response->mutable_queue()->set_seconds(1);
    response->mutable_run_p50()->set_seconds(2);
    response->mutable_run_p90()->set_seconds(3);
    v1::DeviceEstimate& group = *response->add_devices();
    group.set_device("2 x Card");
    group.mutable_run_p50()->set_seconds(2);
    group.mutable_run_p90()->set_seconds(3);
    group.set_observed(true);
    response->add_devices()->set_device("Card");
    response->set_admissible(true);
    return grpc::Status::OK;
  }

  grpc::Status UploadFile(grpc::ServerContext* context,
                          grpc::ServerReader<v1::UploadFileRequest>* reader,
                          v1::UploadFileResponse* response) override {
    if (auto refused = Refused(context, "UploadFile")) return *refused;
    std::string bytes;
    for (v1::UploadFileRequest piece; reader->Read(&piece);) bytes += piece.data();
    std::lock_guard<std::mutex> lock(mutex_);
    asked_.files.push_back(std::move(bytes));
    response->mutable_file()->set_name("files/" + std::to_string(asked_.files.size()));
    return grpc::Status::OK;
  }

  // Guards everything below; the accessors of the outer class take it too.
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Trouble> troubles_;
  std::map<std::string, std::deque<Refusal>> refusals_;
  Asked asked_;
  std::string address_;
  int pause_ms_ = 0;
  bool stopping_ = false;
  FakeVideo video_;

 private:
  struct Cursor {
    uint64_t after_sequence = 0;
    int64_t offset = 0;
    bool without_media = false;
  };
  using Writer = std::function<bool(v1::VideoEvent)>;

  static grpc::Status Cut() { return {grpc::StatusCode::UNAVAILABLE, "Connection reset by peer"}; }
  static grpc::Status Unknown() {
    return ToGrpc(MakeRefusal(5, "VIDEO_NOT_FOUND", "There is no such video.").status);
  }

  std::optional<grpc::Status> Refused(grpc::ServerContext* context, const std::string& method) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto& headers = context->client_metadata();
    const auto token = headers.find("authorization");
    asked_.authorization =
        token == headers.end() ? "" : std::string(token->second.data(), token->second.size());
    auto& queue = refusals_[method];
    if (queue.empty()) return std::nullopt;
    const Refusal refusal = queue.front();
    queue.pop_front();
    if (refusal.pushback_ms) {
      context->AddTrailingMetadata("grpc-retry-pushback-ms", absl::StrCat(*refusal.pushback_ms));
    }
    return ToGrpc(refusal.status);
  }

  static bool IsCorrupt(const Trouble& trouble, int64_t sent) {
    return trouble.corrupt_after >= 0 && sent >= trouble.corrupt_after;
  }

  Trouble Begin(const std::function<void()>& record) {
    std::lock_guard<std::mutex> lock(mutex_);
    record();
    ++asked_.streams;
    changed_.notify_all();
    if (troubles_.empty()) return {};
    Trouble trouble = troubles_.front();
    troubles_.pop_front();
    if (trouble.new_name) video_.Replace();
    return trouble;
  }

  grpc::Status Stream(grpc::ServerContext* context, const Trouble& trouble, Cursor cursor,
                      const Writer& write) {
    v1::VideoEvent accepted = video_.Accepted();
    if (!trouble.notice.empty()) {
      accepted.mutable_accepted()->add_notices()->set_message(trouble.notice);
    }
    if (!write(accepted)) return Cut();
    if (!SendSteps(cursor, write)) return Cut();
    if (trouble.end) return ToGrpc(trouble.end->status);
    if (trouble.wait_for_cancel) return WaitForCancel(context, trouble);
    if (!cursor.without_media) {
      if (auto ended = SendMedia(trouble, cursor, write)) return *ended;
    }
    if (trouble.end_early) return grpc::Status::OK;
    write(video_.Ended(trouble.wrong_hash));
    return grpc::Status::OK;
  }

  bool SendSteps(const Cursor& cursor, const Writer& write) {
    for (int step = 0; step <= kSteps; ++step) {
      v1::VideoEvent event;
      event.set_sequence(2 + static_cast<uint64_t>(step));
      if (event.sequence() <= cursor.after_sequence) continue;
      v1::Progress& progress = *event.mutable_progress();
      progress.set_stage(step == 0 ? v1::STAGE_QUEUE : v1::STAGE_DENOISE);
      progress.set_queue_position(step == 0 ? 2 : 0);
      progress.set_step(step);
      progress.set_num_steps(kSteps);
      progress.set_fraction(0.2 * step);
      progress.mutable_remaining()->set_seconds(kSteps - step);
      if (!write(event)) return false;
      Pause();
    }
    return true;
  }

  std::optional<grpc::Status> SendMedia(const Trouble& trouble, Cursor& cursor,
                                        const Writer& write) {
    int64_t sent = 0;
    bool restarted = false;
    while (cursor.offset < video_.size()) {
      if (trouble.cut_after >= 0 && sent >= trouble.cut_after) return Cut();
      if (trouble.restart_after >= 0 && sent >= trouble.restart_after && !restarted) {
        restarted = true;
        cursor.offset = 0;
        if (!write(video_.Restart())) return Cut();
      }
      v1::VideoEvent event;
      event.set_sequence(2 + kSteps);
      *event.mutable_media() = video_.Chunk(cursor.offset, video_.size(), IsCorrupt(trouble, sent));
      const auto size = static_cast<int64_t>(event.media().data().size());
      cursor.offset += size;
      const bool skipped = trouble.skip_after >= 0 && sent >= trouble.skip_after &&
                           sent < trouble.skip_after + video_.chunk_size();
      if (!skipped && !write(event)) return Cut();
      sent += size;
      Pause();
    }
    return std::nullopt;
  }

  grpc::Status WaitForCancel(grpc::ServerContext* context, const Trouble& trouble) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stopping_ && !context->IsCancelled()) {
      if (asked_.cancels > 0 && !trouble.ignore_cancel) {
        return ToGrpc(MakeRefusal(1, "CANCELLED_BY_OWNER", "The video was cancelled.").status);
      }
      changed_.wait_for(lock, std::chrono::milliseconds(10));  // IsCancelled has no callback
    }
    return Cut();
  }

  void Pause() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (pause_ms_ == 0) return;
    changed_.wait_for(lock, std::chrono::milliseconds(pause_ms_), [this] { return stopping_; });
  }

  FakeHealth health_;
  std::unique_ptr<grpc::Server> server_;
};

FakeVideoService::FakeVideoService(int64_t media_bytes, int64_t chunk_bytes)
    : impl_(std::make_unique<Impl>(media_bytes, chunk_bytes)) {}
FakeVideoService::~FakeVideoService() = default;

std::string FakeVideoService::address() const { return impl_->address_; }
void FakeVideoService::Shutdown() { impl_->Shutdown(); }
void FakeVideoService::BreakFleetStore() { impl_->server_service_.store_is_away = true; }

void FakeVideoService::Play(const std::vector<Trouble>& troubles) {
  std::lock_guard<std::mutex> lock(impl_->mutex_);
  impl_->troubles_.insert(impl_->troubles_.end(), troubles.begin(), troubles.end());
}

void FakeVideoService::RefuseNext(const std::string& method, const Refusal& refusal) {
  std::lock_guard<std::mutex> lock(impl_->mutex_);
  impl_->refusals_[method].push_back(refusal);
}

void FakeVideoService::SetPause(int milliseconds) {
  std::lock_guard<std::mutex> lock(impl_->mutex_);
  impl_->pause_ms_ = milliseconds;
}

std::string FakeVideoService::name() const { return impl_->video_.name(); }

std::string FakeVideoService::media() const { return impl_->video_.media(); }

v1::MediaInfo FakeVideoService::media_info() const { return impl_->video_.Info(false); }

Asked FakeVideoService::asked() const {
  std::lock_guard<std::mutex> lock(impl_->mutex_);
  return impl_->asked_;
}

void FakeVideoService::SetStats(const v1::RunStats& stats) { impl_->video_.SetStats(stats); }
void FakeVideoService::Notice(const std::string& code, const std::string& message) {
  impl_->video_.Notice(code, message);
}

void FakeVideoService::WaitForStreams(int count) const {
  std::unique_lock<std::mutex> lock(impl_->mutex_);
  impl_->changed_.wait(lock, [&] { return impl_->asked_.streams >= count; });
}

void FakeVideoService::WaitUntilLeft(int count) const {
  std::unique_lock<std::mutex> lock(impl_->mutex_);
  impl_->changed_.wait(lock, [&] { return impl_->asked_.owners_left >= count; });
}

}  // namespace reel::fakes
