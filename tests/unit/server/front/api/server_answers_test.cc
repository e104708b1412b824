// SPDX-License-Identifier: Apache-2.0
#include "server/front/api/server_answers.h"

#include <gtest/gtest.h>

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
  const ServerAnswers answers(jobs,
                              {"1.2.3", "abc", std::chrono::steady_clock::now(), RequestRules()});
  v1::GetServerInfoResponse info;
  answers.FillInfo(info);
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

}  // namespace
}  // namespace reel::front
