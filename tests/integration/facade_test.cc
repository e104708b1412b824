// SPDX-License-Identifier: Apache-2.0
// The OpenAI-shaped routes of the real server: the same videos and the same refusals as over gRPC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/integration/calls.h"
#include "tests/integration/door_client.h"

namespace reel::tests {
namespace {

using nlohmann::json;

constexpr char kFacadeJson[] = "application/json";

// One request in the three ways in which clients send it.
std::vector<httplib::Result> PostInEveryWay(httplib::Client& client, const std::string& path,
                                            const json& fields) {
  std::vector<httplib::Result> replies;
  replies.push_back(client.Post(path, fields.dump(), kFacadeJson));
  httplib::Params params;
  httplib::MultipartFormDataItems items;
  for (const auto& [name, value] : fields.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    params.emplace(name, text);
    items.push_back({name, text, "", ""});
  }
  replies.push_back(client.Post(path, params));
  replies.push_back(client.Post(path, items));
  return replies;
}

json SmallClip(int seed) {
  return {{"prompt", "a red circle"},
          {"size", "256x256"},
          {"num_frames", 49},
          {"seed", seed},
          {"fps", 24},
          {"num_inference_steps", 4}};
}

json WaitForEnd(httplib::Client& client, const std::string& id) {
  json video;
  do {
    video = json::parse(client.Get("/v1/videos/" + id)->body);
  } while (video["status"] == "queued" || video["status"] == "in_progress");
  return video;
}

TEST(Facade, OneSpecIsTheSameInEveryShape) {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  Calls calls(server.Connect());
  std::string spec, hash;
  for (const auto& made : PostInEveryWay(client, "/v1/videos", SmallClip(7))) {
    ASSERT_TRUE(made);
    ASSERT_EQ(made->status, 200) << made->body;
    const json done = WaitForEnd(client, json::parse(made->body)["id"]);
    EXPECT_EQ(done["status"], "completed") << done;
    EXPECT_EQ(done["progress"], 100);
    EXPECT_GT(done["inference_time_s"], 0);
    EXPECT_GE(done["stage_durations"]["denoise"], 0);
    const v1::Video video = calls.Get(absl::StrCat("videos/", done["id"].get<std::string>()));
    if (spec.empty()) {
      spec = video.spec().SerializeAsString();
      hash = video.media().sha256();
    }
    EXPECT_EQ(video.spec().SerializeAsString(), spec);
    EXPECT_EQ(video.media().sha256(), hash);
  }
  v1::CreateVideoRequest request;
  v1::VideoSpec& same = *request.mutable_spec();
  same.set_prompt("a red circle");
  same.set_width(256);
  same.set_height(256);
  same.set_num_frames(49);
  same.set_seed(7);
  same.set_frame_rate(24);
  same.set_num_inference_steps(4);
  grpc::ClientContext context;
  v1::CreateVideoResponse response;
  ASSERT_TRUE(calls.videos().CreateVideo(&context, request, &response).ok());
  EXPECT_EQ(response.video().spec().SerializeAsString(), spec);

  // The file, its ranges and what it took.
  const std::string id = json::parse(client.Get("/v1/videos?limit=2")->body)["data"][1]["id"];
  const auto content = client.Get("/v1/videos/" + id + "/content");
  EXPECT_EQ(content->get_header_value("ETag"), "\"" + hash + "\"");
  EXPECT_THAT(content->get_header_value("Server-Timing"), ::testing::HasSubstr("denoise;dur="));
  EXPECT_EQ(client.Get("/v1/videos/" + id + "/content", {{"Range", "bytes=0-9"}})->body,
            content->body.substr(0, 10));
}

TEST(Facade, RefusalsAreThoseOfGrpcInEveryShape) {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  Calls calls(server.Connect());
  struct Case {
    json fields;
    const char* param;
  };
  const std::string kNoFile = "files/" + std::string(64, '0');
  const std::vector<Case> cases = {
      {{{"prompt", "x"}, {"width", 257}, {"height", 256}}, "size"},
      {{{"prompt", "x"}, {"size", "1280x720"}}, "size"},
      {{{"prompt", "x"}, {"num_frames", 50}}, "num_frames"},
      {{{"prompt", ""}}, "prompt"},
      {{{"prompt", "x"}, {"model", "none"}}, nullptr},
      {{{"prompt", "x"}, {"kernels", "none"}}, nullptr},
      {{{"prompt", "x"}, {"num_inference_steps", 1'000'000}}, "num_inference_steps"},
      {{{"prompt", "x"}, {"fps", 1000}}, "fps"},
      {{{"prompt", "x"}, {"input_reference", kNoFile}}, "input_reference"},
  };
  int refused = 0;
  for (const Case& c : cases) {
    v1::CreateVideoRequest request;
    v1::VideoSpec& spec = *request.mutable_spec();
    spec.set_prompt(c.fields.value("prompt", ""));
    spec.set_model(c.fields.value("model", ""));
    spec.set_num_frames(c.fields.value("num_frames", 0));
    spec.set_num_inference_steps(c.fields.value("num_inference_steps", 0));
    spec.set_frame_rate(c.fields.value("fps", 0.0));
    if (c.fields.contains("kernels")) spec.mutable_kernels()->set_profile("none");
    if (c.fields.contains("width")) spec.set_width(257), spec.set_height(256);
    if (c.fields.contains("input_reference")) spec.add_conditions()->set_file(kNoFile);
    if (c.fields.contains("size")) spec.set_width(1280), spec.set_height(720);
    grpc::ClientContext context;
    v1::CreateVideoResponse response;
    const grpc::Status status = calls.videos().CreateVideo(&context, request, &response);
    google::rpc::Status details;
    google::rpc::ErrorInfo info;
    ASSERT_TRUE(details.ParseFromString(status.error_details())) << c.fields;
    ASSERT_TRUE(details.details_size() > 0 && details.details(0).UnpackTo(&info)) << c.fields;
    for (const auto& reply : PostInEveryWay(client, "/v1/videos", c.fields)) {
      ASSERT_TRUE(reply) << c.fields;
      const json error = json::parse(reply->body)["error"];
      EXPECT_EQ(error["code"], info.reason()) << c.fields;
      EXPECT_EQ(error["message"], status.error_message()) << c.fields;
      EXPECT_EQ(error["details"].size(), static_cast<size_t>(details.details_size())) << c.fields;
      if (c.param != nullptr) {
        EXPECT_EQ(error["param"], c.param) << c.fields;
      }
      refused += reply->status >= 400 ? 1 : 0;
    }
  }
  EXPECT_EQ(refused, 3 * static_cast<int>(cases.size()));
  std::cout << "FIGURE " << cases.size() << " refusals in three shapes are those of gRPC\n";
}

TEST(Facade, CallingAgainWithAKeyRendersOnce) {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  const std::string body = SmallClip(7).dump();
  const httplib::Headers key = {{"Idempotency-Key", "order-7"}};
  const auto first = client.Post("/v1/videos", key, body, kFacadeJson);
  EXPECT_FALSE(first->has_header("Idempotent-Replayed")) << first->body;
  const auto again = client.Post("/v1/videos", key, body, kFacadeJson);
  EXPECT_EQ(again->get_header_value("Idempotent-Replayed"), "true");
  EXPECT_EQ(json::parse(again->body)["id"], json::parse(first->body)["id"]);
  const auto other = client.Post("/v1/videos", key, SmallClip(8).dump(), kFacadeJson);
  EXPECT_EQ(other->status, 409);
  EXPECT_EQ(json::parse(other->body)["error"]["code"], "REQUEST_ID_CONFLICT");
}

TEST(Facade, SyncAnswersWithTheFileAndLeavingCancels) {
  ReelServer server(WithDoor(SlowConfig(50)));
  httplib::Client client = ClientOf(server.http_address());
  const auto file = client.Post("/v1/videos/sync", SmallClip(7).dump(), kFacadeJson);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->status, 200);
  EXPECT_EQ(file->body.substr(4, 4), "ftyp");
  EXPECT_THAT(file->get_header_value("Server-Timing"), ::testing::HasSubstr("generation;dur="));
  EXPECT_FALSE(file->get_header_value("X-Model").empty());
  EXPECT_TRUE(file->has_header("X-Inference-Time-S"));

