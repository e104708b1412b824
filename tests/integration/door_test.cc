// SPDX-License-Identifier: Apache-2.0
// The HTTP door of the real server: the same truth as over gRPC, and streams that resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <set>

#include <nlohmann/json.hpp>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/integration/calls.h"
#include "tests/integration/cutting_proxy.h"
#include "tests/integration/door_client.h"

namespace reel::tests {
namespace {

using nlohmann::json;

constexpr char kJsonType[] = "application/json";
constexpr char kFollow[] = "9007199254740991";

std::string Sha256OfBytes(const std::string& bytes) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(hash), sizeof hash));
}

TEST(Door, TheServerTellsWhereItIsAndExperimentsAreThereToo) {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  const json info = json::parse(client.Get("/reel/v1/server")->body);
  EXPECT_EQ(info["httpUrl"], "http://" + server.http_address());
  EXPECT_EQ(info["hasPage"], true);
  grpc::ClientContext context;
  v1::GetServerInfoResponse same;
  const auto stub = v1::ServerService::NewStub(server.Connect());
  ASSERT_TRUE(stub->GetServerInfo(&context, v1::GetServerInfoRequest(), &same).ok());
  EXPECT_EQ(same.http_url(), "http://" + server.http_address());
  EXPECT_TRUE(same.has_page());
  const auto experiments = client.Get("/reel/v1/experiments");
  EXPECT_EQ(experiments->status, 200);
  EXPECT_EQ(json::parse(experiments->body), json::object());  // none are configured
}

TEST(Door, AVideoIsTheSameByBothDoors) {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  const std::string id = CreateOverHttp(client, ClipSpec());
  EventReader reader;
  EXPECT_EQ(reader.Read(server.http_address(), id), 200);
  ASSERT_FALSE(reader.events.empty());
  EXPECT_EQ(reader.events.front().name, "accepted");
  EXPECT_EQ(reader.events.back().name, "finished");
  const auto got = client.Get("/reel/v1/videos/" + id);
  const json video = json::parse(got->body)["video"];
  EXPECT_EQ(video["state"], "VIDEO_STATE_SUCCEEDED");

  Calls calls(server.Connect());
  const v1::Video same = calls.Get("videos/" + id);
  EXPECT_EQ(video["media"]["sha256"], same.media().sha256());
  EXPECT_EQ(video["spec"]["numInferenceSteps"], same.spec().num_inference_steps());
  std::string downloaded;
  EXPECT_TRUE(calls.Download(same.name(), 0, &downloaded).ok());
  const auto media = client.Get("/reel/v1/videos/" + id + "/media");
  EXPECT_EQ(media->status, 200);
  EXPECT_EQ(media->body, downloaded);
  EXPECT_EQ(media->get_header_value("ETag"), "\"" + same.media().sha256() + "\"");
  EXPECT_EQ(media->get_header_value("Content-Type"), same.media().content_type());
  const auto part = client.Get("/reel/v1/videos/" + id + "/media", {{"Range", "bytes=100-199"}});
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->body, downloaded.substr(100, 100));
  const auto head = client.Head("/reel/v1/videos/" + id + "/media");
  EXPECT_EQ(head->get_header_value("Content-Length"), absl::StrCat(downloaded.size()));

  // The file told its codec before it was whole.
  bool told = false;
  for (const HttpEvent& event : reader.events) {
    if (event.name != "media") continue;
    told = true;
    EXPECT_EQ(json::parse(event.data)["media"]["contentType"], same.media().content_type());
  }
  EXPECT_TRUE(told);
}

// The same spec over gRPC.
grpc::Status RefusalOfSpec(Calls& calls, const json& spec) {
  v1::CreateVideoRequest request;
  v1::VideoSpec& same = *request.mutable_spec();
  same.set_prompt(spec.value("prompt", ""));
  same.set_width(spec.value("width", 0));
  same.set_height(spec.value("height", 0));
  same.set_num_frames(spec.value("numFrames", 0));
  same.set_model(spec.value("model", ""));
  same.set_num_inference_steps(spec.value("numInferenceSteps", 0));
  if (spec.contains("conditions")) {
    v1::Condition& condition = *same.add_conditions();
    if (spec["conditions"][0].contains("file")) condition.set_file(spec["conditions"][0]["file"]);
  }
  if (spec.contains("kernels")) {
    same.mutable_kernels()->set_profile(spec["kernels"].value("profile", ""));
    if (spec["kernels"].contains("variants")) {
      (*same.mutable_kernels()->mutable_variants())["rms_norm"] = "none";
    }
  }
  grpc::ClientContext context;
  v1::CreateVideoResponse response;
  return calls.videos().CreateVideo(&context, request, &response);
}

