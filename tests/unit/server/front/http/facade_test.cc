// SPDX-License-Identifier: Apache-2.0
// The routes below /v1, over the wire.
#include "server/front/http/facade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/http/door_site.h"

namespace reel::front {
namespace {

using nlohmann::json;

constexpr char kAsk[] = R"({"prompt": "a red circle", "size": "64x64"})";
constexpr char kAskType[] = "application/json";

httplib::MultipartFormDataItems FormItems() {
  return {{"prompt", "a red circle", "", ""}, {"size", "64x64", "", ""}};
}

class FacadeSite : public ::testing::Test {
 protected:
  FacadeSite() : job_(site_.jobs.Add("lab-1")), client_(site_.Client()) {
    ServedModel model;
    model.card.name = "lab";
    model.is_default = true;
    site_.jobs.SetModels({model});
  }
  // "400 INVALID_REQUEST param"
  static std::string Refusal(const httplib::Result& result) {
    const json error = json::parse(result->body)["error"];
    return absl::StrCat(result->status, " ", error["code"].get<std::string>(), " ",
                        error["param"].is_null() ? "-" : error["param"].get<std::string>());
  }

  DoorSite site_;
  std::shared_ptr<ScriptedJob> job_;
  httplib::Client client_;
};

TEST_F(FacadeSite, VideosAreCreatedFromThreeKindsOfBodies) {
  const std::vector<httplib::Result> none;
  for (int kind = 0; kind < 3; ++kind) {
    const auto made =
        kind == 0   ? client_.Post("/v1/videos", kAsk, kAskType)
        : kind == 1 ? client_.Post("/v1/videos", FormItems())
                    : client_.Post("/v1/videos",
                                   httplib::Params{{"prompt", "a red circle"}, {"size", "64x64"}});
    ASSERT_TRUE(made) << kind;
    EXPECT_EQ(made->status, 200) << made->body;
    EXPECT_EQ(json::parse(made->body)["id"], "lab-1");
    EXPECT_FALSE(made->has_header("Idempotent-Replayed"));
    const NewJob job = site_.jobs.WaitForCreate();
    EXPECT_EQ(job.spec.prompt, "a red circle");
    EXPECT_EQ(job.spec.width, 64);
    EXPECT_FALSE(job.bound);
  }
}

TEST_F(FacadeSite, SeveralOfOnePromptComeWithTheFirst) {
  site_.jobs.Add("lab-2");
  const auto made = client_.Post("/v1/videos", R"({"prompt": "x", "n": 2})", kAskType);
  ASSERT_EQ(made->status, 200) << made->body;
  const json reply = json::parse(made->body);
  EXPECT_EQ(reply["id"], "lab-1");
  EXPECT_EQ(reply["num_outputs"], 2);
  EXPECT_EQ(reply["videos"][0]["id"], "lab-1");
  EXPECT_EQ(reply["videos"][1]["id"], "lab-2");
  EXPECT_EQ(site_.jobs.WaitForCreate().count, 2);
  EXPECT_EQ(Refusal(client_.Post("/v1/videos", R"({"prompt": "x", "n": 17})", kAskType)),
            "400 INVALID_REQUEST n");
  // Its reply is one file.
  EXPECT_EQ(Refusal(client_.Post("/v1/videos/sync", R"({"prompt": "x", "n": 2})", kAskType)),
            "400 INVALID_REQUEST n");
}

TEST_F(FacadeSite, ARemixIsARetakeOfTheWhole) {
  model::GenerationSpec film;
  film.num_frames = 49;
  film.frame_rate = 24;
  job_->Made(film);
  const auto made =
      client_.Post("/v1/videos/lab-1/remix", R"({"prompt": "a blue star", "seed": 3})", kAskType);
  ASSERT_EQ(made->status, 200) << made->body;
  EXPECT_EQ(json::parse(made->body)["id"], "lab-1");
  const NewJob job = site_.jobs.WaitForCreate();
  EXPECT_EQ(job.spec.prompt, "a blue star");
  EXPECT_EQ(job.spec.seed, 3);
  EXPECT_EQ(job.spec.keep_state, true);
  ASSERT_TRUE(job.spec.is_retake());
  EXPECT_EQ(job.spec.source->video, "videos/lab-1");
  EXPECT_EQ(job.spec.source->retake.begin, 0);
  EXPECT_LE(job.spec.source->retake.end, 49.0 / 24);
  EXPECT_NEAR(job.spec.source->retake.end, 49.0 / 24, 1e-8);
}

TEST_F(FacadeSite, ARemixOfNothingOrInAnotherSizeIsRefused) {
  const char kRemix[] = R"({"prompt": "a blue star"})";
  EXPECT_EQ(Refusal(client_.Post("/v1/videos/none/remix", kRemix, kAskType)),
            "404 VIDEO_NOT_FOUND -");
  EXPECT_EQ(Refusal(client_.Post("/v1/videos/lab-1/remix", kAsk, kAskType)),
            "400 INVALID_REQUEST size");
  EXPECT_EQ(Refusal(client_.Post("/v1/videos/lab-1/remix", R"({"prompt": 3})", kAskType)),
            "400 INVALID_REQUEST prompt");
  site_.jobs.Refuse(MakeError(Reason::kStateGone, "it has kept no state"));
  EXPECT_EQ(Refusal(client_.Post("/v1/videos/lab-1/remix", kRemix, kAskType)), "400 STATE_GONE -");
  EXPECT_EQ(Refusal(client_.Get("/v1/videos/lab-1/remix")), "405 METHOD_NOT_ALLOWED -");
}

TEST_F(FacadeSite, ErrorsHaveTheShapeOfThatApi) {
  const auto wrong = client_.Post("/v1/videos", R"({"prompt": "x", "fps": "y"})", kAskType);
  EXPECT_EQ(Refusal(wrong), "400 INVALID_REQUEST fps");
  EXPECT_EQ(json::parse(wrong->body)["error"]["type"], "invalid_request_error");
  EXPECT_EQ(Refusal(client_.Post("/v1/videos", R"({"prompt": "x", "timeout": -1})", kAskType)),
            "400 INVALID_REQUEST timeout");
  EXPECT_EQ(Refusal(client_.Post("/v1/videos", "{", kAskType)), "400 UNDECODABLE_REQUEST -");
  EXPECT_EQ(Refusal(client_.Post("/v1/videos", "x", "text/plain")), "415 BODY_TYPE -");
  EXPECT_EQ(Refusal(client_.Get("/v1/videos/none")), "404 VIDEO_NOT_FOUND -");
  EXPECT_EQ(Refusal(client_.Get("/v1/nothing")), "404 ROUTE_NOT_FOUND -");
  EXPECT_EQ(Refusal(client_.Get("/v1/models/none")), "404 MODEL_NOT_FOUND -");
  EXPECT_EQ(Refusal(client_.Put("/v1/videos", "", kAskType)), "405 METHOD_NOT_ALLOWED -");
  EXPECT_EQ(Refusal(client_.Post("/v1/videos", std::string((5 << 20) + 1, ' '), kAskType)),
            "413 BODY_TOO_LARGE -");
  EXPECT_EQ(Refusal(client_.Get("/v1/videos?limit=0")), "400 INVALID_REQUEST limit");
  EXPECT_EQ(Refusal(client_.Get("/v1/videos?order=up")), "400 INVALID_REQUEST order");
  EXPECT_EQ(Refusal(client_.Get("/v1/videos?after=none")), "404 VIDEO_NOT_FOUND -");
  EXPECT_EQ(Refusal(client_.Get("/v1/videos/lab-1/content?variant=thumbnail")),
            "400 INVALID_REQUEST variant");
  const auto early = client_.Get("/v1/videos/lab-1/content");
  EXPECT_EQ(Refusal(early), "409 VIDEO_NOT_READY -");
  EXPECT_EQ(early->get_header_value("X-Should-Retry"), "false");
  site_.jobs.Refuse(MakeError(Reason::kTenantQuota, "too much"));
  const auto full = client_.Post("/v1/videos", kAsk, kAskType);
  EXPECT_EQ(Refusal(full), "429 TENANT_QUOTA -");
  EXPECT_EQ(json::parse(full->body)["error"]["type"], "rate_limit_error");
  EXPECT_TRUE(full->has_header("Retry-After"));
}

TEST_F(FacadeSite, AKeyIsTheRequestsId) {
  const auto first = client_.Post("/v1/videos", {{"Idempotency-Key", "order-7"}}, kAsk, kAskType);
  EXPECT_EQ(first->status, 200);
  // The script's video is an old one.
  EXPECT_EQ(first->get_header_value("Idempotent-Replayed"), "true");
  const std::string id = site_.jobs.WaitForCreate().request_id;
  const std::string spec = R"({"spec": {"prompt": "x", "width": 64, "height": 64}})";
  EXPECT_EQ(
      client_.Post("/reel/v1/videos", {{"Idempotency-Key", "order-7"}}, spec, kAskType)->status,
      200);
  EXPECT_EQ(site_.jobs.WaitForCreate().request_id, id);
  EXPECT_EQ(Refusal(client_.Post("/v1/videos", {{"Idempotency-Key", std::string(65, 'a')}}, kAsk,
                                 kAskType)),
            "400 INVALID_REQUEST Idempotency-Key");
}

TEST_F(FacadeSite, PreferWaitAnswersAtTheEndOrInTime) {
  const auto late = client_.Post("/v1/videos", {{"Prefer", "wait=1"}}, kAsk, kAskType);
  ASSERT_TRUE(late);
  EXPECT_EQ(json::parse(late->body)["status"], "queued");
  EXPECT_EQ(late->get_header_value("Preference-Applied"), "wait=1");
  std::thread ends([&] {
    EXPECT_TRUE(EventuallyHolds([&] { return job_->listeners() > 0; }));
    job_->Succeed();
  });
  const auto done =
      client_.Post("/v1/videos", {{"Prefer", "respond-async, wait=600"}}, kAsk, kAskType);
  ends.join();
  EXPECT_EQ(json::parse(done->body)["status"], "completed");
  EXPECT_EQ(done->get_header_value("Preference-Applied"), "wait=60");
}

TEST_F(FacadeSite, SyncIsTheFileOfAFinishedVideo) {
  std::thread renders([&] {
    EXPECT_TRUE(site_.jobs.WaitForCreate().bound);
    EXPECT_TRUE(EventuallyHolds([&] { return job_->listeners() > 0; }));
    job_->Media("abc");
    job_->Succeed();
  });
  const auto file = client_.Post("/v1/videos/sync", kAsk, kAskType);
  renders.join();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->status, 200);
  EXPECT_EQ(file->body, "abc");
  EXPECT_THAT(file->get_header_value("Content-Type"), ::testing::StartsWith("video/mp4"));
}

TEST_F(FacadeSite, LeavingSyncLeavesTheJob) {
  {
    const FileDescriptor socket = site_.Connect();
    SendText(socket, absl::StrCat("POST /v1/videos/sync HTTP/1.1\r\nHost: localhost\r\n"
                                  "Content-Type: application/json\r\nContent-Length: ",
                                  std::string(kAsk).size(), "\r\n\r\n", kAsk));
    EXPECT_TRUE(EventuallyHolds([&] { return job_->listeners() > 0; }));
  }
  EXPECT_EQ(site_.jobs.WaitForLeave().id, "lab-1");
}

TEST_F(FacadeSite, AFailedSyncSaysWhy) {
  std::thread fails([&] {
    EXPECT_TRUE(EventuallyHolds([&] { return job_->listeners() > 0; }));
    job_->End(VideoState::kFailed, MakeError(Reason::kWorkerLost, "lost"));
  });
  const auto failed = client_.Post("/v1/videos/sync", kAsk, kAskType);
  fails.join();
  EXPECT_EQ(Refusal(failed).substr(4), "WORKER_LOST -");
}

TEST_F(FacadeSite, DeleteEndsWhatRuns) {
  job_->Progress(1);
  std::thread ends([&] {
    EXPECT_TRUE(EventuallyHolds([&] { return job_->listeners() > 0; }));
    job_->End(VideoState::kCancelled, MakeError(Reason::kCancelledByOwner, "cancelled"));
  });
  const auto deleted = client_.Delete("/v1/videos/lab-1");
  ends.join();
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->status, 200) << deleted->body;
  EXPECT_EQ(json::parse(deleted->body),
            json({{"id", "lab-1"}, {"object", "video.deleted"}, {"deleted", true}}));
  // Of one that is over nothing is waited for.
  EXPECT_EQ(client_.Delete("/v1/videos/lab-1")->status, 200);
}

