// SPDX-License-Identifier: Apache-2.0
// Videos with adapters that their requests name: from the configuration over the worker to the
// files, which are those that reel-render makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/integration/model_calls.h"

namespace reel::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

using Scales = std::map<std::string, double>;  // by adapter

class RequestAdapters : public ::testing::Test {
 protected:
  RequestAdapters() {
    std::filesystem::create_directory(Root());
    for (const char* name : {"style", "turn"}) {
      std::filesystem::copy(Golden(name), Root());
    }
  }
  static std::string Golden(const std::string& name) {
    return absl::StrCat(std::getenv("REEL_SOURCE"), "/tests/golden/adapters/ltx/", name,
                        ".safetensors");
  }
  std::string Root() const { return folder_.File("loras"); }
  std::string Config(const std::string& more = "") const {
    return absl::StrCat("adapter_root: '", Root(),
                        "' adapters { name: 'style' file: 'style.safetensors' max_scale: 2 } ",
                        more, " models { name: 'tiny' path: '", model_.path(),
                        "' dtype: 'fp32' adapter_ranks: 64 }");
  }
  std::string WithTurn() const {
    return Config("adapters { name: 'turn' file: 'turn.safetensors' models: 'tiny' }");
  }
  std::string TwoModels() const {
    return absl::StrCat(Config(), " models { name: 'twin' path: '", model_.path(),
                        "' dtype: 'fp32' adapter_ranks: 64 }");
  }
  static v1::VideoSpec SpecOf(const Scales& adapters) {
    v1::VideoSpec spec = TinyModelSpec(17);
    for (const auto& [name, scale] : adapters) {
      v1::Adapter& added = *spec.add_adapters();
      added.set_name(name);
      added.set_scale(scale);
    }
    return spec;
  }
  static std::string VideoOf(Calls& calls, const Scales& adapters) {
    const StreamResult result = calls.Generate(SpecOf(adapters));
    EXPECT_TRUE(result.status.ok()) << result.status.error_message();
    return result.file;
  }
  // As reel-render makes it, with the adapters beside the weights too.
  std::string Rendered(const Scales& adapters) const {
    std::vector<std::string> arguments = {"--model",
                                          model_.path(),
                                          "--dtype",
                                          "fp32",
                                          "--device",
                                          "cpu",
                                          "--prompt",
                                          "a red fox",
                                          "--width",
                                          "96",
                                          "--height",
                                          "64",
                                          "--num-frames",
                                          "17",
                                          "--steps",
                                          "2",
                                          "--seed",
                                          "1",
                                          "--max-text-tokens",
                                          "24",
                                          "--output",
                                          folder_.File("alone.mp4")};
    if (!adapters.empty()) arguments.insert(arguments.end(), {"--adapter-ranks", "64"});
    for (const auto& [name, scale] : adapters) {
      arguments.insert(arguments.end(),
                       {"--adapter", absl::StrCat(Root(), "/", name, ".safetensors:", scale)});
    }
    const ProgramResult done = RunProgram(BinaryPath("reel-render"), arguments);
    EXPECT_EQ(done.status, 0) << done.errors;
    return folder_.Read("alone.mp4");
  }
  static const std::vector<Scales>& Some() {
    static const auto* const some = new std::vector<Scales>(
        {{}, {{"style", 0.5}}, {{"turn", 1}}, {{"style", -1}, {"turn", 0.5}}, {{"style", 1}}});
    return *some;
  }

  const model::ltx::TinyFolder model_{"0.9.0"};
  const testing::TempFolder folder_;
};

TEST_F(RequestAdapters, MakeTheVideosThatReelRenderMakes) {
  ReelServer server({WithTurn(), {}, "", true});
  Calls calls(server.Connect());
  std::vector<std::string> videos;
  for (const Scales& adapters : Some()) {
    const std::string video = VideoOf(calls, adapters);
    EXPECT_TRUE(video == Rendered(adapters)) << videos.size();
    EXPECT_THAT(videos, Not(::testing::Contains(video)));
    videos.push_back(video);
  }
}

TEST_F(RequestAdapters, MakeTheSameVideosWhereOneWorkerHoldsAllOfThem) {
  ReelServer server({WithTurn(), {}, "", true});
  Calls calls(server.Connect());
  std::vector<std::string> alone, names;
  for (const Scales& adapters : Some()) alone.push_back(VideoOf(calls, adapters));
  for (int round = 0; round < 2; ++round) {
    for (const Scales& adapters : Some()) names.push_back(calls.Create(SpecOf(adapters)).name());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(calls.Await(names[i]).state(), v1::VIDEO_STATE_SUCCEEDED);
    std::string file;
    EXPECT_TRUE(calls.Download(names[i], 0, &file).ok());
    EXPECT_TRUE(file == alone[i % alone.size()]) << i;
  }
}

