// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/metrics/metrics.h"
#include "server/front/metrics/worker_metrics.h"
#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

void SetModels(Metrics& metrics, std::vector<ModelGauges> models) {
  QueueGauges gauges;
  gauges.models = std::move(models);
  metrics.jobs().Gauges(gauges);
}

TEST(ModelMetrics, FollowModelsAsTheyComeAndGo) {
  Metrics metrics({"1", "r", {}, {}});
  SetModels(metrics, {{"ltx"}, {"gone"}});
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_model_ready{model=\"ltx\"}"), 0);
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_queue_age_seconds{model=\"ltx\"}"), 0);
  EXPECT_EQ(metrics.Text().find("reel_model_info{"), std::string::npos);
  model::ModelCard card;
  card.weights_sha256 = "0123456789abcdef";
  card.calls = {{"linear", "bf16", 64}};
  SetModels(metrics, {{"ltx", &card, true, 2.5}});
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_model_ready{model=\"ltx\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_queue_age_seconds{model=\"ltx\"}"), 2.5);
  EXPECT_EQ(ValueOf(text, "reel_model_info{dtype=\"bf16\",model=\"ltx\",weights=\"0123456789ab\"}"),
            1);
  EXPECT_EQ(text.find("gone"), std::string::npos);
  // New weights under the same name.
  card.weights_sha256 = "fedcba9876543210";
  SetModels(metrics, {{"ltx", &card, true, 0}});
  EXPECT_EQ(metrics.Text().find("0123456789ab"), std::string::npos);
  EXPECT_NE(metrics.Text().find("fedcba987654"), std::string::npos);
}

}  // namespace
}  // namespace reel::front
