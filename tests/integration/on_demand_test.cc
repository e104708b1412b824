// SPDX-License-Identifier: Apache-2.0
// Several models within one device's memory: they come when they are asked for and make way for
// each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <iostream>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/model_calls.h"

namespace reel::tests {
namespace {

constexpr int64_t kWeights = 1'000'000;

std::string CardOnDemand(const std::string& name, bool on_demand = true) {
  return absl::StrCat("models { name: '", name, "' on_demand: ", on_demand ? "true" : "false",
                      " test_card { step_time { nanos: 5000000 } load_time { nanos: 200000000 }",
                      " memory { weights: ", kWeights, " per_token: 100 } } }\n");
}
std::string WorkerWith(int64_t memory) {
  return absl::StrCat("workers { name: 'w' device: 'cpu' memory_bytes: ", memory, " }\n");
}

v1::VideoSpec Of(const std::string& model, uint64_t seed = 1) {
  v1::VideoSpec spec = SmallSpec("a red circle", seed);
  spec.set_model(model);
  return spec;
}

v1::EstimateVideoResponse Estimate(Calls& calls, const v1::VideoSpec& spec) {
  v1::EstimateVideoRequest request;
  *request.mutable_spec() = spec;
  v1::EstimateVideoResponse estimate;
  grpc::ClientContext context;
  EXPECT_TRUE(calls.videos().EstimateVideo(&context, request, &estimate).ok());
  return estimate;
}

absl::Duration LoadOf(Calls& calls, const std::string& model) {
  const v1::EstimateVideoResponse estimate = Estimate(calls, Of(model));
  return absl::Seconds(estimate.model_load().seconds()) +
         absl::Nanoseconds(estimate.model_load().nanos());
}

TEST(OnDemand, ModelsComeAndMakeWay) {
  // Room for two of three beside the one that stays.
  ReelServer server({CardOnDemand("stays", false) + CardOnDemand("a") + CardOnDemand("b") +
                         CardOnDemand("c") + WorkerWith(3 * kWeights + kWeights / 2),
                     {},
                     "",
                     true});
  ModelCalls models(server);
  Calls calls(server.Connect());
  EXPECT_EQ(models.Get("a").state(), v1::MODEL_STATE_ON_DEMAND);
  EXPECT_EQ(models.Get("a").weight_bytes(), kWeights);
  EXPECT_FALSE(models.Get("a").ready());
  for (const char* model : {"a", "b", "stays", "c"}) {
    const StreamResult made = calls.Generate(Of(model));
    EXPECT_TRUE(made.status.ok()) << model << ": " << made.status.error_message();
  }
  EXPECT_EQ(models.Get("a").state(), v1::MODEL_STATE_ON_DEMAND) << "used longest ago";
  EXPECT_EQ(models.Get("b").state(), v1::MODEL_STATE_READY);
  EXPECT_EQ(models.Get("c").state(), v1::MODEL_STATE_READY);
  EXPECT_EQ(models.Get("stays").state(), v1::MODEL_STATE_READY);
  EXPECT_EQ(server.Metric("reel_model_put_outs_total"), 1);
  EXPECT_EQ(server.Metric("reel_model_loads_total"), 4);
  EXPECT_GE(LoadOf(calls, "a"), absl::Milliseconds(200));
  EXPECT_EQ(LoadOf(calls, "b"), absl::ZeroDuration());
  EXPECT_TRUE(calls.Generate(Of("a")).status.ok());
  EXPECT_THAT(server.Log(), ::testing::HasSubstr("a model makes way for another one"));
  EXPECT_LE(server.Metric("reel_gpu_memory_bytes", "kind=\"peak\""), 3 * kWeights + kWeights / 2);
}

TEST(OnDemand, AMixtureOfModelsLosesNothing) {
  ReelServer server({CardOnDemand("a") + CardOnDemand("b") + CardOnDemand("c") +
                         WorkerWith(2 * kWeights + kWeights / 2),
                     {},
                     "",
                     true});
  Calls calls(server.Connect());
  std::vector<std::string> names;
  for (int i = 0; i < 18; ++i) {
    names.push_back(calls.Create(Of(std::string(1, static_cast<char>('a' + i % 3)), i)).name());
  }
  for (const std::string& name : names) {
    const v1::Video video = calls.Await(name);
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
    EXPECT_EQ(video.attempt(), 1);
  }
  EXPECT_EQ(server.Metric("reel_gpu_errors_total"), 0);
  std::cout << "FIGURE 18 jobs of three models where two have room: "
            << server.Metric("reel_model_loads_total") << " loads, all succeeded\n";
}

TEST(OnDemand, AWorkerThatIsKilledLoadsAgainWhatIsAskedFor) {
  ReelServer server(
      {CardOnDemand("a") + CardOnDemand("b") + WorkerWith(2 * kWeights), {}, "", true});
  ModelCalls models(server);
  Calls calls(server.Connect());
  EXPECT_TRUE(calls.Generate(Of("b")).status.ok());
  for (const pid_t child : server.Children()) ::kill(child, SIGKILL);
  EXPECT_TRUE(models.Await("b", v1::MODEL_STATE_ON_DEMAND));
  EXPECT_TRUE(calls.Generate(Of("b")).status.ok());
}

TEST(OnDemand, UnloadedItStaysOutUntilItIsLoaded) {
  ReelServer server(
      {CardOnDemand("a") + CardOnDemand("b") + WorkerWith(2 * kWeights), {}, "", true});
  ModelCalls models(server);
  Calls calls(server.Connect());
  EXPECT_TRUE(models.Unload("b").ok());
  EXPECT_EQ(calls.Generate(Of("b")).reason(), "MODEL_UNLOADED");
  EXPECT_TRUE(models.Load("b").ok());
  EXPECT_TRUE(models.Await("b", v1::MODEL_STATE_READY));
  EXPECT_TRUE(calls.Generate(Of("a")).status.ok());
  EXPECT_EQ(models.Get("b").state(), v1::MODEL_STATE_ON_DEMAND);
}

// The demo model under two names, with memory for one.
TEST(OnDemand, RealWeightsComeAndMakeWay) {
  const std::string path = std::string(std::getenv("REEL_SOURCE")) + "/model/demo/weights";
  const auto demo = [&](const std::string& name) {
    return absl::StrCat("models { name: '", name, "' path: '", path,
                        "' dtype: 'fp32' on_demand: true }\n");
  };
  v1::VideoSpec spec = Of("one");
  spec.set_height(128);
  spec.set_num_inference_steps(2);
  int64_t weights = 0, job = 0;
  {
    ReelServer server({demo("one") + WorkerWith(int64_t{1} << 40), {}, "", true});
    weights = ModelCalls(server).Get("one").weight_bytes();
    Calls calls(server.Connect());
    job = Estimate(calls, spec).peak_memory_bytes();
  }
  ASSERT_GT(weights, 0);
  ASSERT_GT(job, 0);
  const int64_t usable = weights + weights / 2 + job;
  ReelServer server({demo("one") + demo("two") + WorkerWith(usable * 20 / 19), {}, "", true});
  ModelCalls models(server);
  Calls calls(server.Connect());
  std::set<std::string> files;
  for (const char* model : {"one", "two", "one", "two"}) {
    spec.set_model(model);
    const StreamResult made = calls.Generate(spec);
    ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    files.insert(Sha256Hex(made.file));
    const std::string other = model == std::string("one") ? "two" : "one";
    EXPECT_EQ(models.Get(other).state(), v1::MODEL_STATE_ON_DEMAND);
  }
  EXPECT_EQ(files.size(), 1u) << "loaded again it makes the same bytes";
  EXPECT_EQ(server.Metric("reel_model_put_outs_total"), 3);
}

}  // namespace
}  // namespace reel::tests