  httplib::Client leaver = ClientOf(server.http_address());
  leaver.set_read_timeout(0, 300'000);
  json slow = SmallClip(8);
  slow["num_inference_steps"] = 80;
  EXPECT_FALSE(leaver.Post("/v1/videos/sync", slow.dump(), kFacadeJson));
  const json newest = json::parse(client.Get("/v1/videos?limit=1")->body)["data"][0];
  EXPECT_EQ(newest["seed"], 8);
  const json ended = WaitForEnd(client, newest["id"]);
  EXPECT_EQ(ended["status"], "failed");
  EXPECT_EQ(ended["error"]["code"], "OWNER_LEFT");
}

// Milliseconds of a timing, as such a client reads it: it fails a request whose reply lacks one.
double ServerTiming(const httplib::Response& reply, const std::string& name) {
  const std::vector<std::string> entries =
      absl::StrSplit(reply.get_header_value("Server-Timing"), ',');
  for (const std::string& entry : entries) {
    const std::vector<std::string> parts = absl::StrSplit(entry, ';');
    double value = -1;
    if (absl::StripAsciiWhitespace(parts[0]) != name || parts.size() < 2) continue;
    absl::string_view duration = absl::StripAsciiWhitespace(parts[1]);
    if (absl::ConsumePrefix(&duration, "dur=") && absl::SimpleAtod(duration, &value)) return value;
  }
  ADD_FAILURE() << "no timing " << name << " in " << reply.get_header_value("Server-Timing");
  return -1;
}

// What TensorRT-LLM's benchmark_visual_gen posts, by its source at 02f2e68 (no package has the
// program). JSON, or a form with a file without a type, and a token that nobody has.
TEST(Facade, RequestsOfTensorRtLlmsBenchmarkAreAnsweredWithItsTimings) {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  client.set_keep_alive(false);
  json fields = SmallClip(7);
  fields["model"] = "testcard";
  fields["seconds"] = 2.0;
  fields["guidance_scale"] = 3.5;
  fields["negative_prompt"] = "blurry";
  const httplib::Headers token = {{"Authorization", "Bearer unused"}};
  std::vector<httplib::Result> replies;
  replies.push_back(client.Post("/v1/videos/sync", token, fields.dump(), kFacadeJson));
  std::ifstream file(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/pictures/rgb.png",
                     std::ios::binary);
  const std::string picture((std::istreambuf_iterator<char>(file)), {});
  httplib::MultipartFormDataItems items;
  for (const auto& [name, value] : fields.items()) {
    items.push_back({name, value.is_string() ? value.get<std::string>() : value.dump(), "", ""});
  }
  replies.push_back(client.Post("/v1/videos/sync", token, items));
  for (const httplib::Result& reply : replies) {
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->status, 200) << reply->body.substr(0, 500);
    EXPECT_EQ(reply->body.substr(4, 4), "ftyp");
    EXPECT_GT(ServerTiming(*reply, "generation"), 0);
    EXPECT_GT(ServerTiming(*reply, "denoise"), 0);
  }
  // The picture is read: all that is wrong is that a test card follows none.
  items.push_back({"input_reference", picture, "first.png", "application/octet-stream"});
  const auto refused = client.Post("/v1/videos/sync", token, items);
  EXPECT_EQ(json::parse(refused->body)["error"]["param"], "input_reference") << refused->body;
  items.back().name = "reference_video";
  const auto no_reference = client.Post("/v1/videos/sync", token, items);
  EXPECT_EQ(json::parse(no_reference->body)["error"]["param"], "reference_video")
      << no_reference->body;
}

TEST(Facade, DeletingARunningVideoEndsItFirst) {
  ReelServer server(WithDoor(SlowConfig(50)));
  httplib::Client client = ClientOf(server.http_address());
  json slow = SmallClip(7);
  slow["num_inference_steps"] = 80;
  const auto made = client.Post("/v1/videos", {{"Prefer", "wait=1"}}, slow.dump(), kFacadeJson);
  const json video = json::parse(made->body);
  EXPECT_NE(video["status"], "completed");
  const std::string path = "/v1/videos/" + video["id"].get<std::string>();
  const auto deleted = client.Delete(path);
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->status, 200) << deleted->body;
  EXPECT_EQ(client.Get(path)->status, 404);
}

}  // namespace
}  // namespace reel::tests
