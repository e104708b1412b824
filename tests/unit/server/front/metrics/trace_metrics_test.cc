// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/front/metrics/job_metrics.h"
#include "server/front/metrics/metrics.h"
#include "tests/unit/server/front/metrics/scrape.h"

namespace reel::front {
namespace {

TEST(TraceMetrics, CountEachEndFromTheStart) {
  Metrics metrics({"1", "r", {"auto"}, {}, {}});
  EXPECT_EQ(ValueOf(metrics.Text(), "reel_traces_total{result=\"lost\"}"), 0);
  metrics.traces().TracesEnded(TraceEnd::kSent, 3);
  metrics.traces().TracesEnded(TraceEnd::kFull, 1);
  metrics.traces().TracesEnded(TraceEnd::kFull, 1);
  metrics.traces().TracesEnded(TraceEnd::kRefused, 5);
  metrics.traces().SpansRefused(4);
  const std::string text = metrics.Text();
  EXPECT_EQ(ValueOf(text, "reel_traces_total{result=\"sent\"}"), 3);
  EXPECT_EQ(ValueOf(text, "reel_traces_total{result=\"full\"}"), 2);
  EXPECT_EQ(ValueOf(text, "reel_traces_total{result=\"refused\"}"), 5);
  EXPECT_EQ(ValueOf(text, "reel_trace_refused_spans_total"), 4);
}

}  // namespace
}  // namespace reel::front
