// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "kernels/base/status_macros.h"
#include "server/errors/error.h"
#include "server/front/api/open_calls.h"
#include "server/front/api/video_cursor.h"
#include "server/front/http/door_error.h"
#include "server/front/http/door_request.h"
#include "server/front/http/facade_bodies.h"
#include "server/front/http/facade_fields.h"

namespace reel::front {
namespace {

using Exchange = std::shared_ptr<DoorExchange>;

constexpr int kMostWaitSeconds = 60;
constexpr uint64_t kMostListed = 100;
constexpr uint64_t kUsuallyListed = 20;
constexpr absl::Duration kEndingPatience = absl::Seconds(10);

// "wait=N" of the Prefer fields; what is not understood is passed over, as the field's rules say.
int PreferredWait(const DoorHead& head) {
  for (const DoorField& field : head.fields) {
    if (field.name != "prefer") continue;
    for (absl::string_view part : absl::StrSplit(field.value, ',')) {
      part = absl::StripAsciiWhitespace(part);
      int seconds = 0;
      if (absl::ConsumePrefix(&part, "wait=") && absl::SimpleAtoi(part, &seconds) && seconds > 0) {
        return std::min(seconds, kMostWaitSeconds);
      }
    }
  }
  return 0;
}

absl::Status NotEnded(const std::string& id) {
  return MakeError(Reason::kVideoNotReady,
                   "The video is still being ended; delete it again in a moment",
                   {.metadata = {{"video", "videos/" + id}}, .retry_after = absl::Seconds(1)});
}

void ReplyDeleted(const Exchange& exchange, const std::string& id, const absl::Status& deleted) {
  exchange->Reply(deleted.ok() ? JsonReply(FacadeDeletedJson(id)) : ErrorReply(deleted));
}

// Deletes a video once it is final. The exchange holds it, the job does not.
class DeleteOnceFinal final : public JobListener {
 public:
  DeleteOnceFinal(JobService& jobs, Reach reach, std::shared_ptr<Job> job, Exchange exchange)
      : jobs_(jobs),
        reach_(std::move(reach)),
        job_(std::move(job)),
        id_(job_->Snapshot().id),
        exchange_(std::move(exchange)) {}

  void Wake() override {
    const Exchange exchange = exchange_.lock();
    if (exchange == nullptr || !IsFinal(job_->state()) || asked_.exchange(true)) return;
    jobs_.Delete(reach_, id_, [exchange, id = id_](const absl::Status& deleted) {
      ReplyDeleted(exchange, id, deleted);
    });
  }

 private:
  JobService& jobs_;
  const Reach reach_;
  const std::shared_ptr<Job> job_;
  const std::string id_;
  const std::weak_ptr<DoorExchange> exchange_;
  std::atomic<bool> asked_ = false;
};

absl::StatusOr<FacadeAsk> ReadAsk(const DoorRequest& request, const KnownModels& models,
                                  const model::RequestLimits& limits) {
  REEL_ASSIGN_OR_RETURN(FacadeAsk ask, ReadFacadeAsk(request.head.Find("content-type"),
                                                     request.body, models, limits));
  REEL_RETURN_IF_ERROR(TakeRequestKey(request.head, *ask.request.mutable_request_id()));
  return ask;
}

// All of the video anew, and kept as the video was, so that a remix can be remixed.
void MakeRemixOf(const Video& video, v1::VideoSpec& spec) {
  v1::Source& source = *spec.mutable_source();
  source.set_video("videos/" + video.id);
  v1::Retake& retake = *source.mutable_retake();
  const double seconds = video.spec.num_frames / std::max(video.spec.frame_rate, 1.0);
  retake.mutable_begin();
  // Cut to nanoseconds: an end behind the video's would be refused.
  retake.mutable_end()->set_seconds(static_cast<int64_t>(seconds));
  retake.mutable_end()->set_nanos(static_cast<int32_t>(1e9 * (seconds - std::floor(seconds))));
  if (!spec.has_keep_state()) spec.set_keep_state(true);
}

// Answers a call for new videos: at once, or when they are final or were waited for long enough.
struct CreatedReply {
  Exchange exchange;
  KeyedCall call;
  int wait = 0;  // seconds
  std::string notice;
  ConditionFields fields;
  std::function<absl::Status()> allowed;