TEST_F(RequestAdapters, AreInWhatTheServerSaysOfModelsAndVideos) {
  ReelServer server({Config("adapters { name: 'secret' file: 'turn.safetensors' tenants: 'acme' }"),
                     {},
                     "",
                     true});
  const v1::Model tiny = ModelCalls(server).Get("tiny");
  EXPECT_EQ(tiny.adapter_ranks(), 64);
  ASSERT_EQ(tiny.adapters_size(), 1);
  EXPECT_EQ(tiny.adapters(0).name(), "style");
  EXPECT_EQ(tiny.adapters(0).rank(), 2);
  EXPECT_EQ(tiny.adapters(0).max_scale(), 2);
  EXPECT_EQ(tiny.adapters(0).default_scale(), 1);
  EXPECT_THAT(tiny.adapters(0).parts(), ElementsAre("video"));
  EXPECT_THAT(tiny.adapters(0).sha256(), MatchesRegex("[0-9a-f]{64}"));
  const ProgramResult shown =
      RunProgram(BinaryPath("reel"), {"--server", server.address(), "models"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("style"), Not(HasSubstr("secret")))) << shown.errors;
  Calls calls(server.Connect());
  v1::VideoSpec spec = TinyModelSpec(17);
  spec.add_adapters()->set_name("style");
  const StreamResult result = calls.Generate(spec);
  ASSERT_TRUE(result.is_finished) << result.status.error_message();
  ASSERT_EQ(result.finished.spec().adapters_size(), 1);
  EXPECT_EQ(result.finished.spec().adapters(0).scale(), 1);
  EXPECT_EQ(result.finished.spec().adapters(0).sha256(), tiny.adapters(0).sha256());
  const ProgramResult made = RunProgram(
      BinaryPath("reel"), {"--server", server.address(), "generate", "a red fox", "--width", "96",
                           "--height", "64", "--frames", "17", "--steps", "2", "--seed", "1",
                           "--adapter", "style:-0.5", "-o", folder_.File("by-program.mp4")});
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_EQ(server.Metric("reel_adapter_jobs_total", "adapter=\"style\""), 2);
  // Uploaded for the first of both.
  EXPECT_EQ(server.Metric("reel_adapter_uploads_total", "model=\"tiny\",outcome=\"ok\""), 1);
  EXPECT_EQ(result.finished.stats().adapter_ranks(), 32);
  EXPECT_TRUE(result.finished.stats().has_adapter_upload());
  // What came back is a request for the same video.
  const StreamResult again = calls.Generate(result.finished.spec());
  EXPECT_TRUE(again.file == result.file);
}

// Halves round nothing, so that the files are equal.
TEST_F(RequestAdapters, HaveScalesOfPartsFromTheCommandLineToTheVideo) {
  ReelServer server({Config(""), {}, "", true});
  const auto made = [&](const std::string& adapter, const std::string& name) {
    const ProgramResult done = RunProgram(BinaryPath("reel"), {"--server",  server.address(),
                                                               "generate",  "a red fox",
                                                               "--width",   "96",
                                                               "--height",  "64",
                                                               "--frames",  "17",
                                                               "--steps",   "2",
                                                               "--seed",    "1",
                                                               "--adapter", adapter,
                                                               "--label",   "a=b",
                                                               "-o",        folder_.File(name)});
    EXPECT_EQ(done.status, 0) << done.errors;
    return folder_.Read(name);
  };
  const std::string half = made("style:-0.5", "half.mp4");
  EXPECT_TRUE(made("style:-1,video=0.5", "parts.mp4") == half);
  EXPECT_TRUE(made("style:-1,pass=0.5", "passes.mp4") == half);
  EXPECT_FALSE(made("style:-1", "whole.mp4") == half);
  Calls calls(server.Connect());
  v1::VideoSpec spec = SpecOf({{"style", 1}});
  (*spec.mutable_adapters(0)->mutable_part_scales())["audio"] = 0.5;
  const grpc::Status refused = calls.Generate(spec).status;
  EXPECT_THAT(ViolatedFields(refused), ElementsAre("spec.adapters[0].part_scales"));
}

