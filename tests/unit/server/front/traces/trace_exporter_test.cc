// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/trace_exporter.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/server/front/traces/fake_collector.h"

namespace reel::front {
namespace {

using Outcome = SendResult::Outcome;

constexpr absl::Duration kLong = absl::Hours(1);

TraceExporterOptions Quick() {
  TraceExporterOptions options;
  options.gather = absl::ZeroDuration();
  options.first_pause = absl::Milliseconds(1);
  options.longest_pause = absl::Milliseconds(2);
  return options;
}

Trace Named(const std::string& name) {
  Span span;
  span.name = name;
  return {span};
}

struct Site {
  explicit Site(TraceExporterOptions options = Quick())
      : exporter(std::make_unique<TraceExporter>(std::move(options), collector, counts)) {}
  ~Site() {
    collector.Open();
    exporter.reset();
  }
  FakeCollector collector;
  TraceCounts counts;
  std::unique_ptr<TraceExporter> exporter;
};

TEST(TraceExporter, SendsWhatItIsGiven) {
  Site site;
  site.exporter->Add(Named("first"));
  const auto bodies = site.collector.Await(1);
  EXPECT_NE(bodies.at(0).find("\"first\""), std::string::npos);
  EXPECT_EQ(site.counts.Await(TraceEnd::kSent, 1), 1);
}

TEST(TraceExporter, GathersUntilABatchIsFull) {
  TraceExporterOptions options = Quick();
  options.gather = kLong;
  options.most_sent = 3;
  Site site(options);
  for (const char* name : {"a", "b", "c"}) site.exporter->Add(Named(name));
  EXPECT_EQ(site.collector.Await(1).size(), 1U);
  EXPECT_EQ(site.counts.Await(TraceEnd::kSent, 3), 3);
}

TEST(TraceExporter, NobodyWaitsForACollectorThatHangsAndWhatIsTooMuchIsCounted) {
  TraceExporterOptions options = Quick();
  options.most_waiting = 5;
  options.most_sent = 1;
  Site site(options);
  site.collector.Close();
  site.exporter->Add(Named("held"));
  site.collector.AwaitCalls(1);  // it is being sent
  for (int i = 0; i < 12; ++i) site.exporter->Add(Named("more"));
  EXPECT_EQ(site.counts.Of(TraceEnd::kFull), 7);
  site.collector.Open();
  EXPECT_EQ(site.counts.Await(TraceEnd::kSent, 6), 6);
}

TEST(TraceExporter, TriesTheSameAgainUntilItIsTaken) {
  Site site;
  site.collector.AnswerNext({Outcome::kLater, Outcome::kLater, Outcome::kTaken});
  site.exporter->Add(Named("a"));
  const auto bodies = site.collector.Await(3);
  EXPECT_EQ(bodies.at(0), bodies.at(2));
  EXPECT_EQ(site.counts.Await(TraceEnd::kSent, 1), 1);
}

TEST(TraceExporter, WhatIsRefusedIsNotTriedAgain) {
  Site site;
  site.collector.AnswerNext({Outcome::kRefused, Outcome::kTaken});
  site.exporter->Add(Named("bad"));
  EXPECT_EQ(site.counts.Await(TraceEnd::kRefused, 1), 1);
  site.exporter->Add(Named("good"));
  EXPECT_EQ(site.counts.Await(TraceEnd::kSent, 1), 1);
  const auto bodies = site.collector.Await(2);
  ASSERT_EQ(bodies.size(), 2U);
  EXPECT_EQ(bodies[1].find("\"bad\""), std::string::npos);
}

TEST(TraceExporter, SpansThatWereLeftOutAreCountedAndNotSentAgain) {
  Site site;
  site.collector.LeaveOut(3);
  site.exporter->Add(Named("most of it"));
  EXPECT_EQ(site.counts.Await(TraceEnd::kSent, 1), 1);
  EXPECT_EQ(site.counts.refused_spans(), 3);
  EXPECT_EQ(site.collector.Await(1).size(), 1U);
}

TEST(TraceExporter, TheEndSendsWhatWaits) {
  TraceExporterOptions options = Quick();
  options.gather = kLong;
  Site site(options);
  site.exporter->Add(Named("last"));
  site.exporter.reset();
  EXPECT_EQ(site.counts.Of(TraceEnd::kSent), 1);
  EXPECT_TRUE(site.collector.hurried());
}

TEST(TraceExporter, TheEndDoesNotWaitForACollectorThatIsAway) {
  TraceExporterOptions options = Quick();
  options.first_pause = options.longest_pause = kLong;
  options.most_sent = 1;
  Site site(options);
  site.collector.AnswerNext({Outcome::kLater});
  site.exporter->Add(Named("a"));
  site.collector.Await(1);
  for (int i = 0; i < 4; ++i) site.exporter->Add(Named("b"));
  site.exporter.reset();  // else for an hour
  EXPECT_EQ(site.counts.Of(TraceEnd::kLost), 5);
  EXPECT_EQ(site.counts.Of(TraceEnd::kSent), 0);
  EXPECT_EQ(site.collector.Await(1).size(), 1U);
}

}  // namespace
}  // namespace reel::front
