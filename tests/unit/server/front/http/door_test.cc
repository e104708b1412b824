// SPDX-License-Identifier: Apache-2.0
// Tests the door's answers, over the wire.
#include "server/front/http/door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <latch>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/http/door_site.h"

namespace reel::front {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string HashLine(const std::string& token, const std::string& tenant_and_role) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash);
  return absl::BytesToHexString(
             absl::string_view(reinterpret_cast<const char*>(hash), sizeof hash)) +
         " " + tenant_and_role + "\n";
}

const char kJson[] = "application/json";
const char kSpec[] = R"({"spec": {"prompt": "a red circle", "width": 64, "height": 64}})";

TEST(Door, NativeRoutesAnswerAsTheirRpcs) {
  DoorSite site;
  site.jobs.Add("lab-1");
  auto client = site.Client();
  const auto created = client.Post("/reel/v1/videos", kSpec, kJson);
  ASSERT_TRUE(created);
  EXPECT_EQ(created->status, 200) << created->body;
  EXPECT_EQ(nlohmann::json::parse(created->body)["video"]["name"], "videos/lab-1");
  EXPECT_EQ(site.jobs.WaitForCreate().spec.prompt, "a red circle");
  EXPECT_TRUE(created->has_header("X-Request-Id"));
  EXPECT_EQ(created->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(created->get_header_value("Content-Type"), kJson);

  const auto estimate = client.Post("/reel/v1/videos:estimate", kSpec, kJson);
  EXPECT_EQ(nlohmann::json::parse(estimate->body)["queue"], "1s");
  const auto got = client.Get("/reel/v1/videos/lab-1");
  EXPECT_EQ(nlohmann::json::parse(got->body)["video"]["state"], "VIDEO_STATE_QUEUED");
  const auto listed = client.Get("/reel/v1/videos?pageSize=7&states=VIDEO_STATE_QUEUED");
  EXPECT_EQ(listed->status, 200) << listed->body;
  EXPECT_EQ(site.jobs.last_query().page_size, 7);
  EXPECT_EQ(client.Post("/reel/v1/videos/lab-1:cancel", "", kJson)->status, 200);
  EXPECT_EQ(client.Delete("/reel/v1/videos/lab-1")->body, "{}");
  EXPECT_EQ(nlohmann::json::parse(client.Get("/reel/v1/server")->body)["version"], "1.2.3");
  EXPECT_EQ(client.Get("/reel/v1/models")->status, 200);
  EXPECT_EQ(client.Get("/reel/v1/kernels")->status, 200);
  ExperimentReport experiment;
  experiment.options = {"norms", "lab", 0.1, {{"old", "auto", 0.75}, {"new", "mine", 0.25}}};
  experiment.arms = {{30, 1}, {10, 0}};
  site.jobs.SetExperiments({experiment});
  const auto experiments = nlohmann::json::parse(client.Get("/reel/v1/experiments")->body);
  EXPECT_EQ(experiments["experiments"][0]["name"], "norms");
  EXPECT_EQ(experiments["experiments"][0]["arms"][0]["videos"], "30");
}

TEST(Door, AdminsLoadAndUnloadModels) {
  DoorSite site(DoorLimits(), std::make_unique<Authorizer>(*TokenTable::Parse(
                                  HashLine("root", "lab admin") + HashLine("use", "lab user"))));
  auto client = site.Client();
  const auto post = [&](const std::string& path, const char* token) {
    return client.Post(path, {{"Authorization", std::string("Bearer ") + token}}, "", kJson);
  };
  const auto loads = post("/reel/v1/models/LTX-Video_0.9:load", "root");
  ASSERT_EQ(loads->status, 200) << loads->body;
  const auto model = nlohmann::json::parse(loads->body)["model"];
  EXPECT_EQ(model["name"], "LTX-Video_0.9");
  EXPECT_EQ(model["state"], "MODEL_STATE_LOADING");
  const auto goes = post("/reel/v1/models/lab:unload", "root");
  EXPECT_EQ(nlohmann::json::parse(goes->body)["model"]["state"], "MODEL_STATE_UNLOADED");
  EXPECT_EQ(post("/reel/v1/models/lab:unload", "use")->status, 403);
  EXPECT_EQ(client.Get("/reel/v1/models/lab:load")->status, 405);
}

TEST(Door, OfSeveralVideosOneCallAnswersWithAll) {
  DoorSite site;
  site.jobs.Add("lab-1");
  site.jobs.Add("lab-2");
  auto client = site.Client();
  const auto made =
      client.Post("/reel/v1/videos", R"({"spec": {"prompt": "x"}, "count": 2})", kJson);
  ASSERT_EQ(made->status, 200) << made->body;
  const auto answer = nlohmann::json::parse(made->body);
  EXPECT_EQ(answer["videos"][1]["name"], "videos/lab-2");
  EXPECT_EQ(answer["video"], answer["videos"][0]);
  EXPECT_EQ(site.jobs.WaitForCreate().count, 2);
  const auto streamed =
      client.Post("/reel/v1/videos:generate", R"({"spec": {"prompt": "x"}, "count": 2})", kJson);
  EXPECT_EQ(streamed->status, 400);
  EXPECT_THAT(streamed->body, HasSubstr("count"));
}

TEST(Door, RefusalsHaveTheirStatusAndReason) {
  DoorSite site;
  site.jobs.Add("lab-1");
  auto client = site.Client();
  const auto reason = [](const httplib::Result& result) {
    return absl::StrCat(
        result->status, " ",
        nlohmann::json::parse(result->body)["error"]["details"][0]["reason"].get<std::string>());
  };
  EXPECT_EQ(reason(client.Get("/none")), "404 ROUTE_NOT_FOUND");
  EXPECT_EQ(reason(client.Get("/metrics")), "404 ROUTE_NOT_FOUND");
  EXPECT_EQ(reason(client.Get("/reel/v1/videos/../../etc")), "404 ROUTE_NOT_FOUND");
  EXPECT_EQ(reason(client.Get("/reel/v1/videos/none")), "404 VIDEO_NOT_FOUND");
  EXPECT_EQ(reason(client.Get("/reel/v1/videos/NONE")), "400 INVALID_REQUEST");
  EXPECT_EQ(reason(client.Get("/reel/v1/videos?colour=red")), "400 INVALID_REQUEST");
  EXPECT_EQ(reason(client.Get("/reel/v1/videos/lab-1/events?x=1")), "400 INVALID_REQUEST");
  EXPECT_EQ(reason(client.Get("/reel/v1/videos/lab-1/media?attempt=x")), "400 INVALID_REQUEST");
  const auto put = client.Put("/reel/v1/videos/lab-1", "", kJson);
  EXPECT_EQ(reason(put), "405 METHOD_NOT_ALLOWED");
  EXPECT_EQ(put->get_header_value("Allow"), "GET, DELETE");
  EXPECT_EQ(reason(client.Post("/reel/v1/videos", kSpec, "text/plain")), "415 BODY_TYPE");
  EXPECT_EQ(reason(client.Post("/reel/v1/videos", "{", kJson)), "400 UNDECODABLE_REQUEST");
  EXPECT_EQ(reason(client.Post("/reel/v1/videos", R"({"sepc": {}})", kJson)),
            "400 INVALID_REQUEST");
  EXPECT_EQ(reason(client.Post("/reel/v1/videos", std::string((5 << 20) + 1, ' '), kJson)),
            "413 BODY_TOO_LARGE");
  EXPECT_EQ(reason(client.Post("/reel/v1/videos/lab-1:cancel", std::string(3000, ' '), kJson)),
            "413 BODY_TOO_LARGE");
  site.jobs.Refuse(MakeError(Reason::kQueueFull, "full"));
  const auto full = client.Post("/reel/v1/videos", kSpec, kJson);
  EXPECT_EQ(reason(full), "503 QUEUE_FULL");
  EXPECT_EQ(full->get_header_value("X-Should-Retry"), "true");
  EXPECT_EQ(reason(client.Get("/reel/v1/server", {{"Host", "evil.test"}})), "400 HOST_REFUSED");
  EXPECT_EQ(reason(client.Post("/reel/v1/videos", {{"Origin", "http://evil.test"}}, kSpec, kJson)),
            "403 ORIGIN_REFUSED");
}

// Route by route with each kind of token: as the table of RPCs says.
TEST(Door, EveryRouteWantsTheRoleOfItsRpc) {
  ::reel::testing::TempFolder folder;
  const std::string file = folder.Write(
      "tokens", HashLine("v", "a viewer") + HashLine("u", "a user") + HashLine("other", "b user"));
  chmod(file.c_str(), 0600);
  auto tokens = TokenTable::Load(file);
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  DoorSite site({}, std::make_unique<Authorizer>(*std::move(tokens)));
  const auto job = site.jobs.Add("lab-1", "a");
  job->Media("abc");
  job->Succeed();
  ServedModel model;
  model.card.name = "lab-1";
  site.jobs.SetModels({model});
  auto client = site.Client();
  const auto status = [&](const DoorRouteRow& row, const std::string& token) {
    httplib::Request request;
    request.method = std::string(row.method);
    request.path = absl::StrReplaceAll(std::string(row.pattern), {{"{id}", "lab-1"}});
    if (!token.empty()) request.headers.emplace("Authorization", "Bearer " + token);
    if (row.takes != DoorTakes::kNothing) {
      request.body = row.takes == DoorTakes::kJson ? kSpec : R"({"prompt": "a red circle"})";
      request.headers.emplace("Content-Type", kJson);
    }
    const auto result = client.send(request);
    return result ? result->status : -1;
  };
  const auto most_jobs = [&](const std::string& token) {
    const auto info = client.Get("/reel/v1/server", {{"Authorization", "Bearer " + token}});
    return nlohmann::json::parse(info->body)["limits"]["maxJobsPerTenant"];
  };
  EXPECT_EQ(most_jobs("u"), 3);
  EXPECT_EQ(most_jobs("other"), 256);
  for (const DoorRouteRow& row : AllDoorRoutes()) {
    if (!RowOf(row.rpc).role) {
      EXPECT_EQ(status(row, ""), 200) << row.pattern;
      continue;
    }
    const bool viewers = RowOf(row.rpc).role == Role::kViewer;
    EXPECT_EQ(status(row, ""), 401) << row.pattern;
    EXPECT_EQ(status(row, "unknown"), 401) << row.pattern;
    EXPECT_EQ(status(row, "v"), viewers ? 200 : 403) << row.pattern;
    EXPECT_EQ(status(row, "u"), RowOf(row.rpc).role == Role::kAdmin ? 403 : 200) << row.pattern;
    const bool named = absl::StrContains(std::string(row.pattern), "videos/{id}");
    if (named) {
      EXPECT_EQ(status(row, "other"), 404) << row.pattern;
    }
  }
}

TEST(Door, ATenantsStreamsAreBoundedAndOthersAreNot) {
  ::reel::testing::TempFolder folder;
  const std::string file =
      folder.Write("tokens", HashLine("one", "a user") + HashLine("other", "b user"));
  chmod(file.c_str(), 0600);
  auto tokens = TokenTable::Load(file);
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  DoorSite site({}, std::make_unique<Authorizer>(*std::move(tokens)), true, 2);
  site.jobs.Add("lab-1", "a");
  site.jobs.Add("lab-2", "b");
  const auto open = [&](const std::string& token, const std::string& what) {
    FileDescriptor socket = site.Connect();
    SendText(socket, GetText(what, "Authorization: Bearer " + token + "\r\n"));
    return socket;
  };
  std::vector<FileDescriptor> held;
  for (int i = 0; i < 2; ++i) {
    held.push_back(open("one", "/reel/v1/videos/lab-1/events"));
    ReceiveText(held.back(), "event: accepted");
  }
  for (const char* path : {"/reel/v1/videos/lab-1/events", "/reel/v1/videos/lab-1/media",
                           "/v1/videos/lab-1/content"}) {
    const std::string refused = ReceiveText(open("one", path), "TENANT_QUOTA");
    EXPECT_THAT(refused, HasSubstr("429 Too Many Requests"));
    EXPECT_THAT(refused, HasSubstr("Retry-After: 5"));
  }
  EXPECT_THAT(ReceiveText(open("one", "/reel/v1/videos/lab-1"), "\r\n\r\n"), HasSubstr("200 OK"));
  ReceiveText(open("other", "/reel/v1/videos/lab-2/events"), "event: accepted");
  held.pop_back();
  EXPECT_TRUE(EventuallyHolds([&] {
    const FileDescriptor again = open("one", "/reel/v1/videos/lab-1/events");
    return absl::StrContains(ReceiveText(again, "\r\n\r\n"), "200 OK");
  }));
}

TEST(Door, NothingOfABodyIsReadBeforeTheTokenIsKnown) {
  DoorSite site({}, std::make_unique<Authorizer>(TokenTable()));
  const FileDescriptor socket = site.Connect();
  SendText(socket,
           "POST /reel/v1/videos HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: 5000000\r\n\r\n");
  EXPECT_THAT(ReceiveText(socket), HasSubstr("401 Unauthorized"));
}

TEST(Door, EventsEndWithTheVideo) {
  DoorSite site;
  const auto job = site.jobs.Add("lab-1");
  const FileDescriptor socket = site.Connect();
  SendText(socket, GetText("/reel/v1/videos/lab-1/events"));
  std::string text = ReceiveText(socket, "event: accepted");
  EXPECT_THAT(text, HasSubstr("Content-Type: text/event-stream"));
  job->Progress(1);
  ReceiveText(socket, "event: progress");
  job->Media("abc");
  ReceiveText(socket, "event: media");
  job->Succeed();
  EXPECT_THAT(ReceiveText(socket, "0\r\n\r\n"), HasSubstr("event: finished"));
  // The connection serves on.
  SendText(socket, GetText("/reel/v1/videos/lab-1/events", "Last-Event-ID: 100\r\n"));
  EXPECT_THAT(ReceiveText(socket, "\r\n\r\n"), HasSubstr("204 No Content"));
}

TEST(Door, MediaFollowsAFileAsItGrows) {
  DoorSite site;
  const auto job = site.jobs.Add("lab-1");
  std::string file;
  std::latch some(1);
  std::thread reader([&] {
    const auto result =
        site.Client().Get("/reel/v1/videos/lab-1/media", [&](const char* bytes, size_t size) {
          if (file.empty()) some.count_down();
          file.append(bytes, size);
          return true;
        });
    EXPECT_TRUE(result) << httplib::to_string(result.error());
  });
  job->Media(std::string(100'000, 'a'));
  some.wait();
  job->Media(std::string(100'000, 'b'));
  job->Succeed();
  reader.join();
  EXPECT_EQ(file, std::string(100'000, 'a') + std::string(100'000, 'b'));
}

TEST(Door, ABrokenFileNeverEndsCleanly) {
  DoorSite site;
  const auto job = site.jobs.Add("lab-1");
  job->Media("abc");
  for (const bool fails : {false, true}) {
    const FileDescriptor socket = site.Connect();
    SendText(socket, GetText("/reel/v1/videos/lab-1/media"));
    ReceiveText(socket, "abc");
    fails ? job->End(VideoState::kFailed, MakeError(Reason::kWorkerLost, "lost"))
          : job->Restart("WORKER_LOST");
    if (!fails) job->Media("abc");
    bool reset = false;
    EXPECT_THAT(ReceiveText(socket, "", &reset), Not(HasSubstr("0\r\n\r\n")));
    EXPECT_TRUE(reset);
  }
}

TEST(Door, ABoundJobIsLeftWithItsConnection) {
  DoorSite site;
  site.jobs.Add("lab-1");
  {
    const FileDescriptor socket = site.Connect();
    SendText(socket, absl::StrCat("POST /reel/v1/videos:generate HTTP/1.1\r\nHost: localhost\r\n"
                                  "Content-Type: application/json\r\nContent-Length: ",
                                  std::string(kSpec).size(), "\r\n\r\n", kSpec));
    ReceiveText(socket, "event: accepted");
  }
  const auto left = site.jobs.WaitForLeave();
  EXPECT_EQ(left.id, "lab-1");
  EXPECT_EQ(left.reason, LeaveReason::kCallerLeft);
}

}  // namespace
}  // namespace reel::front