TEST_F(FacadeSite, TellsItsModelsAndItsHealth) {
  EXPECT_EQ(json::parse(client_.Get("/v1/models")->body)["data"][0]["id"], "lab");
  EXPECT_EQ(json::parse(client_.Get("/v1/models/lab")->body)["object"], "model");
  EXPECT_EQ(json::parse(client_.Get("/v1/model_info")->body)["model_path"], "lab");
  EXPECT_EQ(client_.Get("/health")->status, 200);
  ListPage page;
  page.videos = {job_->Snapshot()};
  page.more = true;
  site_.jobs.SetPage(page);
  const json list = json::parse(client_.Get("/v1/videos?limit=1&order=desc")->body);
  EXPECT_EQ(list["last_id"], "lab-1");
  EXPECT_EQ(list["has_more"], true);
  EXPECT_EQ(site_.jobs.last_query().page_size, 1);
  EXPECT_FALSE(site_.jobs.last_query().oldest_first);
  EXPECT_EQ(json::parse(client_.Get("/v1/videos/lab-1")->body)["id"], "lab-1");
}

TEST_F(FacadeSite, PagesGoBothWaysBehindTheLastVideo) {
  EXPECT_EQ(client_.Get("/v1/videos?limit=3&order=asc")->status, 200);
  ListQuery query = site_.jobs.last_query();
  EXPECT_TRUE(query.oldest_first);
  EXPECT_EQ(query.page_size, 3);
  EXPECT_EQ(query.before_id, "");
  for (const char* order : {"asc", "desc"}) {
    const std::string path = absl::StrCat("/v1/videos?after=lab-1&order=", order);
    EXPECT_EQ(client_.Get(path)->status, 200);
    query = site_.jobs.last_query();
    EXPECT_EQ(query.oldest_first, std::string(order) == "asc");
    EXPECT_EQ(query.page_size, 20);
    EXPECT_EQ(query.before_id, "lab-1");
    EXPECT_EQ(query.before_time, job_->Snapshot().create_time);
  }
}

}  // namespace
}  // namespace reel::front
