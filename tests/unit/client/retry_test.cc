// SPDX-License-Identifier: Apache-2.0
#include "client/retry.h"

#include <gtest/gtest.h>

#include <vector>

#include "client/error_details.h"
#include "tests/fakes/refusal.h"

namespace reel::client {
namespace {

double Middle() { return 0.5; }  // no jitter

class RetrierTest : public testing::Test {
 protected:
  RetrierTest() {
    options_.initial_backoff = absl::Microseconds(100);
    options_.max_backoff = absl::Microseconds(350);
    options_.max_server_delay = absl::Milliseconds(50);
    options_.on_retry = [this](const absl::Status&, absl::Duration pause) {
      pauses_.push_back(pause);
    };
  }

  static absl::Status Received(const fakes::Refusal& refusal) {
    return MakeStatus(refusal.status.code(), "", refusal.status.SerializeAsString());
  }

  RetryOptions options_;
  StopSignal stop_;
  std::vector<absl::Duration> pauses_;
  const Failure away_{absl::UnavailableError("away"), std::nullopt};
};

TEST_F(RetrierTest, DoublesPausesUpToTheLongestAndThenGivesUp) {
  options_.max_attempts = 5;
  Retrier retrier(options_, stop_, Middle);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(retrier.AfterFailedCall(away_).ok());
  EXPECT_EQ(retrier.AfterFailedCall(away_), away_.status);
  EXPECT_EQ(pauses_,
            (std::vector<absl::Duration>{absl::Microseconds(100), absl::Microseconds(200),
                                         absl::Microseconds(350), absl::Microseconds(350)}));
}

TEST_F(RetrierTest, TriesACallAgainForUnavailableOnly) {
  Retrier retrier(options_, stop_, Middle);
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status = Received(fakes::MakeRefusal(code, "ANY_REASON", ""));
    const bool again = retrier.AfterFailedCall({status, std::nullopt}).ok();
    EXPECT_EQ(again, code == 14) << status;
  }
}

TEST_F(RetrierTest, TriesACallAgainThatAServerCutInItsLastMoment) {
  Retrier retrier(options_, stop_, Middle);
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status = MakeStatus(code, "", "");  // of the transport: it gives no reason
    const bool again = retrier.AfterFailedCall({status, std::nullopt}).ok();
    EXPECT_EQ(again, code == 1 || code == 14) << status;
  }
  stop_.Stop();
  const Failure ours{absl::CancelledError(""), std::nullopt};
  EXPECT_EQ(retrier.AfterFailedCall(ours), ours.status);
}

TEST_F(RetrierTest, JoinsABrokenStreamAgainUnlessTheServerSaidWhy) {
  const absl::Status cut = absl::CancelledError("");
  EXPECT_TRUE(IsBroken(cut));
  EXPECT_FALSE(IsBroken(Received(fakes::MakeRefusal(1, "CANCELLED_BY_OWNER", ""))));
  EXPECT_TRUE(IsBroken(absl::InternalError("RST_STREAM")));
  EXPECT_FALSE(IsBroken(Received(fakes::MakeRefusal(13, "NUMERICAL_FAULT", ""))));
  EXPECT_TRUE(IsBroken(Received(fakes::MakeRefusal(14, "SERVER_DRAINING", ""))));
  EXPECT_FALSE(IsBroken(absl::DeadlineExceededError("")));
  EXPECT_FALSE(IsBroken(absl::DataLossError("")));
}

TEST_F(RetrierTest, WaitsAsLongAsTheServerAsks) {
  fakes::Refusal refusal = fakes::MakeRefusal(14, "QUEUE_FULL", "");
  Retrier retrier(options_, stop_, Middle);
  EXPECT_TRUE(retrier.AfterFailedCall({Received(fakes::AddRetryInfo(refusal, 3)), {}}).ok());
  EXPECT_TRUE(retrier.AfterFailedCall({away_.status, absl::Milliseconds(2)}).ok());
  EXPECT_EQ(pauses_, (std::vector<absl::Duration>{absl::Milliseconds(3), absl::Milliseconds(2)}));
}

TEST_F(RetrierTest, ReturnsTheAnswerWhenTheServerForbidsOrAsksForTooLong) {
  Retrier retrier(options_, stop_, Middle);
  EXPECT_FALSE(retrier.AfterFailedCall({away_.status, absl::Milliseconds(-1)}).ok());
  EXPECT_FALSE(retrier.AfterFailedCall({away_.status, absl::Seconds(1)}).ok());
  EXPECT_TRUE(pauses_.empty());
}

TEST_F(RetrierTest, BeginsAnewAfterProgress) {
  options_.max_resumes = 2;
  Retrier retrier(options_, stop_, Middle);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(retrier.AfterBrokenStream(away_).ok());
    EXPECT_TRUE(retrier.AfterBrokenStream(away_).ok());
    retrier.Progress();
  }
}

TEST_F(RetrierTest, EndsAPauseWhenStopped) {
  options_.initial_backoff = options_.max_backoff = absl::Hours(1);
  options_.on_retry = [this](const absl::Status&, absl::Duration) { stop_.Stop(); };
  Retrier retrier(options_, stop_, Middle);
  EXPECT_FALSE(retrier.AfterFailedCall(away_).ok());
}

}  // namespace
}  // namespace reel::client
