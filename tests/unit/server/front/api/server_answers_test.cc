// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/server_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/fakes/fake_job_service.h"

namespace reel::front {
namespace {

TEST(ServerAnswers, TellWhatTheServerIs) {
  FakeJobService jobs;
  WorkerInfo worker;
  worker.name = "cpu";
  worker.state = WorkerState::kReady;
  jobs.SetWorkers({worker});
  ServedModel served;
  served.card.name = "testcard";
  served.is_default = true;
  jobs.SetModels({served});
  ServerFacts facts{"1.2.3", "abc", std::chrono::steady_clock::now(), RequestRules()};
  facts.max_jobs = {{"small", 3}};
  const ServerAnswers answers(jobs, facts);
  v1::GetServerInfoResponse info;
  answers.FillInfo(info, "small");
  EXPECT_EQ(info.limits().max_jobs_per_tenant(), 3);
  info.Clear();
  answers.FillInfo(info, "another");
  EXPECT_EQ(info.version(), "1.2.3");
  ASSERT_EQ(info.workers_size(), 1);
  EXPECT_EQ(info.workers(0).state(), v1::WORKER_STATE_READY);
  EXPECT_EQ(info.workers(0).running(), 1);
  EXPECT_EQ(info.limits().max_jobs_per_tenant(), 256);
  v1::ListModelsResponse models;
  answers.FillModels(models);
  ASSERT_EQ(models.models_size(), 1);
  EXPECT_TRUE(models.models(0).is_default());
}

TEST(ServerAnswers, TellWhichPresetsRefineAClip) {
  FakeJobService jobs;
  ServedModel served;
  for (const char* const name : {"quick", "two-step", "two-pass"}) {
    served.card.presets.emplace_back().name = name;
  }
  served.card.presets[1].passes.resize(2);
  served.card.presets[2].passes.resize(2);
  served.card.presets[2].passes[1].timesteps = {900, 500};
  jobs.SetModels({served});
  v1::ListModelsResponse models;
  ServerAnswers(jobs, {"1", "r", std::chrono::steady_clock::now(), RequestRules()})
      .FillModels(models);
  ASSERT_EQ(models.models_size(), 1);
  EXPECT_EQ(models.models(0).presets_size(), 3);
  EXPECT_THAT(models.models(0).refining_presets(), ::testing::ElementsAre("two-pass"));
}

TEST(ServerAnswers, TellWhatExperimentsHaveShown) {
  FakeJobService jobs;
  ExperimentReport report;
  report.options = {"norms", "ltx", 0.1, {{"old", "auto", 0.75}, {"new", "mine", 0.25}}};
  report.arms = {{30, 1}, {10, 0}};
  ExperimentShape shape{"ltx", 64, 32, 9, {Moments(), Moments()}, Ratio{0.5, 0.4, 0.6}, {}};
  shape.log_step[0].Add(std::log(0.25));
  shape.verdict = ExperimentVerdict::kSecondFaster;
  report.shapes = {shape};
  report.options.shadow_share = 0.2;
  report.shadows.differ = 2;
  report.shadows.given_up = 4;
  report.shadows.lowest_psnr_db = 38;
  report.shadows.lowest_ssim = 0.9;
  for (const double psnr_db : {38, 42}) {
    report.shadows.psnr_db.Add(psnr_db);
    report.shadows.log_ratio.Add(std::log(2));
  }
  jobs.SetExperiments({report});
  const ServerAnswers answers(jobs, {"1", "r", std::chrono::steady_clock::now(), RequestRules()});
  v1::ListExperimentsResponse response;
  answers.FillExperiments(response);
  ASSERT_EQ(response.experiments_size(), 1);
  const v1::Experiment& experiment = response.experiments(0);
  EXPECT_EQ(experiment.name(), "norms");
  EXPECT_EQ(experiment.model(), "ltx");
  EXPECT_EQ(experiment.share(), 0.1);
  ASSERT_EQ(experiment.arms_size(), 2);
  EXPECT_EQ(experiment.arms(1).name(), "new");
  EXPECT_EQ(experiment.arms(1).profile(), "mine");
  EXPECT_EQ(experiment.arms(1).share(), 0.25);
  EXPECT_EQ(experiment.arms(0).videos(), 30);
  EXPECT_EQ(experiment.arms(0).failed(), 1);
  ASSERT_EQ(experiment.shapes_size(), 1);
  const v1::ExperimentShape& shown = experiment.shapes(0);
  EXPECT_EQ(shown.num_frames(), 9);
  EXPECT_EQ(shown.arms(0).videos(), 1);
  EXPECT_EQ(shown.arms(0).step().nanos(), 250'000'000);
  EXPECT_FALSE(shown.arms(1).has_step());
  EXPECT_EQ(shown.ratio(), 0.5);
  EXPECT_EQ(shown.ratio_low(), 0.4);
  EXPECT_EQ(shown.ratio_high(), 0.6);
  EXPECT_EQ(shown.verdict(), v1::EXPERIMENT_VERDICT_SECOND_FASTER);
  EXPECT_EQ(experiment.shadow_share(), 0.2);
  EXPECT_EQ(experiment.shadows().differ(), 2);
  EXPECT_EQ(experiment.shadows().given_up(), 4);
  EXPECT_EQ(experiment.shadows().psnr_db(), 40);
  EXPECT_EQ(experiment.shadows().lowest_psnr_db(), 38);
  EXPECT_EQ(experiment.shadows().lowest_ssim(), 0.9);
  EXPECT_NEAR(experiment.shadows().ratio(), 2, 1e-9);
}

}  // namespace
}  // namespace reel::front
