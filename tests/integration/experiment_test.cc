// SPDX-License-Identifier: Apache-2.0
// An A/B experiment from the configuration to its verdict, by the real programs, on ltx-demo.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kLeastVideos = 20;  // an arm, before anything is said

std::string ExperimentConfig(double share) {
  return absl::StrCat("models { name: 'demo' path: '", std::getenv("REEL_SOURCE"),
                      "/model/demo/weights' dtype: 'fp32' }\n",
                      "kernel_profiles { name: 'slow-linear' base: 'auto' "
                      "variants { key: 'linear' value: 'loops' } }\n",
                      "experiments { name: 'linears' share: ", share,
                      " arms { name: 'usual' profile: 'auto' } "
                      "arms { name: 'slow' profile: 'slow-linear' } }\n");
}

v1::VideoSpec SmallSpec(const std::string& arm) {
  v1::VideoSpec spec;
  spec.set_prompt("a red circle");
  spec.set_width(128);
  spec.set_height(128);
  spec.set_num_frames(9);
  spec.set_num_inference_steps(3);
  spec.set_seed(5);
  if (!arm.empty()) {
    spec.mutable_kernels()->set_experiment("linears");
    spec.mutable_kernels()->set_arm(arm);
  }
  return spec;
}

std::string LinearOf(const v1::Video& video) {
  std::set<std::string> variants;
  for (const v1::KernelUse& use : video.stats().kernels()) {
    if (use.op() == "linear") variants.insert(use.variant());
  }
  return variants.size() == 1 ? *variants.begin() : absl::StrCat(variants.size(), " variants");
}

class ExperimentTest : public ::testing::Test {
 protected:
  v1::Video Render(const v1::VideoSpec& spec) {
    const StreamResult result = calls_.Generate(spec);
    EXPECT_TRUE(result.status.ok()) << result.status.error_message();
    return result.finished;
  }
  v1::ListExperimentsResponse List() {
    v1::ListExperimentsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(calls_.server().ListExperiments(&context, {}, &response).ok());
    return response;
  }
  std::string ReelExperiments() {
    return RunProgram(BinaryPath("reel"), {"--server", server_.address(), "experiments"}).out;
  }

  ReelServer server_{{ExperimentConfig(1), {}, "", true}};
  Calls calls_{server_.Connect()};
};

// Same prompt and seed on both arms in turn. Anything that one arm leaves behind, in a cache of
// prompts or in a graph, would show in the kernels or bytes of the other.
TEST_F(ExperimentTest, PlansNeverLeakBetweenJobs) {
  std::map<std::string, std::set<std::string>> files;
  for (int i = 0; i < 8; ++i) {
    const std::string arm = i % 2 == 0 ? "usual" : "slow";
    const v1::Video video = Render(SmallSpec(arm));
    EXPECT_EQ(LinearOf(video), i % 2 == 0 ? "aten" : "loops") << i;
    EXPECT_EQ(video.stats().experiment(), "linears");
    EXPECT_EQ(video.stats().arm(), arm);
    EXPECT_EQ(video.spec().kernels().profile(), i % 2 == 0 ? "auto" : "slow-linear");
    files[arm].insert(video.media().sha256());
  }
  EXPECT_EQ(files["usual"].size(), 1u);
  EXPECT_EQ(files["slow"].size(), 1u);
  // As by a request that names the profile itself, and takes no part.
  v1::VideoSpec named = SmallSpec("");
  named.mutable_kernels()->set_profile("slow-linear");
  const v1::Video apart = Render(named);
  EXPECT_EQ(apart.stats().arm(), "");
  EXPECT_THAT(files["slow"], ElementsAre(apart.media().sha256()));
}

TEST_F(ExperimentTest, RequestsThatAskForNothingAreDrawnByTheirId) {
  std::set<std::string> arms;
  for (int i = 0; i < 6; ++i) {
    v1::GenerateVideoRequest request;
    *request.mutable_spec() = SmallSpec("");
    request.mutable_spec()->set_num_inference_steps(1);
    request.set_request_id(absl::StrCat("00000000-0000-4000-8000-00000000000", i));
    const StreamResult result = calls_.Generate(request);
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
    const v1::Video& video = result.finished;
    EXPECT_EQ(video.stats().experiment(), "linears");
    EXPECT_EQ(LinearOf(video), video.stats().arm() == "usual" ? "aten" : "loops");
    arms.insert(video.stats().arm());
  }
  EXPECT_EQ(arms.size(), 2u);
}

