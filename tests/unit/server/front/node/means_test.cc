// SPDX-License-Identifier: Apache-2.0
// Tests which servers can run a video that names its kernels, and who may ask for one.
#include "server/front/node/means.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/front/node/fleet_fixture.h"

namespace reel::front {
namespace {

using MeansTest = FleetFixture;

NewJob WithKernel(Member& at, const std::string& variant) {
  NewJob job = at.Request();
  job.spec.kernels.variants = {{"rms_norm", variant}};
  return job;
}

TEST_F(MeansTest, AGatewayJudgesKernelsByWhatTheBeatsOfOthersSay) {
  Member& gateway = Add("gateway", false);
  EXPECT_EQ(ReasonOf(gateway.Ask(WithKernel(gateway, "fast")).status()), Reason::kModelNotReady);
  Member& a = Add("a");
  ASSERT_TRUE(Comes([&] { return gateway.Ask(WithKernel(gateway, "fast")).ok(); }));
  ASSERT_EQ(WhoRuns(), &a);
  EXPECT_EQ(a.Take().assignment.spec.kernels.variants.at("rms_norm"), "fast");
  EXPECT_EQ(ReasonOf(gateway.Ask(WithKernel(gateway, "sm90")).status()),
            Reason::kKernelUnavailable);
  EXPECT_EQ(ReasonOf(gateway.Ask(WithKernel(gateway, "none")).status()), Reason::kUnknownKernel);
  // What no living server has is not known any more.
  a.Kill();
  Pass(absl::Seconds(7));
  EXPECT_EQ(ReasonOf(gateway.Ask(WithKernel(gateway, "fast")).status()), Reason::kModelNotReady);
}

TEST_F(MeansTest, AServerClaimsOnlyWhatItsKernelsCanRun) {
  Member& a = Add("a");
  Member& b = Add("b", false);
  WorkerInfo other = ReadyWorker("w0");
  other.kernels = {{"rms_norm", {{"slow", "built-in", true, true, ""}}}};
  b.dispatcher->WorkerChanged(other);
  b.Load("w0", TestCard());
  Pass(absl::Seconds(2));
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(b.Ask(WithKernel(b, "fast")).ok());
    ASSERT_EQ(WhoRuns(), &a);
    a.RunToEnd(a.Take());
  }
  EXPECT_EQ(b.pool.num_waiting(), 0);
}

TEST_F(MeansTest, AServerClaimsOnlyWhatItHasTheAdaptersOf) {
  model::ModelCard card = TestCard();
  card.adapter_ranks = 64;
  const auto registered = [](const std::string& sum) {
    return std::vector<RegisteredAdapter>{{{.name = "grain", .sha256 = sum, .path = "/l"}, {}}};
  };
  Member& a = Add("a");
  Member& b = Add("b");
  a.Load("w0", card);
  b.Load("w0", card);
  a.dispatcher->SetAdapters(registered("same"));
  b.dispatcher->SetAdapters(registered("other"));
  Pass(absl::Seconds(2));
  NewJob job = a.Request();
  job.spec.adapters = {{"grain", {}}};
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(a.Ask(job).ok());
    ASSERT_EQ(WhoRuns(), &a);
    a.RunToEnd(a.Take());
  }
  EXPECT_EQ(b.pool.num_waiting(), 0);
}

}  // namespace
}  // namespace reel::front
