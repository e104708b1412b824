// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/metrics/call_metrics.h"
#include "server/front/metrics/metrics.h"
#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

std::string Requests(const char* mode, const char* outcome, const char* profile) {
  return std::string("reel_requests_total{mode=\"") + mode + "\",outcome=\"" + outcome +
         "\",profile=\"" + profile + "\"}";
}

TEST(RefusalMetrics, InvalidAndRejectedAreToldApart) {
  Metrics metrics({"1", "r", {"auto"}, {}});
  metrics.calls().RequestRefused(MakeError(Reason::kInvalidRequest, "x"), false);
  metrics.jobs().JobRefused(MakeError(Reason::kQueueFull, "x"), true);
  metrics.jobs().JobRefused(MakeError(Reason::kQueueFull, "x"), false);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_rejections_total{reason=\"QUEUE_FULL\"}"), 2);
  EXPECT_EQ(ValueOf(text, "reel_rejections_total{reason=\"INVALID_REQUEST\"}"), 1);
  EXPECT_EQ(ValueOf(text, "reel_rejections_total{reason=\"TENANT_QUOTA\"}"), 0);
  EXPECT_EQ(ValueOf(text, Requests("stream", "invalid", "none")), 1);
  EXPECT_EQ(ValueOf(text, Requests("stream", "rejected", "none")), 1);
  EXPECT_EQ(ValueOf(text, Requests("async", "rejected", "none")), 1);
}

TEST(RefusalMetrics, EndsOfJobsAreNoRefusals) {
  Metrics metrics({"1", "r", {"auto"}, {}});
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_rejections_total{reason=\"WORKER_LOST\"}"), -1);
}

}  // namespace
}  // namespace reel::front
