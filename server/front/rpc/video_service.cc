// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/video_service.h"

#include <utility>

#include "absl/time/clock.h"
#include "reel/v1/video_service.grpc.pb.h"
#include "server/convert/convert.h"
#include "server/convert/proto_duration.h"
#include "server/errors/error.h"
#include "server/front/rpc/bound_call.h"
#include "server/front/rpc/call_door.h"
#include "server/front/rpc/page_token.h"
#include "server/front/rpc/stream_sources.h"
#include "server/front/rpc/video_convert.h"

namespace reel::front {
namespace {

using Context = grpc::CallbackServerContext;

// For the answer of jobs/: `fill` writes it into the response; an error ends the call as it is.
template <typename Fill>
auto Respond(PendingUnary pending, Fill fill) {
  return [pending = std::move(pending), fill = std::move(fill)](auto answer) mutable {
    if (answer.ok()) fill(pending.context(), *answer);
    pending.End(answer.status());
  };
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

void PageToProto(const ListPage& page, const std::vector<VideoState>& filter,
                 v1::ListVideosResponse& proto) {
  for (const Video& video : page.videos) *proto.add_videos() = VideoToListProto(video);
  if (!page.more || page.videos.empty()) return;
  const Video& last = page.videos.back();
  proto.set_next_page_token(MakePageToken({last.create_time, last.id}, filter));
}

class VideoService final : public v1::VideoService::CallbackService {
 public:
  VideoService(const CallEnvironment& environment, JobService& jobs, StreamPump& pump,
               const VideoServiceOptions& options)
      : door_(environment, pump, options.write_stall), jobs_(jobs), options_(options) {}

  grpc::ServerWriteReactor<v1::GenerateVideoResponse>* GenerateVideo(
      Context* context, const v1::GenerateVideoRequest* request) override {
    return door_.Stream<v1::GenerateVideoResponse>(
        context, Method::kGenerateVideo, *request,
        [&](const CallContext& call) { return JobFrom(*request, call); },
        [&](NewJob job, auto& reactor) {
          if (!job.timeout && job.bound) {
            const absl::Duration left = reactor.context().deadline() - absl::Now();
            job.timeout = TimeoutOfCall(left, options_.rules);
          }
          Generate(reactor, std::move(job), request->without_media());
        });
  }

  grpc::ServerUnaryReactor* CreateVideo(Context* context, const v1::CreateVideoRequest* request,
                                        v1::CreateVideoResponse* response) override {
    return door_.Unary(
        context, Method::kCreateVideo, *request,
        [&](const CallContext& call) { return JobFrom(*request, call); },
        [&](NewJob job, PendingUnary pending) {
          const auto fill = [response](CallContext& call, const Video& video) {
            if (!video.id.empty()) call.SetVideo(video.id);
            *response->mutable_video() = VideoToProto(video);
          };
          if (request->validate_only()) {
            return jobs_.Validate(std::move(job), Respond(std::move(pending), fill));
          }
          jobs_.Create(std::move(job),
                       Respond(std::move(pending), [fill](CallContext& call, auto& made) {
                         fill(call, made->Snapshot());
                       }));
        });
  }

  grpc::ServerUnaryReactor* GetVideo(Context* context, const v1::GetVideoRequest* request,
                                     v1::GetVideoResponse* response) override {
    return OfVideo(context, Method::kGetVideo, *request,
                   [&](const CallContext& call, const std::string& id, PendingUnary pending) {
                     jobs_.Find(call.tenant(), id,
                                Respond(std::move(pending), [response](CallContext&, auto& job) {
                                  *response->mutable_video() = VideoToProto(job->Snapshot());
                                }));
                   });
  }

  grpc::ServerUnaryReactor* ListVideos(Context* context, const v1::ListVideosRequest* request,
                                       v1::ListVideosResponse* response) override {
    const auto read = [&](const CallContext& call) {
      return ListQueryFrom(*request, call.tenant());
    };
    return door_.Unary(
        context, Method::kListVideos, *request, read, [&](ListQuery query, PendingUnary pending) {
          const auto fill = [response, filter = query.states](CallContext&, auto& page) {
            PageToProto(page, filter, *response);
          };
          jobs_.List(std::move(query), Respond(std::move(pending), fill));
        });
  }

  grpc::ServerWriteReactor<v1::WatchVideoResponse>* WatchVideo(
      Context* context, const v1::WatchVideoRequest* request) override {
    return door_.Stream<v1::WatchVideoResponse>(
        context, Method::kWatchVideo, *request,
        [&](const CallContext&) { return WatchPointFrom(*request); },
        [&](WatchPoint from, auto& reactor) {
          Find(reactor, from.id, [from](const auto& stream, std::shared_ptr<Job> job) {
            if (absl::Status bad = CheckWatch(*job, from); !bad.ok()) return bad;
            job->Listen(stream.listener());
            stream.Start(std::make_unique<WatchSource>(std::move(job), from));
            return absl::OkStatus();
          });
        });
  }

  grpc::ServerUnaryReactor* CancelVideo(Context* context, const v1::CancelVideoRequest* request,
                                        v1::CancelVideoResponse* response) override {
    return OfVideo(context, Method::kCancelVideo, *request,
                   [&](const CallContext& call, const std::string& id, PendingUnary pending) {
                     jobs_.Cancel(
                         call.tenant(), id,
                         Respond(std::move(pending), [response](CallContext&, auto& video) {
                           *response->mutable_video() = VideoToProto(video);
                         }));
                   });
  }

  grpc::ServerUnaryReactor* DeleteVideo(Context* context, const v1::DeleteVideoRequest* request,
                                        v1::DeleteVideoResponse*) override {
    return OfVideo(context, Method::kDeleteVideo, *request,
                   [&](const CallContext& call, const std::string& id, PendingUnary pending) {
                     jobs_.Delete(call.tenant(), id,
                                  [pending = std::move(pending)](absl::Status deleted) mutable {
                                    pending.End(deleted);
                                  });
                   });
  }

  grpc::ServerWriteReactor<v1::DownloadVideoResponse>* DownloadVideo(
      Context* context, const v1::DownloadVideoRequest* request) override {
    return door_.Stream<v1::DownloadVideoResponse>(
        context, Method::kDownloadVideo, *request,
        [&](const CallContext&) { return DownloadRangeFrom(*request); },
        [&](DownloadRange range, auto& reactor) {
          Find(reactor, range.id, [range](const auto& stream, std::shared_ptr<Job> job) {
            if (absl::Status bad = CheckDownload(*job, range); !bad.ok()) return bad;
            stream.Start(std::make_unique<DownloadSource>(std::move(job), range));
            return absl::OkStatus();
          });
        });
  }

  grpc::ServerUnaryReactor* EstimateVideo(Context* context, const v1::EstimateVideoRequest* request,
                                          v1::EstimateVideoResponse* response) override {
    return door_.Unary(
        context, Method::kEstimateVideo, *request,
        [&](const CallContext& call) { return JobFrom(*request, call); },
        [&](NewJob job, PendingUnary pending) {
          jobs_.Estimate(std::move(job),
                         Respond(std::move(pending), [response](CallContext&, auto& cost) {
                           EstimateToProto(cost, *response);
                         }));
        });
  }

 private:
  // A unary call on the one video that its request names.
  template <typename Request, typename Serve>
  grpc::ServerUnaryReactor* OfVideo(Context* context, Method method, const Request& request,
                                    const Serve& serve) {
    const auto read = [&](const CallContext&) { return VideoIdFrom(request.name()); };
    return door_.Unary(context, method, request, read,
                       [&](const std::string& id, PendingUnary pending) {
                         CallContext& call = pending.context();
                         call.SetVideo(id);
                         serve(call, id, std::move(pending));
                       });
  }

  template <typename Request>
  absl::StatusOr<NewJob> JobFrom(const Request& request, const CallContext& call) const {
    return NewJobFrom(request, {call.tenant(), call.trace_id()}, options_.rules, jobs_.Models());
  }

  // Begins a stream over a video that exists: `start(stream, job)` starts it or says why not.
  template <typename Response, typename Start>
  void Find(StreamReactor<Response>& reactor, const std::string& id, Start start) {
    jobs_.Find(reactor.context().tenant(), id,
               [start = std::move(start),
                stream = reactor.handle()](absl::StatusOr<std::shared_ptr<Job>> job) mutable {
                 const absl::Status started = job.ok() ? start(stream, *job) : job.status();
                 if (!started.ok()) stream.Fail(started);
               });
  }

  void Generate(StreamReactor<v1::GenerateVideoResponse>& reactor, NewJob job, bool without_media) {
    std::shared_ptr<BoundCall> bound;
    if (job.bound) {
      bound = std::make_shared<BoundCall>(jobs_, reactor.context().deadline());
      reactor.OnEnd([bound](StreamEnd end) { bound->Ended(end); });
    }
    jobs_.Create(std::move(job), [bound, without_media, stream = reactor.handle()](
                                     absl::StatusOr<std::shared_ptr<Job>> created) mutable {
      if (!created.ok()) return stream.Fail(created.status());
      WatchPoint from;
      from.without_media = without_media;
      from.id = (*created)->Snapshot().id;
      if (bound != nullptr) bound->Joined(from.id);
      (*created)->Listen(stream.listener());
      stream.Start(std::make_unique<GenerateSource>(*std::move(created), from));
    });
  }

  const CallDoor door_;
  JobService& jobs_;
  const VideoServiceOptions options_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeVideoService(const CallEnvironment& environment,
                                                JobService& jobs, StreamPump& pump,
                                                const VideoServiceOptions& options) {
  return std::make_unique<VideoService>(environment, jobs, pump, options);
}

}  // namespace reel::front
