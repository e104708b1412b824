// SPDX-License-Identifier: Apache-2.0
#include "client/bench/load_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "nlohmann/json.hpp"
#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using ::testing::HasSubstr;

class LoadRunTest : public ::testing::Test {
 protected:
  LoadRunTest() {
    ClientOptions options;
    options.server = server_.address();
    options.retry.max_attempts = 1;
    client_ = *VideoClient::Open(options);
    options_.specs.resize(1);
    options_.specs[0].set_prompt("a boat");
  }

  static std::vector<Arrival> AtOnce(size_t count) { return std::vector<Arrival>(count); }

  fakes::FakeVideoService server_;
  std::unique_ptr<VideoClient> client_;
  LoadOptions options_;
  StopSignal stop_;
};

TEST_F(LoadRunTest, EveryRequestHasItsAnswer) {
  size_t told = 0;
  options_.progress = [&told](size_t answered) { told = answered; };
  const auto answers = RunLoad(*client_, AtOnce(5), options_, stop_);
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(told, 5u);
  for (const LoadAnswer& answer : answers) {
    EXPECT_TRUE(answer.status.ok()) << answer.status;
    ASSERT_TRUE(answer.first_event.has_value());
    EXPECT_LE(*answer.first_event, answer.took);
  }
  EXPECT_TRUE(server_.asked().generates[0].without_media());
}

TEST_F(LoadRunTest, ARefusalIsAnAnswerAndNotTriedAgain) {
  fakes::Trouble refused;
  refused.end = fakes::MakeRefusal(8, "QUEUE_FULL", "The queue is full");
  server_.Play({refused});
  const auto answers = RunLoad(*client_, AtOnce(1), options_, stop_);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(server_.asked().streams, 1);
}

TEST_F(LoadRunTest, MoreThanMayBeUnderWayAreCountedNotSent) {
  options_.most_under_way = 1;
  fakes::Trouble waits;
  waits.wait_for_cancel = true;
  server_.Play({waits});
  std::vector<LoadAnswer> answers;
  std::thread run([&] { answers = RunLoad(*client_, AtOnce(3), options_, stop_); });
  server_.WaitForStreams(1);
  stop_.Stop();
  run.join();
  // A stop may come before the others are due; those that were due were not sent.
  for (const LoadAnswer& answer : answers) {
    EXPECT_TRUE(!answer.sent || absl::IsCancelled(answer.status)) << answer.status;
  }
  EXPECT_EQ(server_.asked().streams, 1);
}

using BenchCommandTest = CommandTest;

TEST_F(BenchCommandTest, PrintsATableOrJson) {
  EXPECT_EQ(Run({"bench", "a boat", "--rate", "200", "--for", "50ms", "--slo", "60s"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("all   10     10"));
  EXPECT_THAT(out_, HasSubstr("100.0%"));
  EXPECT_EQ(Run({"bench", "a boat", "--rate", "200", "--for", "50ms", "--even", "--json"}), 0);
  EXPECT_EQ(nlohmann::json::parse(out_)["ok"], 10);
}

TEST_F(BenchCommandTest, DrawsFromAMix) {
  const std::string mix = folder_ + "/mix";
  std::ofstream(mix) << R"({"prompt": "a", "width": 64, "height": 32, "numFrames": 9})" << "\n\n"
                     << R"({"prompt": "b", "num_inference_steps": 4})" << "\n";
  EXPECT_EQ(Run({"bench", "--mix", mix, "--rate", "1000", "--for", "40ms"}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("1: 64x32x9, default steps"));
  EXPECT_THAT(out_, HasSubstr("2: default shape, 4 steps"));
}

TEST_F(BenchCommandTest, SaysWhichLineOfAMixIsWrong) {
  const std::string mix = folder_ + "/mix";
  std::ofstream(mix) << R"({"prompt": "a"})" << "\n" << R"({"promt": "a"})" << "\n";
  EXPECT_EQ(Run({"bench", "--mix", mix}), 3);
  EXPECT_THAT(err_, HasSubstr("mix:2: "));
  EXPECT_EQ(Run({"bench"}), 2);
  EXPECT_THAT(err_, HasSubstr("a prompt or --mix"));
}

}  // namespace
}  // namespace reel::client
