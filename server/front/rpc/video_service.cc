// SPDX-License-Identifier: Apache-2.0
#include "server/front/rpc/video_service.h"

#include <utility>

#include "absl/time/clock.h"
#include "server/front/api/open_calls.h"
#include "server/front/api/video_answers.h"
#include "server/front/api/video_convert.h"
#include "server/front/api/video_cursor.h"
#include "server/front/rpc/call_door.h"
#include "server/front/rpc/request_reactor.h"
#include "server/front/rpc/stream_reactor.h"
#include "server/front/rpc/upload_call.h"

namespace reel::front {
namespace {

using Context = grpc::CallbackServerContext;

// For the answer of jobs/: `fill(answer, pending)` writes it into the response; an error ends the
// call as it is.
template <typename Response, typename Fill>
auto Respond(PendingUnary<Response> pending, Fill fill) {
  return [pending = std::move(pending), fill = std::move(fill)](auto answer) mutable {
    if (answer.ok()) fill(*answer, pending);
    pending.End(answer.status());
  };
}

class VideoService final : public CallService {
 public:
  VideoService(const CallEnvironment& environment, JobService& jobs, StreamPump& pump,
               const VideoServiceOptions& options)
      : environment_(environment),
        door_(environment, pump, options.write_stall),
        jobs_(jobs),
        options_(options) {
    Take(Method::kGenerateVideo, &VideoService::GenerateVideo);
    Take(Method::kCreateVideo, &VideoService::CreateVideo);
    Take(Method::kGetVideo, &VideoService::GetVideo);
    Take(Method::kListVideos, &VideoService::ListVideos);
    Take(Method::kWatchVideo, &VideoService::WatchVideo);
    Take(Method::kCancelVideo, &VideoService::CancelVideo);
    Take(Method::kDeleteVideo, &VideoService::DeleteVideo);
    Take(Method::kDownloadVideo, &VideoService::DownloadVideo);
    Take(Method::kEstimateVideo, &VideoService::EstimateVideo);
    Take(Method::kUploadFile, &VideoService::UploadFile);
  }

 private:
  template <typename Response>
  void Take(Method method, Reactor<Response>* (VideoService::*begin)(Context*)) {
    Serve<Response>(method, [this, begin](Context* context) { return (this->*begin)(context); });
  }

  Reactor<v1::GenerateVideoResponse>* GenerateVideo(Context* context) {
    using Request = v1::GenerateVideoRequest;
    return door_.Stream<Request, v1::GenerateVideoResponse>(
        context, Method::kGenerateVideo,
        [this](const Request& request, const CallContext& call) { return JobFrom(request, call); },
        [this](const Request& request, NewJob job, auto& reactor) {
          if (!job.timeout && job.bound) {
            const absl::Duration left = reactor.context().deadline() - absl::Now();
            job.timeout = TimeoutOfCall(left, options_.rules);
          }
          Generate(reactor, std::move(job), request.without_media());
        });
  }

  Reactor<v1::CreateVideoResponse>* CreateVideo(Context* context) {
    using Request = v1::CreateVideoRequest;
    return door_.Unary<Request, v1::CreateVideoResponse>(
        context, Method::kCreateVideo,
        [this](const Request& request, const CallContext& call) { return JobFrom(request, call); },
        [this](const Request& request, NewJob job, auto pending) {
          const int asked = request.count();
          if (request.validate_only()) {
            const auto fill = [asked](const Video& video, auto& answered) {
              ValidatedToProto(video, asked, answered.response());
            };
            return jobs_.Validate(std::move(job), Respond(std::move(pending), fill));
          }
          const auto fill = [asked](const Jobs& made, auto& answered) {
            const std::vector<Video> videos = SnapshotsOf(made);
            answered.context().SetVideo(videos.front().id);
            CreatedToProto(videos, asked, answered.response());
          };
          jobs_.CreateAll(std::move(job), Respond(std::move(pending), fill));
        });
  }

  Reactor<v1::GetVideoResponse>* GetVideo(Context* context) {
    return OfVideo<v1::GetVideoRequest, v1::GetVideoResponse>(
        context, Method::kGetVideo,
        [this](const Reach& reach, const std::string& id, auto pending) {
          jobs_.Find(reach, id, Respond(std::move(pending), [](auto& job, auto& answered) {
                       *answered.response().mutable_video() = VideoToProto(job->Snapshot());
                     }));
        });
  }

