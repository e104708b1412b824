// SPDX-License-Identifier: Apache-2.0
// No field of a request is accepted and ignored: whichever of them changes, what jobs/ is asked, or
// what the caller gets, changes with it. That a field's value then counts where it arrives is held
// by the tests of jobs/ and of models, and by the lint `read_values`.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/convert/convert.h"
#include "tests/fakes/changed_fields.h"
#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

using google::protobuf::Message;

constexpr char kSpec[] = R"(
  spec { prompt: "a fox" width: 64
         conditions { image: "\x89PNG\r\n\x1a\n" } conditions { video: "....ftyp" } }
)";

// All that rpc/ made of a request for a job, but the ids of the call.
std::string TextOf(const NewJob& job) {
  return absl::StrCat(SpecToProto(job.spec, true).ShortDebugString(), "|", job.request_id, "|",
                      static_cast<int>(job.priority), "|",
                      job.timeout ? absl::FormatDuration(*job.timeout) : "none", "|", job.bound,
                      "|", absl::StrJoin(job.labels, ",", absl::PairFormatter("=")), "|", job.count,
                      "|");
}

std::string TextOf(const ListQuery& query) {
  std::string text = absl::StrCat(query.page_size, "|", query.before_id, "|");
  for (const VideoState state : query.states) absl::StrAppend(&text, static_cast<int>(state), ",");
  return text;
}

std::string TextOf(const grpc::Status& status) {
  const ErrorSeen seen = status.ok() ? ErrorSeen() : See(status);
  return absl::StrCat(status.error_code(), "|", seen.reason, "|", absl::StrJoin(seen.fields, ","),
                      "|", status.error_message());
}

std::string TextOf(v1::VideoEvent event) {
  event.clear_time();
  return event.ShortDebugString();
}

// A server with one finished video, two fragments long.
class Caller {
 public:
  Caller() {
    auto job = server_.jobs.Add("r1-a");
    job->Progress(1);
    job->Media("first ");
    job->Media("second");
    job->Succeed();
  }

  std::string Generate(const v1::GenerateVideoRequest& request) {
    grpc::ClientContext context;
    auto reader = server_.video().GenerateVideo(&context, request);
    const std::string events = Events<v1::GenerateVideoResponse>(*reader);
    const grpc::Status status = reader->Finish();
    return absl::StrCat(TextOf(status), events, status.ok() ? Created() : "");
  }
  std::string Watch(const v1::WatchVideoRequest& request) {
    grpc::ClientContext context;
    auto reader = server_.video().WatchVideo(&context, request);
    const std::string events = Events<v1::WatchVideoResponse>(*reader);
    return TextOf(reader->Finish()) + events;
  }
  std::string Download(const v1::DownloadVideoRequest& request) {
    grpc::ClientContext context;
    auto reader = server_.video().DownloadVideo(&context, request);
    std::string text;
    v1::DownloadVideoResponse response;
    while (reader->Read(&response)) absl::StrAppend(&text, response.ShortDebugString());
    return TextOf(reader->Finish()) + text;
  }
  std::string Create(const v1::CreateVideoRequest& request) {
    v1::CreateVideoResponse response;
    grpc::ClientContext context;
    const grpc::Status status = server_.video().CreateVideo(&context, request, &response);
    std::string asked;
    if (status.ok()) asked = request.validate_only() ? Quoted() : Created();
    return absl::StrCat(TextOf(status), response.video().name(), asked);
  }
  std::string Estimate(const v1::EstimateVideoRequest& request) {
    v1::EstimateVideoResponse response;
    grpc::ClientContext context;
    const grpc::Status status = server_.video().EstimateVideo(&context, request, &response);
    return TextOf(status) + (status.ok() ? Quoted() : "");
  }
  std::string Upload(const v1::UploadFileRequest& request) {
    v1::UploadFileResponse response;
    grpc::ClientContext context;
    auto writer = server_.video().UploadFile(&context, &response);
    writer->Write(request);
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    return TextOf(status) + response.file().name();
  }
  std::string List(const v1::ListVideosRequest& request) {
    v1::ListVideosResponse response;
    grpc::ClientContext context;
    const grpc::Status status = server_.video().ListVideos(&context, request, &response);
    return TextOf(status) + (status.ok() ? TextOf(server_.jobs.last_query()) : "");
  }
  // Of calls that name a video and say no more.
  template <typename Response, typename Request>
  std::string Named(grpc::Status (v1::VideoService::Stub::*method)(grpc::ClientContext*,
                                                                   const Request&, Response*),
                    const Request& request) {
    Response response;
    grpc::ClientContext context;
    return TextOf((server_.video().*method)(&context, request, &response));
  }

  // Of calls that change a model.
  template <typename Response, typename Request>
  std::string OfModel(grpc::Status (v1::ServerService::Stub::*method)(grpc::ClientContext*,
                                                                      const Request&, Response*),
                      const Request& request) {
    Response response;
    grpc::ClientContext context;
    const grpc::Status status = (server_.server().*method)(&context, request, &response);
    return TextOf(status) + response.model().name();
  }

  std::string Restore(const v1::RestoreWorkerRequest& request) {
    v1::RestoreWorkerResponse response;
    grpc::ClientContext context;
    const grpc::Status status = server_.server().RestoreWorker(&context, request, &response);
    return TextOf(status) + response.worker().name();
  }

