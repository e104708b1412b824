// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/video_service.h"

#include <utility>

#include "absl/time/clock.h"
#include "reel/v1/video_service.grpc.pb.h"
#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/errors/error.h"
#include "server/front/rpc/bound_call.h"
#include "server/front/rpc/page_token.h"
#include "server/front/rpc/stream_sources.h"
#include "server/front/rpc/unary_call.h"
#include "server/front/rpc/video_convert.h"

namespace reel::server {
namespace {

using Context = grpc::CallbackServerContext;

Asker AskerOf(const CallContext& context) { return {context.tenant(), context.trace_id()}; }

class VideoService final : public v1::VideoService::CallbackService {
 public:
  VideoService(const CallEnvironment& environment, JobService& jobs, StreamPump& pump,
               const VideoServiceOptions& options)
      : environment_(environment), jobs_(jobs), pump_(pump), options_(options) {}

  grpc::ServerWriteReactor<v1::GenerateVideoResponse>* GenerateVideo(
      Context* context, const v1::GenerateVideoRequest* request) override;
  grpc::ServerUnaryReactor* CreateVideo(Context* context, const v1::CreateVideoRequest* request,
                                        v1::CreateVideoResponse* response) override;
  grpc::ServerUnaryReactor* GetVideo(Context* context, const v1::GetVideoRequest* request,
                                     v1::GetVideoResponse* response) override;
  grpc::ServerUnaryReactor* ListVideos(Context* context, const v1::ListVideosRequest* request,
                                       v1::ListVideosResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchVideoResponse>* WatchVideo(
      Context* context, const v1::WatchVideoRequest* request) override;
  grpc::ServerUnaryReactor* CancelVideo(Context* context, const v1::CancelVideoRequest* request,
                                        v1::CancelVideoResponse* response) override;
  grpc::ServerUnaryReactor* DeleteVideo(Context* context, const v1::DeleteVideoRequest* request,
                                        v1::DeleteVideoResponse* response) override;
  grpc::ServerWriteReactor<v1::DownloadVideoResponse>* DownloadVideo(
      Context* context, const v1::DownloadVideoRequest* request) override;
  grpc::ServerUnaryReactor* EstimateVideo(Context* context, const v1::EstimateVideoRequest* request,
                                          v1::EstimateVideoResponse* response) override;

 private:
  UnaryCall* NewUnary(Context* context, Method method) {
    return new UnaryCall(environment_, *context, method);
  }
  template <typename Response>
  StreamReactor<Response>* NewStream(Context* context, Method method) {
    return new StreamReactor<Response>(environment_, *context, method, pump_, options_.write_stall);
  }
  // A request that never reaches jobs/.
  absl::Status Refused(const absl::Status& status, bool detached) {
    environment_.observer.RequestRefused(status, detached);
    return status;
  }
  // Authorised and converted, or why not.
  template <typename Request>
  absl::StatusOr<NewJob> Admit(CallContext& context, const Request& request);
  void StartGenerate(StreamReactor<v1::GenerateVideoResponse>& reactor, NewJob job,
                     const WatchPoint& from);

  const CallEnvironment environment_;
  JobService& jobs_;
  StreamPump& pump_;
  const VideoServiceOptions options_;
};

template <typename Request>
absl::StatusOr<NewJob> VideoService::Admit(CallContext& context, const Request& request) {
  if (absl::Status status = context.Authorize(); !status.ok()) return status;
  return NewJobFrom(request, AskerOf(context), options_.rules, jobs_.Models());
}

grpc::ServerWriteReactor<v1::GenerateVideoResponse>* VideoService::GenerateVideo(
    Context* context, const v1::GenerateVideoRequest* request) {
  auto* reactor = NewStream<v1::GenerateVideoResponse>(context, Method::kGenerateVideo);
  CallContext& call = reactor->context();
  call.SetRequestId(request->request_id());
  auto job = Admit(call, *request);
  if (!job.ok()) {
    reactor->handle().Fail(Refused(job.status(), request->detached()));
    return reactor;
  }
  if (!job->timeout && job->bound) {
    job->timeout = TimeoutOfCall(call.deadline() - absl::Now(), options_.rules);
  }
  WatchPoint from;
  from.without_media = request->without_media();
  StartGenerate(*reactor, *std::move(job), from);
  return reactor;
}

void VideoService::StartGenerate(StreamReactor<v1::GenerateVideoResponse>& reactor, NewJob job,
                                 const WatchPoint& from) {
  std::shared_ptr<BoundCall> bound;
  if (job.bound) {
    bound = std::make_shared<BoundCall>(jobs_, reactor.context().deadline());
    reactor.OnEnd([bound](StreamEnd end) { bound->Ended(end); });
  }
  jobs_.Create(std::move(job), [bound, from = WatchPoint(from), stream = reactor.handle()](
                                   absl::StatusOr<std::shared_ptr<Job>> created) mutable {
    if (!created.ok()) return stream.Fail(created.status());
    from.id = (*created)->Snapshot().id;
    if (bound != nullptr) bound->Joined(from.id);
    (*created)->Listen(stream.listener());
    stream.Start(std::make_unique<GenerateSource>(*std::move(created), from));
  });
}

grpc::ServerUnaryReactor* VideoService::CreateVideo(Context* context,
                                                    const v1::CreateVideoRequest* request,
                                                    v1::CreateVideoResponse* response) {
  UnaryCall* call = NewUnary(context, Method::kCreateVideo);
  call->context.SetRequestId(request->request_id());
  PendingUnary pending(*call);
  auto job = Admit(call->context, *request);
  if (!job.ok()) {
    pending.End(Refused(job.status(), /*detached=*/true));
  } else if (request->validate_only()) {
    jobs_.Validate(*std::move(job),
                   [pending = std::move(pending), response](absl::StatusOr<Video> video) mutable {
                     if (video.ok()) *response->mutable_video() = VideoToProto(*video);
                     pending.End(video.status());
                   });
  } else {
    jobs_.Create(*std::move(job), [pending = std::move(pending),
                                   response](absl::StatusOr<std::shared_ptr<Job>> created) mutable {
      if (created.ok()) {
        const Video video = (*created)->Snapshot();
        pending.context().SetVideo(video.id);
        *response->mutable_video() = VideoToProto(video);
      }
      pending.End(created.status());
    });
  }
  return call;
}

grpc::ServerUnaryReactor* VideoService::GetVideo(Context* context,
                                                 const v1::GetVideoRequest* request,
                                                 v1::GetVideoResponse* response) {
  UnaryCall* call = NewUnary(context, Method::kGetVideo);
  PendingUnary pending(*call);
  absl::Status status = call->context.Authorize();
  auto id = VideoIdFrom(request->name());
  if (status.ok()) status = id.status();
  if (!status.ok()) {
    pending.End(status);
    return call;
  }
  jobs_.Find(
      call->context.tenant(), *id,
      [pending = std::move(pending), response](absl::StatusOr<std::shared_ptr<Job>> job) mutable {
        if (job.ok()) *response->mutable_video() = VideoToProto((*job)->Snapshot());
        pending.End(job.status());
      });
  return call;
}

grpc::ServerUnaryReactor* VideoService::ListVideos(Context* context,
                                                   const v1::ListVideosRequest* request,
                                                   v1::ListVideosResponse* response) {
  UnaryCall* call = NewUnary(context, Method::kListVideos);
  PendingUnary pending(*call);
  absl::Status status = call->context.Authorize();
  auto query = ListQueryFrom(*request, call->context.tenant());
  if (status.ok()) status = query.status();
  if (!status.ok()) {
    pending.End(status);
    return call;
  }
  const std::vector<VideoState> filter = query->states;
  jobs_.List(*std::move(query), [pending = std::move(pending), response,
                                 filter](absl::StatusOr<ListPage> page) mutable {
    if (page.ok()) {
      for (const Video& video : page->videos) *response->add_videos() = VideoToListProto(video);
      if (page->more && !page->videos.empty()) {
        const Video& last = page->videos.back();
        response->set_next_page_token(MakePageToken({last.create_time, last.id}, filter));
      }
    }
    pending.End(page.status());
  });
  return call;
}

grpc::ServerWriteReactor<v1::WatchVideoResponse>* VideoService::WatchVideo(
    Context* context, const v1::WatchVideoRequest* request) {
  auto* reactor = NewStream<v1::WatchVideoResponse>(context, Method::kWatchVideo);
  absl::Status status = reactor->context().Authorize();
  auto from = WatchPointFrom(*request);
  if (status.ok()) status = from.status();
  if (!status.ok()) {
    reactor->handle().Fail(status);
    return reactor;
  }
  jobs_.Find(
      reactor->context().tenant(), from->id,
      [from = *from, stream = reactor->handle()](absl::StatusOr<std::shared_ptr<Job>> job) mutable {
        const absl::Status checked = job.ok() ? CheckWatch(**job, from) : job.status();
        if (!checked.ok()) return stream.Fail(checked);
        (*job)->Listen(stream.listener());
        stream.Start(std::make_unique<WatchSource>(*std::move(job), from));
      });
  return reactor;
}

grpc::ServerUnaryReactor* VideoService::CancelVideo(Context* context,
                                                    const v1::CancelVideoRequest* request,
                                                    v1::CancelVideoResponse* response) {
  UnaryCall* call = NewUnary(context, Method::kCancelVideo);
  PendingUnary pending(*call);
  absl::Status status = call->context.Authorize();
  auto id = VideoIdFrom(request->name());
  if (status.ok()) status = id.status();
  if (!status.ok()) {
    pending.End(status);
    return call;
  }
  call->context.SetVideo(*id);
  jobs_.Cancel(call->context.tenant(), *id,
               [pending = std::move(pending), response](absl::StatusOr<Video> video) mutable {
                 if (video.ok()) *response->mutable_video() = VideoToProto(*video);
                 pending.End(video.status());
               });
  return call;
}

grpc::ServerUnaryReactor* VideoService::DeleteVideo(Context* context,
                                                    const v1::DeleteVideoRequest* request,
                                                    v1::DeleteVideoResponse*) {
  UnaryCall* call = NewUnary(context, Method::kDeleteVideo);
  PendingUnary pending(*call);
  absl::Status status = call->context.Authorize();
  auto id = VideoIdFrom(request->name());
  if (status.ok()) status = id.status();
  if (!status.ok()) {
    pending.End(status);
    return call;
  }
  call->context.SetVideo(*id);
  jobs_.Delete(
      call->context.tenant(), *id,
      [pending = std::move(pending)](absl::Status deleted) mutable { pending.End(deleted); });
  return call;
}

grpc::ServerWriteReactor<v1::DownloadVideoResponse>* VideoService::DownloadVideo(
    Context* context, const v1::DownloadVideoRequest* request) {
  auto* reactor = NewStream<v1::DownloadVideoResponse>(context, Method::kDownloadVideo);
  absl::Status status = reactor->context().Authorize();
  auto range = DownloadRangeFrom(*request);
  if (status.ok()) status = range.status();
  if (!status.ok()) {
    reactor->handle().Fail(status);
    return reactor;
  }
  jobs_.Find(reactor->context().tenant(), range->id,
             [range = *range,
              stream = reactor->handle()](absl::StatusOr<std::shared_ptr<Job>> job) mutable {
               const absl::Status checked = job.ok() ? CheckDownload(**job, range) : job.status();
               if (!checked.ok()) return stream.Fail(checked);
               stream.Start(std::make_unique<DownloadSource>(*std::move(job), range));
             });
  return reactor;
}

void EstimateToProto(const CostEstimate& estimate, v1::EstimateVideoResponse& proto) {
  *proto.mutable_spec() = SpecToProto(estimate.spec);
  SetProtoDuration(*proto.mutable_queue(), estimate.queue);
  SetProtoDuration(*proto.mutable_run_p50(), estimate.run_p50);
  SetProtoDuration(*proto.mutable_run_p90(), estimate.run_p90);
  proto.set_peak_memory_bytes(estimate.peak_memory_bytes);
  proto.set_device_seconds(estimate.device_seconds);
  proto.set_admissible(estimate.refusal.ok());
  if (!estimate.refusal.ok()) {
    proto.mutable_refusal()->ParseFromString(SerializeError(estimate.refusal));
  }
  proto.set_queue_position(estimate.queue_position);
  proto.set_latent_tokens(static_cast<int32_t>(estimate.latent_tokens));
}

grpc::ServerUnaryReactor* VideoService::EstimateVideo(Context* context,
                                                      const v1::EstimateVideoRequest* request,
                                                      v1::EstimateVideoResponse* response) {
  UnaryCall* call = NewUnary(context, Method::kEstimateVideo);
  PendingUnary pending(*call);
  auto job = Admit(call->context, *request);
  if (!job.ok()) {
    pending.End(job.status());
    return call;
  }
  jobs_.Estimate(*std::move(job), [pending = std::move(pending),
                                   response](absl::StatusOr<CostEstimate> estimate) mutable {
    if (estimate.ok()) EstimateToProto(*estimate, *response);
    pending.End(estimate.status());
  });
  return call;
}

}  // namespace

std::unique_ptr<grpc::Service> MakeVideoService(const CallEnvironment& environment,
                                                JobService& jobs, StreamPump& pump,
                                                const VideoServiceOptions& options) {
  return std::make_unique<VideoService>(environment, jobs, pump, options);
}

}  // namespace reel::server