// Whatever is refused is refused by both doors, for the same reason and with the same violations.
TEST(Door, RefusalsAreTheSameByBothDoors) {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  Calls calls(server.Connect());
  struct Case {
    const char* name;
    json spec;
  };
  const std::vector<Case> cases = {
      {"no prompt", {{"width", 256}}},
      {"width", {{"prompt", "x"}, {"width", 257}}},
      {"frames", {{"prompt", "x"}, {"numFrames", 50}}},
      {"all wrong", {{"prompt", ""}, {"width", 1}, {"height", 100000}, {"numFrames", -1}}},
      {"no model", {{"prompt", "x"}, {"model", "none"}}},
      {"kernel", {{"prompt", "x"}, {"kernels", {{"profile", "none"}}}}},
      {"variant", {{"prompt", "x"}, {"kernels", {{"variants", {{"rms_norm", "none"}}}}}}},
      {"condition", {{"prompt", "x"}, {"conditions", {{{"frameIndex", 0}}}}}},
      {"file", {{"prompt", "x"}, {"conditions", {{{"file", "files/" + std::string(64, '0')}}}}}},
      {"steps", {{"prompt", "x"}, {"numInferenceSteps", 1000000}}},
      {"large", {{"prompt", std::string(100'000, 'x')}}},
  };
  for (const Case& c : cases) {
    const std::string body = BodyOfSpec(c.spec);
    const auto refused = client.Post("/reel/v1/videos", body, kJsonType);
    ASSERT_TRUE(refused) << c.name;
    ASSERT_GE(refused->status, 400) << c.name;
    const json error = json::parse(refused->body)["error"];

    const grpc::Status status = RefusalOfSpec(calls, c.spec);
    google::rpc::Status details;
    ASSERT_TRUE(details.ParseFromString(status.error_details()));
    EXPECT_EQ(error["message"], status.error_message()) << c.name;
    ASSERT_EQ(error["details"].size(), static_cast<size_t>(details.details_size())) << c.name;
    google::rpc::ErrorInfo info;
    ASSERT_TRUE(details.details(0).UnpackTo(&info));
    EXPECT_EQ(error["details"][0]["reason"], info.reason()) << c.name;
    google::rpc::BadRequest bad;
    for (int i = 1; i < details.details_size(); ++i) {
      if (!details.details(i).UnpackTo(&bad)) continue;
      for (int n = 0; n < bad.field_violations_size(); ++n) {
        EXPECT_EQ(error["details"][i]["fieldViolations"][n]["field"],
                  bad.field_violations(n).field());
      }
    }
  }
  std::cout << "FIGURE " << cases.size() << " refusals are the same by both doors\n";
}

std::vector<int64_t> RandomCuts(int count, int64_t below) {
  std::mt19937 random(7);
  std::set<int64_t> cuts;
  for (int i = 0; i < count; ++i) {
    cuts.insert(std::uniform_int_distribution<int64_t>(0, below)(random));
  }
  return {cuts.begin(), cuts.end()};
}

// A slow server, and a way to it that is cut again and again.
class DoorBehindCuts : public ::testing::Test {
 protected:
  DoorBehindCuts() { proxy_.SetTarget(server_.http_address()); }
  std::string Create(int steps) {
    httplib::Client client = ClientOf(server_.http_address());
    return CreateOverHttp(client, ClipSpec(steps));
  }

  ReelServer server_{WithDoor(SlowConfig(30))};
  CuttingProxy proxy_;
};

TEST_F(DoorBehindCuts, EventsResumeWhereverTheyAreCut) {
  proxy_.SetCuts(RandomCuts(50, 40'000));
  const std::string id = Create(40);
  EventReader reader;
  int reads = 0;
  int status = 0;
  // As a browser does: until 204.
  while ((status = reader.Read(proxy_.address(), id)) != 204 && ++reads < 500) {
  }
  EXPECT_EQ(status, 204);
  std::multiset<uint64_t> ids;
  int finished = 0;
  for (const HttpEvent& event : reader.events) {
    if (event.id != 0) ids.insert(event.id);
    finished += event.name == "finished" ? 1 : 0;
  }
  EXPECT_EQ(finished, 1);
  for (const uint64_t seen : ids) EXPECT_EQ(ids.count(seen), 1U) << "event " << seen;
  std::cout << "FIGURE events cut " << proxy_.cuts() << " times: each of " << ids.size()
            << " once, 204 at the end\n";
}

TEST_F(DoorBehindCuts, AFileThatGrowsIsFollowedThroughCuts) {
  proxy_.SetCuts(RandomCuts(20, 60'000));
  const std::string growing = Create(20);
  std::string file;
  bool whole = false;
  for (int tries = 0; tries < 500 && !whole; ++tries) {
    httplib::Client follower = ClientOf(proxy_.address());
    const auto result = follower.Get(
        "/reel/v1/videos/" + growing + "/media",
        {{"Range", absl::StrCat("bytes=", file.size(), "-", kFollow)}},
        [&](const httplib::Response& head) {
          whole = head.status == 416;  // nothing follows what is here
          return head.status == 206;
        },
        [&](const char* bytes, size_t size) {
          file.append(bytes, size);
          return true;
        });
    whole = whole || result;  // what ends well is the whole file
  }
  const v1::Video video = Calls(server_.Connect()).Get("videos/" + growing);
  EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED);
  EXPECT_EQ(Sha256OfBytes(file), video.media().sha256()) << file.size();
  std::cout << "FIGURE a file of " << file.size() << " bytes cut " << proxy_.cuts()
            << " times while it grew: the same SHA-256\n";
}

TEST(Door, RangesOfAFileThatGrowsAreWhatIsThere) {
  ReelServer server(WithDoor(SlowConfig(20)));
  httplib::Client client = ClientOf(server.http_address());
  const std::string id = CreateOverHttp(client, ClipSpec(10));
  const std::string path = "/reel/v1/videos/" + id + "/media";
  // Waits for the first byte.
  std::string file;
  int parts = 0;
  int nothing_yet = 0;
  while (nothing_yet < 100'000) {
    const auto part = client.Get(path, {{"Range", absl::StrCat("bytes=", file.size(), "-")}});
    ASSERT_TRUE(part);
    if (part->status == 206) {
      ++parts;
      EXPECT_THAT(part->get_header_value("Content-Range"),
                  ::testing::StartsWith(absl::StrCat("bytes ", file.size(), "-")));
      file += part->body;
      continue;
    }
    ASSERT_EQ(part->status, 416) << part->body;
    ++nothing_yet;
    // Of a finished file the size is told.
    if (part->get_header_value("Content-Range") == absl::StrCat("bytes */", file.size())) break;
  }
  const v1::Video video = Calls(server.Connect()).Get("videos/" + id);
  EXPECT_EQ(Sha256OfBytes(file), video.media().sha256());
  EXPECT_GE(parts, 1);
}

TEST(Door, NamesAndOriginsThatAreNotItsOwnAreRefused) {
  ReelServer server(WithDoor("http { allow_origins: 'https://studio.test' }\n"));
  httplib::Client client = ClientOf(server.http_address());
  const std::string body = BodyOfSpec(ClipSpec());
  EXPECT_EQ(client.Get("/reel/v1/server", {{"Host", "evil.test"}})->status, 400);
  EXPECT_EQ(
      client.Post("/reel/v1/videos", {{"Origin", "http://evil.test"}}, body, kJsonType)->status,
      403);
  const auto allowed =
      client.Post("/reel/v1/videos", {{"Origin", "https://studio.test"}}, body, kJsonType);
  EXPECT_EQ(allowed->status, 200);
  EXPECT_EQ(allowed->get_header_value("Access-Control-Allow-Origin"), "https://studio.test");
}

}  // namespace
}  // namespace reel::tests
