// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/door.h"

#include <utility>

#include "kernels/base/status_macros.h"
#include "reel/v1/server_service.pb.h"
#include "reel/v1/video_service.pb.h"
#include "server/errors/error.h"
#include "server/front/api/authorizer.h"
#include "server/front/api/open_calls.h"
#include "server/front/api/request_convert.h"
#include "server/front/api/video_answers.h"
#include "server/front/api/video_convert.h"
#include "server/front/http/door_error.h"
#include "server/front/http/door_json.h"
#include "server/front/http/door_message.h"
#include "server/front/http/door_request.h"
#include "server/front/http/event_body.h"
#include "server/front/http/form_body.h"
#include "server/front/http/media_body.h"
#include "server/front/http/openapi_schema.h"
#include "server/front/http/page_files.h"

namespace reel::front {
namespace {

constexpr size_t kMostJsonBytes = 5 << 20;
constexpr size_t kMostFormBytes = 4 << 20;
constexpr size_t kMostOtherBytes = 2 << 10;

// For the answer of jobs/: `fill(answer, response)` writes it.
template <typename Response, typename Fill>
auto Respond(std::shared_ptr<DoorExchange> exchange, Fill fill) {
  return [exchange = std::move(exchange), fill = std::move(fill)](auto answer) mutable {
    if (!answer.ok()) return exchange->Reply(ErrorReply(answer.status()));
    exchange->ReplyWith([fill, found = *std::move(answer)]() mutable {
      Response response;
      fill(found, response);
      return JsonReply(WriteJson(response));
    });
  };
}

// `fill(response)` writes what is at hand.
template <typename Response, typename Fill>
void ReplyAtOnce(DoorExchange& exchange, Fill fill) {
  Response response;
  fill(response);
  exchange.Reply(JsonReply(WriteJson(response)));
}

absl::StatusOr<EventsAsk> ReadEventsAsk(const DoorRequest& request) {
  REEL_ASSIGN_OR_RETURN(const auto known, ReadKnown(request.head.query, request.row->query));
  EventsAsk ask;
  // What a browser remembers is newer than the address that it was given.
  std::string_view after = request.head.Find("last-event-id");
  const auto given = known.find("after_sequence");
  if (after.empty() && given != known.end()) after = given->second;
  REEL_ASSIGN_OR_RETURN(ask.after_sequence, ReadNumber("after_sequence", after));
  const auto previews = known.find("previews");
  ask.previews = previews == known.end() || previews->second != "0";
  return ask;
}

absl::StatusOr<MediaAsk> ReadMediaAsk(const DoorRequest& request) {
  REEL_ASSIGN_OR_RETURN(const auto known, ReadKnown(request.head.query, request.row->query));
  MediaAsk ask = MediaAskOf(request.id, request.head);
  const auto attempt = known.find("attempt");
  uint64_t number = 0;
  if (attempt != known.end()) {
    REEL_ASSIGN_OR_RETURN(number, ReadNumber("attempt", attempt->second));
  }
  ask.attempt = static_cast<int>(std::min<uint64_t>(number, 1 << 30));
  return ask;
}

}  // namespace

Door::Door(const DoorParts& parts, DoorOptions options, ServerFacts facts)
    : parts_(parts),
      guard_(std::move(options.guard)),
      page_(options.page),
      streams_(options.streams_per_tenant),
      rules_(facts.rules),
      facade_(parts, facts, std::move(options.model_aliases)),
      openapi_(OpenApiJson(facts.version)),
      answers_(parts.jobs, std::move(facts)) {}

std::optional<DoorReply> Door::Admit(DoorHead head, DoorRequest& request) const {
  request.head = std::move(head);
  const std::string_view given = request.head.Find("x-request-id");
  request.request_id = IsUuid(given) ? std::string(given) : DrawUuid();
  const std::string_view traceparent = request.head.Find("traceparent");
  request.trace_id = TraceIdOf(traceparent);
  request.caller_span = CallerSpanOf(traceparent);
  if (request.trace_id.empty()) request.trace_id = DrawTraceId();
  if (const absl::Status refused = guard_.Check(request.head); !refused.ok()) {
    return ErrorReply(refused);
  }
  if (guard_.IsPreflight(request.head)) return guard_.Preflight();
  auto match = MatchDoorRoute(request.head.method, request.head.path);
  if (!match.ok()) return ErrorReply(match.status());
  if (match->row == nullptr) {
    DoorReply reply = ErrorReply(
        MakeError(Reason::kMethodNotAllowed, "The path takes other methods: " + match->allow));
    reply.Add("Allow", match->allow);
    return reply;
  }
  if (!page_ && IsOfPage(match->row->route)) return ErrorReply(NoSuchRoute());
  request.row = match->row;
  request.id = std::move(match->id);
  auto principal = Authenticate(parts_.authorizer, request);
  if (!principal.ok()) return ErrorReply(principal.status());
  request.principal = *std::move(principal);
  if (const absl::Status refused = CheckBody(request); !refused.ok()) return ErrorReply(refused);
  return std::nullopt;
}

absl::Status Door::CheckBody(DoorRequest& request) const {
  request.most_body_bytes = kMostOtherBytes;
  const DoorTakes takes = request.row->takes;
  if (takes == DoorTakes::kNothing) return absl::OkStatus();
  if (takes == DoorTakes::kFile) return CheckFileHead(request.head, rules_.limits.max_file_bytes);
  const BodyType type = BodyTypeOf(request.head.Find("content-type"));
  request.files_ahead = rules_.limits.max_file_bytes > 0;
  request.most_body_bytes = type == BodyType::kJson ? kMostJsonBytes : kMostFormBytes;
  if (type == BodyType::kJson) return absl::OkStatus();
  if (takes == DoorTakes::kJson) {
    return MakeError(Reason::kBodyType, "The body must be JSON: Content-Type: application/json");
  }
  if (type != BodyType::kOther) return absl::OkStatus();
  return MakeError(Reason::kBodyType,
                   "The body must be JSON, multipart/form-data or "
                   "application/x-www-form-urlencoded, as its Content-Type says");
}

absl::Status Door::TakePlace(const DoorRequest& request, DoorExchange& exchange) const {
  const Method rpc = request.row->rpc;
  const bool streams =
      rpc == Method::kGenerateVideo || rpc == Method::kWatchVideo || rpc == Method::kDownloadVideo;
  if (!streams) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(auto place, streams_.Take(request.principal.tenant));
  exchange.Hold(std::move(place));
  return absl::OkStatus();
}

void Door::Complete(const DoorRequest& request, DoorReply& reply) const {
  reply.Add("X-Request-Id", request.request_id);
  if (request.facade() && !reply.error.ok()) reply.body = FacadeErrorBody(reply.error);
  guard_.AddFields(request.head, reply);
}

void Door::BeginFile(const DoorRequest& request, Answer<std::unique_ptr<FileUpload>> done) const {
  parts_.jobs.BeginFile(request.principal.tenant, BodyOf(request.head).length, std::move(done));
}

DoorReply Door::FileReply(const absl::StatusOr<UploadedFile>& file) {
  if (!file.ok()) return ErrorReply(file.status());
  v1::UploadFileResponse response;
  FileToProto(*file, *response.mutable_file());
  return JsonReply(WriteJson(response));
}

void Door::Serve(const DoorRequest& request, const Exchange& exchange) const {
  if (const absl::Status full = TakePlace(request, *exchange); !full.ok()) {
    return exchange->Reply(ErrorReply(full));
  }
  switch (request.row->route) {
    case DoorRoute::kCreate:
      return Create(request, exchange);
    case DoorRoute::kGenerate:
      return Generate(request, exchange);
    case DoorRoute::kEstimate:
      return Estimate(request, exchange);
    case DoorRoute::kList:
      return List(request, exchange);
    case DoorRoute::kEvents:
      return Events(request, exchange);
    case DoorRoute::kMedia:
      return Media(request, exchange);
    case DoorRoute::kGet:
    case DoorRoute::kCancel:
    case DoorRoute::kDelete:
      return OfVideo(request, exchange);
    case DoorRoute::kLoadModel:
    case DoorRoute::kUnloadModel:
      return ChangeModel(request, exchange);
    case DoorRoute::kServer:
    case DoorRoute::kModels:
    case DoorRoute::kKernels:
    case DoorRoute::kExperiments:
    case DoorRoute::kFleet:
      return Server(request, exchange);
    case DoorRoute::kOpenApi:
      return exchange->Reply(JsonReply(openapi_));
    case DoorRoute::kPage:
    case DoorRoute::kPageScript:
    case DoorRoute::kPageStyle:
      return exchange->Reply(PageReply(request.head.path));
    default:
      return facade_.Serve(request, exchange);
  }
}

template <typename Request>
absl::StatusOr<NewJob> Door::ReadJob(const DoorRequest& request, Request& message) const {
  REEL_RETURN_IF_ERROR(ReadJson(request.body, message));
  if constexpr (requires { message.mutable_request_id(); }) {
    REEL_RETURN_IF_ERROR(TakeRequestKey(request.head, *message.mutable_request_id()));
  }
  return NewJobFrom(message, AskerOf(request), rules_, parts_.jobs.Models());
}

void Door::Create(const DoorRequest& request, const Exchange& exchange) const {
  v1::CreateVideoRequest message;
  auto job = ReadJob(request, message);
  if (!job.ok()) {
    parts_.observer.RequestRefused(job.status(), true);
    return exchange->Reply(ErrorReply(job.status()));
  }
  if (message.validate_only()) {
    return parts_.jobs.Validate(*std::move(job),
                                Respond<v1::CreateVideoResponse>(
                                    exchange, [asked = message.count()](auto& video, auto& to) {
                                      ValidatedToProto(video, asked, to);
                                    }));
  }
  const KeyedCall call(request, job->request_id);
  parts_.jobs.CreateAll(*std::move(job),
                        [exchange, call, asked = message.count()](absl::StatusOr<Jobs> made) {
                          if (!made.ok()) return exchange->Reply(ErrorReply(made.status()));
                          const std::vector<Video> videos = SnapshotsOf(*made);
                          exchange->SetVideo(videos.front().id);
                          exchange->ReplyWith([videos, asked, call] {
                            v1::CreateVideoResponse response;
                            CreatedToProto(videos, asked, response);
                            DoorReply reply = JsonReply(WriteJson(response));
                            call.Mark(videos.front(), reply);
                            return reply;
                          });
                        });
}

void Door::Generate(const DoorRequest& request, const Exchange& exchange) const {
  v1::GenerateVideoRequest message;
  auto job = ReadJob(request, message);
  if (!job.ok()) {
    parts_.observer.RequestRefused(job.status(), message.detached());
    return exchange->Reply(ErrorReply(job.status()));
  }
  std::shared_ptr<BoundCall> bound;
  if (job->bound) {
    bound = std::make_shared<BoundCall>(parts_.jobs, absl::InfiniteFuture());
    exchange->OnEnd([bound](StreamEnd end) { bound->Ended(end); });
  }
  parts_.jobs.Create(*std::move(job), [exchange, bound, texts = progress_,
                                       allowed = StillAllowed(parts_, request)](
                                          absl::StatusOr<std::shared_ptr<Job>> made) mutable {
    if (!made.ok()) return exchange->Reply(ErrorReply(made.status()));
    auto body = std::make_unique<EventBody>(*made, EventsAsk{}, texts);
    if (bound != nullptr) bound->Joined(body->video());
    exchange->Stream(std::move(body), std::move(allowed),
                     [&made](auto listener) { (*made)->Listen(std::move(listener)); });
  });
}

void Door::Estimate(const DoorRequest& request, const Exchange& exchange) const {
  v1::EstimateVideoRequest message;
  auto job = ReadJob(request, message);
  if (!job.ok()) return exchange->Reply(ErrorReply(job.status()));
  parts_.jobs.Estimate(*std::move(job),
                       Respond<v1::EstimateVideoResponse>(exchange, [](auto& cost, auto& response) {
                         EstimateToProto(cost, response);
                       }));
}

void Door::List(const DoorRequest& request, const Exchange& exchange) const {
  v1::ListVideosRequest message;
  const auto fields = ParseQuery(request.head.query);
  absl::Status read =
      fields ? ReadQuery(*fields, message)
             : MakeInvalid(Reason::kInvalidRequest, {{"query", "must be NAME=VALUE with %"}});
  if (!read.ok()) return exchange->Reply(ErrorReply(read));
  auto query = ListQueryFrom(message, ReachOf(request.principal));
  if (!query.ok()) return exchange->Reply(ErrorReply(query.status()));
  const auto fill = [filter = query->states](auto& page, auto& response) {
    PageToProto(page, filter, response);
  };
  parts_.jobs.List(*std::move(query), Respond<v1::ListVideosResponse>(exchange, fill));
}

void Door::OfVideo(const DoorRequest& request, const Exchange& exchange) const {
  const auto id = VideoIdFrom("videos/" + request.id);
  if (!id.ok()) return exchange->Reply(ErrorReply(id.status()));
  exchange->SetVideo(*id);
  if (request.row->route == DoorRoute::kGet) {
    return parts_.jobs.Find(ReachOf(request.principal), *id,
                            Respond<v1::GetVideoResponse>(exchange, [](auto& job, auto& response) {
                              *response.mutable_video() = VideoToProto(job->Snapshot());
                            }));
  }
  if (request.row->route == DoorRoute::kCancel) {
    return parts_.jobs.Cancel(
        ReachOf(request.principal), *id,
        Respond<v1::CancelVideoResponse>(exchange, [](auto& video, auto& response) {
          *response.mutable_video() = VideoToProto(video);
        }));
  }
  parts_.jobs.Delete(ReachOf(request.principal), *id, [exchange](const absl::Status& deleted) {
    exchange->Reply(deleted.ok() ? JsonReply("{}") : ErrorReply(deleted));
  });
}

template <typename Begin>
void Door::StreamVideo(const DoorRequest& request, const Exchange& exchange, Begin begin) const {
  const auto id = VideoIdFrom("videos/" + request.id);
  if (!id.ok()) return exchange->Reply(ErrorReply(id.status()));
  if (request.head.http_1_0) {
    DoorReply reply =
        ErrorReply(MakeError(Reason::kMalformedHttp, "A reply of unknown length needs HTTP/1.1"));
    reply.status = 505;
    return exchange->Reply(std::move(reply));
  }
  parts_.jobs.Find(ReachOf(request.principal), *id,
                   [exchange, begin = std::move(begin), allowed = StillAllowed(parts_, request)](
                       absl::StatusOr<std::shared_ptr<Job>> job) mutable {
                     if (!job.ok()) return exchange->Reply(ErrorReply(job.status()));
                     std::unique_ptr<DoorBody> body = begin(*job, *exchange);
                     if (body == nullptr) return;
                     exchange->Stream(std::move(body), std::move(allowed), [&job](auto listener) {
                       (*job)->Listen(std::move(listener));
                     });
                   });
}

void Door::Events(const DoorRequest& request, const Exchange& exchange) const {
  const auto ask = ReadEventsAsk(request);
  if (!ask.ok()) return exchange->Reply(ErrorReply(ask.status()));
  StreamVideo(request, exchange,
              [ask = *ask, texts = progress_](const std::shared_ptr<Job>& job,
                                              DoorExchange& into) -> std::unique_ptr<DoorBody> {
                if (!NothingFollows(*job, ask.after_sequence)) {
                  return std::make_unique<EventBody>(job, ask, texts);
                }
                // Which a browser takes as: do not come back.
                DoorReply reply;
                reply.status = 204;
                into.Reply(std::move(reply));
                return nullptr;
              });
}

void Door::Media(const DoorRequest& request, const Exchange& exchange) const {
  auto ask = ReadMediaAsk(request);
  if (!ask.ok()) return exchange->Reply(ErrorReply(ask.status()));
  StreamVideo(request, exchange,
              [ask = *std::move(ask)](const std::shared_ptr<Job>& job, DoorExchange&)
                  -> std::unique_ptr<DoorBody> { return std::make_unique<MediaBody>(job, ask); });
}

void Door::ChangeModel(const DoorRequest& request, const Exchange& exchange) const {
  const auto fill = [](const ServedModel& model, auto& response) {
    *response.mutable_model() = ModelToProto(model);
  };
  if (request.row->route == DoorRoute::kLoadModel) {
    return parts_.jobs.LoadModel(request.id, Respond<v1::LoadModelResponse>(exchange, fill));
  }
  parts_.jobs.UnloadModel(request.id, Respond<v1::UnloadModelResponse>(exchange, fill));
}

void Door::Server(const DoorRequest& request, const Exchange& exchange) const {
  const DoorRoute route = request.row->route;
  if (route == DoorRoute::kServer) {
    ReplyAtOnce<v1::GetServerInfoResponse>(
        *exchange, [&](auto& to) { answers_.FillInfo(to, request.principal.tenant); });
  } else if (route == DoorRoute::kModels) {
    ReplyAtOnce<v1::ListModelsResponse>(*exchange, [this](auto& to) { answers_.FillModels(to); });
  } else if (route == DoorRoute::kKernels) {
    ReplyAtOnce<v1::ListKernelsResponse>(*exchange, [this](auto& to) { answers_.FillKernels(to); });
  } else if (route == DoorRoute::kExperiments) {
    ReplyAtOnce<v1::ListExperimentsResponse>(*exchange,
                                             [this](auto& to) { answers_.FillExperiments(to); });
  } else {
    ReplyAtOnce<v1::GetFleetResponse>(*exchange, [this](auto& to) { answers_.FillFleet(to); });
  }
}

}  // namespace reel::front