  Reactor<v1::ListVideosResponse>* ListVideos(Context* context) {
    using Request = v1::ListVideosRequest;
    return door_.Unary<Request, v1::ListVideosResponse>(
        context, Method::kListVideos,
        [](const Request& request, const CallContext& call) {
          return ListQueryFrom(request, call.reach());
        },
        [this](const Request&, ListQuery query, auto pending) {
          const auto fill = [filter = query.states](auto& page, auto& answered) {
            PageToProto(page, filter, answered.response());
          };
          jobs_.List(std::move(query), Respond(std::move(pending), fill));
        });
  }

  Reactor<v1::WatchVideoResponse>* WatchVideo(Context* context) {
    using Request = v1::WatchVideoRequest;
    return door_.Stream<Request, v1::WatchVideoResponse>(
        context, Method::kWatchVideo,
        [](const Request& request, const CallContext&) { return WatchPointFrom(request); },
        [this](const Request&, WatchPoint from, auto& reactor) {
          Find(reactor, from.id, [from](const auto& stream, std::shared_ptr<Job> job) {
            if (absl::Status bad = CheckWatch(*job, from); !bad.ok()) return bad;
            job->Listen(stream.listener());
            stream.Start(std::make_unique<WatchSource>(std::move(job), from));
            return absl::OkStatus();
          });
        });
  }

  Reactor<v1::CancelVideoResponse>* CancelVideo(Context* context) {
    return OfVideo<v1::CancelVideoRequest, v1::CancelVideoResponse>(
        context, Method::kCancelVideo,
        [this](const Reach& reach, const std::string& id, auto pending) {
          jobs_.Cancel(reach, id, Respond(std::move(pending), [](auto& video, auto& answered) {
                         *answered.response().mutable_video() = VideoToProto(video);
                       }));
        });
  }

  Reactor<v1::DeleteVideoResponse>* DeleteVideo(Context* context) {
    return OfVideo<v1::DeleteVideoRequest, v1::DeleteVideoResponse>(
        context, Method::kDeleteVideo,
        [this](const Reach& reach, const std::string& id, auto pending) {
          jobs_.Delete(reach, id, [pending = std::move(pending)](absl::Status deleted) mutable {
            pending.End(deleted);
          });
        });
  }

  Reactor<v1::DownloadVideoResponse>* DownloadVideo(Context* context) {
    using Request = v1::DownloadVideoRequest;
    return door_.Stream<Request, v1::DownloadVideoResponse>(
        context, Method::kDownloadVideo,
        [](const Request& request, const CallContext&) { return DownloadRangeFrom(request); },
        [this](const Request&, DownloadRange range, auto& reactor) {
          Find(reactor, range.id, [range](const auto& stream, std::shared_ptr<Job> job) {
            if (absl::Status bad = CheckDownload(*job, range); !bad.ok()) return bad;
            job->Listen(stream.listener());
            stream.Start(std::make_unique<DownloadSource>(std::move(job), range));
            return absl::OkStatus();
          });
        });
  }

  Reactor<v1::EstimateVideoResponse>* EstimateVideo(Context* context) {
    using Request = v1::EstimateVideoRequest;
    return door_.Unary<Request, v1::EstimateVideoResponse>(
        context, Method::kEstimateVideo,
        [this](const Request& request, const CallContext& call) { return JobFrom(request, call); },
        [this](const Request&, NewJob job, auto pending) {
          jobs_.Estimate(std::move(job),
                         Respond(std::move(pending), [](auto& cost, auto& answered) {
                           EstimateToProto(cost, answered.response());
                         }));
        });
  }

  Reactor<v1::UploadFileResponse>* UploadFile(Context* context) {
    auto* const call = new UploadCall(environment_, *context, jobs_);
    call->Await();
    return call;
  }

  // A unary call on the one video that its request names: `serve(reach, id, pending)`.
  template <typename Request, typename Response, typename ServeVideo>
  UnaryCall<Response>* OfVideo(Context* context, Method method, ServeVideo serve) {
    return door_.Unary<Request, Response>(
        context, method,
        [](const Request& request, const CallContext&) { return VideoIdFrom(request.name()); },
        [serve = std::move(serve)](const Request&, const std::string& id, auto pending) {
          pending.context().SetVideo(id);
          const Reach reach = pending.context().reach();
          serve(reach, id, std::move(pending));
        });
  }

  template <typename Request>
  absl::StatusOr<NewJob> JobFrom(const Request& request, const CallContext& call) const {
    return NewJobFrom(request, {call.tenant(), call.trace_id(), call.caller_span()}, options_.rules,
                      jobs_.Models());
  }

  // Begins a stream over a video that exists: `start(stream, job)` starts it or says why not.
  template <typename Response, typename Start>
  void Find(StreamReactor<Response>& reactor, const std::string& id, Start start) {
    jobs_.Find(reactor.context().reach(), id,
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

  const CallEnvironment environment_;
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