  void operator()(absl::StatusOr<Jobs> jobs) {
    if (!jobs.ok()) return exchange->Reply(ErrorReply(AsSent(jobs.status(), fields)));
    const std::vector<Video> videos = SnapshotsOf(*jobs);
    exchange->SetVideo(videos.front().id);
    DoorReply head = JsonReply("");
    call.Mark(videos.front(), head);
    if (wait == 0) {
      return exchange->ReplyWith([head, notice = notice, videos] {
        DoorReply reply = head;
        reply.body = FacadeVideosJson(videos, notice);
        return reply;
      });
    }
    head.Add("Preference-Applied", absl::StrCat("wait=", wait));
    exchange->WaitAtMost(absl::Seconds(wait));
    exchange->Stream(std::make_unique<VideosOnceFinal>(*jobs, std::move(head), std::move(notice)),
                     std::move(allowed), [&jobs](const auto& listener) {
                       for (const auto& job : *jobs) job->Listen(listener);
                     });
  }
};

absl::StatusOr<ListQuery> ReadListQuery(const DoorRequest& request, std::string& after) {
  REEL_ASSIGN_OR_RETURN(const auto known, ReadKnown(request.head.query, request.row->query));
  const auto value = [&known](const char* name) {
    const auto found = known.find(name);
    return found == known.end() ? std::string() : found->second;
  };
  ListQuery query;
  query.reach = ReachOf(request.principal);
  REEL_ASSIGN_OR_RETURN(uint64_t limit, ReadNumber("limit", value("limit")));
  if (value("limit").empty()) limit = kUsuallyListed;
  if (limit < 1 || limit > kMostListed) {
    return MakeInvalid(Reason::kInvalidRequest, {{"limit", "must be 1 to 100"}});
  }
  query.page_size = static_cast<int>(limit);
  const std::string order = value("order");
  if (!order.empty() && order != "asc" && order != "desc") {
    return MakeInvalid(Reason::kInvalidRequest, {{"order", "must be asc or desc"}});
  }
  query.oldest_first = order == "asc";
  after = value("after");
  return query;
}

}  // namespace

Facade::Facade(const DoorParts& parts, const ServerFacts& facts,
               std::map<std::string, std::string> aliases)
    : parts_(parts),
      rules_(facts.rules),
      aliases_(std::move(aliases)),
      created_(absl::ToUnixSeconds(
          absl::Now() - absl::FromChrono(std::chrono::steady_clock::now() - facts.started))) {}

void Facade::Serve(const DoorRequest& request, const Exchange& exchange) const {
  switch (request.row->route) {
    case DoorRoute::kFacadeCreate:
      return Create(request, exchange);
    case DoorRoute::kFacadeSync:
      return Sync(request, exchange);
    case DoorRoute::kFacadeList:
      return List(request, exchange);
    case DoorRoute::kFacadeGet:
      return WithVideo(request, exchange, [exchange](const std::shared_ptr<Job>& job) {
        exchange->ReplyWith([job] { return JsonReply(FacadeVideoJson(job->Snapshot())); });
      });
    case DoorRoute::kFacadeContent:
      return Content(request, exchange);
    case DoorRoute::kFacadeDelete:
      return Delete(request, exchange);
    case DoorRoute::kFacadeRemix:
      return Remix(request, exchange);
    case DoorRoute::kFacadeModels:
      return exchange->Reply(JsonReply(FacadeModelsJson(parts_.jobs.Models(), created_)));
    case DoorRoute::kFacadeModel:
      return Model(request, exchange);
    case DoorRoute::kFacadeModelInfo:
      return ModelInfo(exchange);
    default:
      return Health(exchange);
  }
}

absl::StatusOr<Facade::NewVideo> Facade::ReadVideo(const DoorRequest& request, bool bound) const {
  const auto models = parts_.jobs.Models();
  NewVideo made;
  const absl::Status read = [&]() -> absl::Status {
    REEL_ASSIGN_OR_RETURN(FacadeAsk ask, ReadAsk(request, {models, aliases_}, rules_.limits));
    made.notice = std::move(ask.notice);
    made.fields = FieldsOf(ask.request.spec());
    auto job = NewJobFrom(ask.request, AskerOf(request), rules_, models);
    if (!job.ok()) return AsSent(job.status(), made.fields);
    made.job = *std::move(job);
    made.job.bound = bound;
    if (bound && made.job.count > 1) {
      return MakeInvalid(
          Reason::kInvalidRequest,
          {{"n", absl::StrCat("must be 1 where the reply is the file itself: ", made.job.count)}});
    }
    return absl::OkStatus();
  }();
  if (read.ok()) return made;
  parts_.observer.RequestRefused(read, !bound);
  return read;
}

void Facade::Create(const DoorRequest& request, const Exchange& exchange) const {
  auto made = ReadVideo(request, false);
  if (!made.ok()) return exchange->Reply(ErrorReply(made.status()));
  const KeyedCall call(request, made->job.request_id);
  parts_.jobs.CreateAll(std::move(made->job),
                        CreatedReply{exchange, call, PreferredWait(request.head), made->notice,
                                     made->fields, StillAllowed(parts_, request)});
}

void Facade::Remix(const DoorRequest& request, const Exchange& exchange) const {
  auto ask = ReadAsk(request, {parts_.jobs.Models(), aliases_}, rules_.limits);
  if (!ask.ok()) {
    parts_.observer.RequestRefused(ask.status(), true);
    return exchange->Reply(ErrorReply(ask.status()));
  }
  const KeyedCall call(request, ask->request.request_id());
  CreatedReply reply{exchange,
                     call,
                     PreferredWait(request.head),
                     ask->notice,
                     FieldsOf(ask->request.spec()),
                     StillAllowed(parts_, request)};
  WithVideo(request, exchange,
            [parts = parts_, rules = rules_, asker = AskerOf(request), reply = std::move(reply),
             remix = std::move(ask->request)](const std::shared_ptr<Job>& source) mutable {
              MakeRemixOf(source->Snapshot(), *remix.mutable_spec());
              auto job = NewJobFrom(remix, asker, rules, parts.jobs.Models());
              if (job.ok()) return parts.jobs.CreateAll(*std::move(job), std::move(reply));
              parts.observer.RequestRefused(job.status(), true);
              reply.exchange->Reply(ErrorReply(AsSent(job.status(), reply.fields)));
            });
}

void Facade::Sync(const DoorRequest& request, const Exchange& exchange) const {
  auto made = ReadVideo(request, true);
  if (!made.ok()) return exchange->Reply(ErrorReply(made.status()));
  const auto bound = std::make_shared<BoundCall>(parts_.jobs, absl::InfiniteFuture());
  exchange->OnEnd([bound](StreamEnd end) { bound->Ended(end); });
  parts_.jobs.Create(std::move(made->job), [exchange, bound, fields = made->fields,
                                            allowed = StillAllowed(parts_, request)](
                                               absl::StatusOr<std::shared_ptr<Job>> job) mutable {
    if (!job.ok()) return exchange->Reply(ErrorReply(AsSent(job.status(), fields)));
    MediaAsk ask;
    ask.id = (*job)->Snapshot().id;
    bound->Joined(ask.id);
    // The job has a deadline of its own.
    exchange->WaitAtMost(kForever);
    exchange->Stream(std::make_unique<FinishedMedia>(*job, std::move(ask)), std::move(allowed),
                     [&job](auto listener) { (*job)->Listen(std::move(listener)); });
  });
}

void Facade::List(const DoorRequest& request, const Exchange& exchange) const {
  std::string after;
  auto query = ReadListQuery(request, after);
  if (!query.ok()) return exchange->Reply(ErrorReply(query.status()));
  const auto list = [exchange, &jobs = parts_.jobs](ListQuery from) {
    jobs.List(std::move(from), [exchange](absl::StatusOr<ListPage> page) {
      if (!page.ok()) return exchange->Reply(ErrorReply(page.status()));
      exchange->ReplyWith([found = *std::move(page)] {
        return JsonReply(FacadeListJson(found.videos, found.more));
      });
    });
  };
  if (after.empty()) return list(*std::move(query));
  const auto id = VideoIdFrom("videos/" + after);
  if (!id.ok()) return exchange->Reply(ErrorReply(id.status()));
  parts_.jobs.Find(
      query->reach, *id,
      [exchange, list, from = *query](absl::StatusOr<std::shared_ptr<Job>> job) mutable {
        if (!job.ok()) return exchange->Reply(ErrorReply(job.status()));
        const Video last = (*job)->Snapshot();
        from.before_time = last.create_time;
        from.before_id = last.id;
        list(std::move(from));
      });
}

template <typename Use>
void Facade::WithVideo(const DoorRequest& request, const Exchange& exchange, Use use) const {
  const auto id = VideoIdFrom("videos/" + request.id);
  if (!id.ok()) return exchange->Reply(ErrorReply(id.status()));
  exchange->SetVideo(*id);
  parts_.jobs.Find(
      ReachOf(request.principal), *id,
      [exchange, use = std::move(use)](absl::StatusOr<std::shared_ptr<Job>> job) mutable {
        if (!job.ok()) return exchange->Reply(ErrorReply(job.status()));
        use(*job);
      });
}

void Facade::Content(const DoorRequest& request, const Exchange& exchange) const {
  const auto known = ReadKnown(request.head.query, request.row->query);
  if (!known.ok()) return exchange->Reply(ErrorReply(known.status()));
  const auto variant = known->find("variant");
  if (variant != known->end() && variant->second != "video") {
    return exchange->Reply(ErrorReply(
        MakeInvalid(Reason::kInvalidRequest, {{"variant", "the one that there is is video"}})));
  }
  MediaAsk ask = MediaAskOf(request.id, request.head);
  WithVideo(request, exchange,
            [exchange, ask,
             allowed = StillAllowed(parts_, request)](const std::shared_ptr<Job>& job) mutable {
              DownloadRange whole;
              whole.id = ask.id;
              const absl::Status ready = CheckDownload(*job, whole);
              if (!ready.ok()) return exchange->Reply(ErrorReply(ready));
              exchange->Stream(std::make_unique<FinishedMedia>(job, std::move(ask)),
                               std::move(allowed),
                               [&job](auto listener) { job->Listen(std::move(listener)); });
            });
}

void Facade::Delete(const DoorRequest& request, const Exchange& exchange) const {
  exchange->WaitAtMost(kEndingPatience, NotEnded(request.id));
  const Reach reach = ReachOf(request.principal);
  WithVideo(request, exchange,
            [exchange, reach, &jobs = parts_.jobs](const std::shared_ptr<Job>& job) {
              const auto ending = std::make_shared<DeleteOnceFinal>(jobs, reach, job, exchange);
              exchange->OnEnd([ending](StreamEnd) {});
              job->Listen(ending);
              if (!IsFinal(job->state())) {
                jobs.Cancel(reach, job->Snapshot().id, [exchange](absl::StatusOr<Video> video) {
                  if (!video.ok()) exchange->Reply(ErrorReply(video.status()));
                });
              }
              ending->Wake();
            });
}

void Facade::Model(const DoorRequest& request, const Exchange& exchange) const {
  for (const ServedModel& model : parts_.jobs.Models()) {
    if (model.card.name == request.id) {
      return exchange->Reply(JsonReply(FacadeModelJson(model, created_)));
    }
  }
  exchange->Reply(
      ErrorReply(MakeError(Reason::kModelNotFound, "No such model is served; /v1/models lists them",
                           {.resource_type = "model", .resource_name = request.id})));
}

void Facade::ModelInfo(const Exchange& exchange) const {
  const auto models = parts_.jobs.Models();
  const std::string name = models.empty() ? "" : models.front().card.name;
  exchange->Reply(JsonReply(FacadeModelInfoJson(name)));
}

void Facade::Health(const Exchange& exchange) const {
  const bool ready = parts_.jobs.admitting();
  DoorReply reply = JsonReply(FacadeHealthJson(ready));
  reply.status = ready ? 200 : 503;
  exchange->Reply(std::move(reply));
}

}  // namespace reel::front