TEST_F(ExperimentTest, HasNoVerdictBeforeItsVideosAndThenTheRightOne) {
  EXPECT_THAT(ReelExperiments(), HasSubstr("slow-linear"));
  for (int i = 0; i < kLeastVideos; ++i) {
    for (const char* arm : {"usual", "slow"}) Render(SmallSpec(arm));
    if (i != kLeastVideos - 2) continue;
    EXPECT_EQ(List().experiments(0).shapes(0).verdict(), v1::EXPERIMENT_VERDICT_NOT_ENOUGH_DATA);
    EXPECT_THAT(ReelExperiments(), HasSubstr("not enough data\n"));
  }
  const v1::Experiment experiment = List().experiments(0);
  EXPECT_EQ(experiment.arms(0).videos(), kLeastVideos);
  EXPECT_EQ(experiment.arms(1).videos(), kLeastVideos);
  ASSERT_EQ(experiment.shapes_size(), 1);
  EXPECT_EQ(experiment.shapes(0).verdict(), v1::EXPERIMENT_VERDICT_SECOND_SLOWER);
  EXPECT_GT(experiment.shapes(0).ratio_low(), 1);
  EXPECT_THAT(ReelExperiments(), HasSubstr("slow is slower\n"));
  EXPECT_EQ(server_.Metric("reel_experiment_requests_total",
                           "arm=\"slow\",experiment=\"linears\",outcome=\"ok\""),
            kLeastVideos);
  EXPECT_EQ(server_.Metric("reel_experiment_steps_total", "arm=\"usual\""), 3 * kLeastVideos);
}

// Of profiles whose pictures differ, so that files have to be decoded and compared.
std::string ShadowedConfig() {
  return absl::StrCat("models { name: 'demo' path: '", std::getenv("REEL_SOURCE"),
                      "/model/demo/weights' dtype: 'fp32' }\n",
                      "experiments { name: 'linears' share: 1 shadow_share: 1 ",
                      "arms { name: 'usual' profile: 'auto' } "
                      "arms { name: 'slow' profile: 'cache' } }\n");
}

// What the other arm makes of a video is compared with what its caller has, and no caller sees it.
TEST(ShadowRenders, CompareThePicturesOfBothArmsAndShowNobody) {
  ReelServer server({ShadowedConfig(), {}, "", true});
  Calls calls(server.Connect());
  const auto ended = [&](const std::string& outcome) {
    return server.Metric("reel_experiment_shadows_total", "outcome=\"" + outcome + "\"");
  };
  for (const char* arm : {"usual", "slow"}) {
    v1::VideoSpec spec = SmallSpec(arm);
    spec.set_num_inference_steps(20);
    ASSERT_TRUE(calls.Generate(spec).status.ok());
  }
  // They have what the device has to spare, which is little on a busy machine.
  ASSERT_TRUE(Eventually([&] { return ended("differs") + ended("failed") >= 2; }, 3 * kPatience));
  v1::ListExperimentsResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(calls.server().ListExperiments(&context, {}, &response).ok());
  const v1::Experiment& experiment = response.experiments(0);
  const v1::ExperimentShadows& shadows = experiment.shadows();
  EXPECT_EQ(experiment.shadow_share(), 1);
  EXPECT_EQ(shadows.differ(), 2);
  EXPECT_EQ(shadows.failed(), 0);
  EXPECT_GT(shadows.ratio(), 0);
  EXPECT_GT(shadows.lowest_psnr_db(), 20);
  EXPECT_LT(shadows.lowest_psnr_db(), 100);
  EXPECT_THAT(RunProgram(BinaryPath("reel"), {"--server", server.address(), "experiments"}).out,
              HasSubstr("RENDERED TWICE"));
  EXPECT_EQ(calls.List().size(), 2u);
  EXPECT_EQ(experiment.arms(0).videos(), 1);
  EXPECT_EQ(experiment.arms(1).videos(), 1);
  EXPECT_EQ(server.Metric("reel_experiment_requests_total", "outcome=\"ok\""), 2);
  const double charged = server.Metric("reel_tenant_gpu_seconds_total");
  const double busy = server.Metric("reel_gpu_busy_seconds_total");
  EXPECT_LT(charged, 0.8 * busy);
  std::cout << "FIGURE: 2 videos of ltx-demo rendered on both arms, auto and cache: "
            << shadows.lowest_psnr_db() << " dB apart at least; " << charged
            << " device seconds charged of " << busy << "\n";
}

TEST(ExperimentConfiguration, ThatIsWrongIsRefusedBeforeTheStart) {
  const testing::TempFolder folder;
  const std::string path =
      folder.Write("bad.textproto",
                   "experiments { name: 'e' arms { name: 'a' profile: 'auto' } "
                   "arms { name: 'b' profile: 'refrence' } }");
  const ProgramResult checked =
      RunProgram(BinaryPath("reeld"), {"--check_config", "--config", path});
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.errors + checked.out,
              HasSubstr("experiments[0].arms[1].profile: must be one of"));
  EXPECT_THAT(checked.errors + checked.out, HasSubstr("the nearest is 'reference'"));
}

}  // namespace
}  // namespace reel::tests