TEST_F(RequestAdapters, TakeOfTheirDeviceWhatAllModelsHoldUntilTheyAreUnloaded) {
  ReelServer server({TwoModels(), {}, "", true});
  Calls calls(server.Connect());
  ModelCalls models(server);
  const auto bytes = [&] { return server.Metric("reel_adapter_device_bytes"); };
  EXPECT_EQ(bytes(), 0);
  v1::VideoSpec spec = SpecOf({{"style", 1}});
  ASSERT_TRUE(calls.Generate(spec).is_finished);
  const double of_one = bytes();
  EXPECT_GT(of_one, 0);
  spec.set_model("twin");
  ASSERT_TRUE(calls.Generate(spec).is_finished);
  EXPECT_EQ(bytes(), 2 * of_one);
  ASSERT_TRUE(models.Unload("twin").ok());
  EXPECT_TRUE(Eventually([&] { return bytes() == of_one; })) << bytes();
  ASSERT_TRUE(models.Unload("tiny").ok());
  EXPECT_TRUE(Eventually([&] { return bytes() == 0; })) << bytes();
}

// A file that is written over under a running server.
TEST_F(RequestAdapters, WhoseFileIsAnotherEndTheirVideosWithTheReason) {
  ReelServer server({Config(""), {}, "", true});
  Calls calls(server.Connect());
  std::filesystem::copy_file(Golden("turn"), Root() + "/style.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  const grpc::Status status = calls.Generate(SpecOf({{"style", 1}})).status;
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(status), "ADAPTER_BROKEN") << status.error_message();
  EXPECT_THAT(status.error_message(), Not(HasSubstr(Root())));
}

TEST_F(RequestAdapters, AreRefusedByNameWhereTheyCannotBeHad) {
  ReelServer server({Config("adapters { name: 'secret' file: 'turn.safetensors' tenants: 'acme' }"),
                     {},
                     "",
                     true});
  Calls calls(server.Connect());
  const auto refusal = [&](const Scales& adapters) {
    const grpc::Status status = calls.Generate(SpecOf(adapters)).status;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), Not(HasSubstr(Root())));
    EXPECT_THAT(ViolatedFields(status), ElementsAre(HasSubstr("spec.adapters[0]")));
    return status.error_message();
  };
  EXPECT_THAT(refusal({{"stile", 1}}), HasSubstr("nearest: style"));
  EXPECT_THAT(refusal({{"../style.safetensors", 1}}), HasSubstr("no adapter of this model"));
  EXPECT_THAT(refusal({{"style", 2.5}}), HasSubstr("2"));
  // One of another tenant is told like one that is not there.
  std::string of_other = refusal({{"secret", 1}}), unknown = refusal({{"sacret", 1}});
  EXPECT_THAT(of_other, HasSubstr("no adapter of this model"));
  of_other.replace(of_other.find("secret"), 6, "sacret");
  EXPECT_EQ(of_other, unknown);
}

TEST_F(RequestAdapters, ComeAndGoWithoutALoadOfTheModel) {
  ReelServer server({Config(), {}, "", true});
  Calls calls(server.Connect());
  ModelCalls models(server);
  const std::string style = VideoOf(calls, {{"style", 1}});
  const auto adapters = [&] { return models.Get("tiny").adapters_size(); };
  server.Reconfigure(WithTurn());
  ASSERT_TRUE(Eventually([&] { return adapters() == 2; }));
  EXPECT_NE(VideoOf(calls, {{"turn", 1}}), style);
  // Another file under the same name.
  const std::string before = models.Get("tiny").adapters(0).sha256();
  std::filesystem::remove(Root() + "/style.safetensors");
  std::filesystem::copy(Golden("turn"), Root() + "/style.safetensors");
  server.Reconfigure(WithTurn());
  ASSERT_TRUE(Eventually([&] { return models.Get("tiny").adapters(0).sha256() != before; }));
  EXPECT_EQ(VideoOf(calls, {{"style", 1}}), VideoOf(calls, {{"turn", 1}}));
  server.Reconfigure(Config());
  ASSERT_TRUE(Eventually([&] { return adapters() == 1; }));
  EXPECT_THAT(calls.Generate(SpecOf({{"turn", 1}})).status.error_message(), HasSubstr("turn"));
  // One that cannot be read leaves all as they are.
  std::filesystem::resize_file(Root() + "/turn.safetensors", 100);
  server.Reconfigure(WithTurn());
  ASSERT_TRUE(Eventually([&] { return absl::StrContains(server.Log(), "cannot be used"); }));
  EXPECT_EQ(adapters(), 1);
  EXPECT_FALSE(VideoOf(calls, {{"style", 1}}).empty());
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 0);
}

TEST_F(RequestAdapters, ThatAreNoAdaptersKeepTheServerFromStarting) {
  std::filesystem::resize_file(Root() + "/style.safetensors", 100);
  const std::string config = folder_.Write(
      "reel.textproto", Config("listen: '127.0.0.1:0' metrics_listen: '127.0.0.1:0' "));
  const ProgramResult result =
      RunProgram(BinaryPath("reeld"), {"--config", config, "--data_dir", folder_.File("data")});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("style"), HasSubstr("safetensors")));
}

}  // namespace
}  // namespace reel::tests