 private:
  template <typename Response, typename Reader>
  static std::string Events(Reader& reader) {
    std::string text;
    Response response;
    while (reader.Read(&response)) absl::StrAppend(&text, TextOf(response.event()), "\n");
    return text;
  }
  std::string Created() { return TextOf(server_.jobs.WaitForCreate()); }
  std::string Quoted() { return TextOf(server_.jobs.last_quoted()); }

  RpcServer server_;
};

// How a method is called, and with what to begin.
struct Row {
  std::unique_ptr<Message> base;
  std::function<std::string(Caller&, const Message&)> call;
};

template <typename Request, typename Call>
Row RowOf(const std::string& text, Call call) {
  auto base = std::make_unique<Request>();
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, base.get())) << text;
  return {std::move(base), [call](Caller& caller, const Message& request) {
            return call(caller, static_cast<const Request&>(request));
          }};
}

std::map<std::string, Row> Rows() {
  using Stub = v1::VideoService::Stub;
  const std::string name = "name: 'videos/r1-a'";
  std::map<std::string, Row> rows;
  rows["GenerateVideo"] = RowOf<v1::GenerateVideoRequest>(
      kSpec, [](Caller& caller, const auto& request) { return caller.Generate(request); });
  rows["CreateVideo"] = RowOf<v1::CreateVideoRequest>(
      kSpec, [](Caller& caller, const auto& request) { return caller.Create(request); });
  rows["EstimateVideo"] = RowOf<v1::EstimateVideoRequest>(
      kSpec, [](Caller& caller, const auto& request) { return caller.Estimate(request); });
  rows["UploadFile"] = RowOf<v1::UploadFileRequest>(
      "size_bytes: 5 data: '12345'",
      [](Caller& caller, const auto& request) { return caller.Upload(request); });
  rows["ListVideos"] = RowOf<v1::ListVideosRequest>(
      "", [](Caller& caller, const auto& request) { return caller.List(request); });
  rows["WatchVideo"] = RowOf<v1::WatchVideoRequest>(
      name + " media_offset: 6 attempt: 1",
      [](Caller& caller, const auto& request) { return caller.Watch(request); });
  rows["DownloadVideo"] = RowOf<v1::DownloadVideoRequest>(
      name, [](Caller& caller, const auto& request) { return caller.Download(request); });
  rows["GetVideo"] =
      RowOf<v1::GetVideoRequest>(name, [](Caller& caller, const v1::GetVideoRequest& request) {
        return caller.Named<v1::GetVideoResponse>(&Stub::GetVideo, request);
      });
  rows["CancelVideo"] = RowOf<v1::CancelVideoRequest>(
      name, [](Caller& caller, const v1::CancelVideoRequest& request) {
        return caller.Named<v1::CancelVideoResponse>(&Stub::CancelVideo, request);
      });
  rows["DeleteVideo"] = RowOf<v1::DeleteVideoRequest>(
      name, [](Caller& caller, const v1::DeleteVideoRequest& request) {
        return caller.Named<v1::DeleteVideoResponse>(&Stub::DeleteVideo, request);
      });
  using Server = v1::ServerService::Stub;
  rows["LoadModel"] = RowOf<v1::LoadModelRequest>(
      "model: 'm'", [](Caller& caller, const v1::LoadModelRequest& request) {
        return caller.OfModel<v1::LoadModelResponse>(&Server::LoadModel, request);
      });
  rows["UnloadModel"] = RowOf<v1::UnloadModelRequest>(
      "model: 'm'", [](Caller& caller, const v1::UnloadModelRequest& request) {
        return caller.OfModel<v1::UnloadModelResponse>(&Server::UnloadModel, request);
      });
  rows["RestoreWorker"] = RowOf<v1::RestoreWorkerRequest>(
      "worker: 'w'", [](Caller& caller, const v1::RestoreWorkerRequest& request) {
        return caller.Restore(request);
      });
  return rows;
}

TEST(EveryField, OfARequestCountsOrIsRefused) {
  Caller caller;
  for (const auto& [method, row] : Rows()) {
    const std::string before = row.call(caller, *row.base);
    EXPECT_EQ(before[0], '0') << method << ": the base is not legal: " << before;
    EXPECT_EQ(row.call(caller, *row.base), before) << method << ": differs by itself";
    for (const auto& [path, copies] : reel::testing::EachFieldChanged(*row.base)) {
      bool counts = false;
      for (const auto& copy : copies) counts |= row.call(caller, *copy) != before;
      EXPECT_TRUE(counts) << method << ": " << path << " is accepted and ignored";
    }
  }
}

TEST(EveryField, OfEveryMethodWithFieldsIsTried) {
  std::set<std::string> with_fields, tried;
  for (const auto* file : {v1::GetVideoRequest::descriptor()->file(),
                           v1::GetServerInfoRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service(0)->method_count(); ++i) {
      const auto* method = file->service(0)->method(i);
      if (method->input_type()->field_count() > 0) with_fields.insert(method->name());
    }
  }
  for (const auto& [method, row] : Rows()) tried.insert(method);
  EXPECT_EQ(with_fields, tried);
}

}  // namespace
}  // namespace reel::front
