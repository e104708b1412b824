// SPDX-License-Identifier: Apache-2.0
// The promises of every kind of log to a node: one over a broker, and one in SQLite.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/front/fleet/embedded_log.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/nats_port.h"
#include "tests/fakes/temp_folder.h"
#include "tests/integration/nats_cluster.h"
#include "tests/unit/server/front/fleet/history_messages.h"

namespace reel::tests {
namespace {

using front::EmbeddedLog;
using front::ExpectedLog;
using front::FleetView;
using front::LogPort;
using front::LogWrite;
using front::WriteOf;
using front::WriteResult;
using Outcome = WriteResult::Outcome;

constexpr absl::Duration kSoon = absl::Seconds(20);

enum class Kind { kEmbedded, kNats };

LogWrite RequestOf(int video, const std::string& id) {
  return {absl::StrCat("j.t.v", video, ".q"), "", id};
}

class LogPromisesTest : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::kNats && NatsServerPath().empty()) {
      GTEST_SKIP() << "SKIPPED: no nats-server here; deploy/build/setup --fleet installs it";
    }
    Begin();
  }
  void TearDown() override { port_.reset(); }

  // A process, and another one after it.
  void Begin() {
    port_.reset();
    const bool is_embedded = GetParam() == Kind::kEmbedded;
    view_ = std::make_unique<FleetView>(
        front::ViewOptions{folder_.File("view.db"), "", nullptr, is_embedded});
    if (is_embedded) {
      auto opened = EmbeddedLog::Open(*view_);
      ASSERT_TRUE(opened.ok()) << opened.status();
      port_ = *std::move(opened);
      return;
    }
    if (cluster_ == nullptr) cluster_ = std::make_unique<NatsCluster>(1);
    front::FleetLogOptions options;
    options.urls = cluster_->urls();
    options.fleet = "prod";
    options.max_bytes = 64 << 20;
    ASSERT_TRUE(Eventually([&] {
      auto opened = front::NatsPort::Open(options, *view_);
      if (opened.ok()) port_ = *std::move(opened);
      return port_ != nullptr;
    }));
    ASSERT_TRUE(view_->WaitUntilReady(kSoon));
  }
  WriteResult Write(const LogWrite& write) {
    const auto result = port_->Write(write, kSoon);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : WriteResult{};
  }

  static void Show(int writers, absl::Duration took,
                   const std::vector<std::vector<absl::Duration>>& waits) {
    std::vector<absl::Duration> all;
    for (const auto& some : waits) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    std::cout << "FIGURE " << writers << " writers: "
              << std::lround(static_cast<double>(all.size()) / absl::ToDoubleSeconds(took))
              << " writes/s, p50 " << all[all.size() / 2] << ", p99 " << all[all.size() * 99 / 100]
              << "\n";
  }

  static constexpr int kEach = 200;
  testing::TempFolder folder_;
  std::unique_ptr<NatsCluster> cluster_;
  std::unique_ptr<FleetView> view_;
  std::unique_ptr<LogPort> port_;
};

TEST_P(LogPromisesTest, ASubjectIsWonOnceAndTheLoserIsTold) {
  const WriteResult won = Write(RequestOf(1, "mine"));
  EXPECT_EQ(won.outcome, Outcome::kWon);
  EXPECT_TRUE(view_->WaitFor(won.sequence, kSoon));
  EXPECT_TRUE(view_->Find("t", "v1").has_value());
  // The same attempt again, whose answer was lost: still one's own.
  LogWrite again = RequestOf(1, "mine");
  again.repeated = true;
  EXPECT_EQ(Write(again).outcome, Outcome::kWon);
  EXPECT_EQ(Write(again).sequence, won.sequence);
  LogWrite rival = RequestOf(1, "rival");
  EXPECT_EQ(Write(rival).outcome, Outcome::kLost);
  rival.repeated = true;
  EXPECT_EQ(Write(rival).outcome, Outcome::kLost);
  EXPECT_EQ(*port_->Newest(), won.sequence);
}

TEST_P(LogPromisesTest, WhatIsWrittenIsJudgedInOneOrderAndFoundAgain) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  front::Random random(seed);
  ExpectedLog expected;
  for (int part = 0; part < 3; ++part) {
    const front::History history = front::RandomHistory(random);
    for (size_t i = 0; i < history.size(); ++i) {
      const LogWrite write = WriteOf(history[i], absl::StrCat(part, ".", i));
      const WriteResult result = Write(write), right = expected.Write(write);
      ASSERT_EQ(result.outcome, right.outcome) << "seed " << seed;
      ASSERT_EQ(result.sequence, right.sequence) << "seed " << seed;
    }
    ASSERT_TRUE(view_->WaitFor(expected.messages.size(), kSoon));
    ASSERT_EQ(view_->state(), expected.state()) << "seed " << seed;
    Begin();
    EXPECT_EQ(view_->Start().position, expected.messages.size());
    ASSERT_EQ(view_->state(), expected.state()) << "seed " << seed;
  }
}

TEST_P(LogPromisesTest, RacersForOneSubjectHaveOneWinner) {
  constexpr size_t kRacers = 4, kRounds = 50;
  std::vector<std::atomic<int>> winners(kRounds);
  std::vector<std::thread> racers;
  for (size_t i = 0; i < kRacers; ++i) {
    racers.emplace_back([&, i] {
      for (size_t round = 0; round < kRounds; ++round) {
        const LogWrite write = RequestOf(static_cast<int>(round), absl::StrCat(i, ".", round));
        if (Write(write).outcome == Outcome::kWon) ++winners[round];
      }
    });
  }
  for (std::thread& racer : racers) racer.join();
  for (size_t round = 0; round < kRounds; ++round) EXPECT_EQ(winners[round], 1) << round;
  EXPECT_TRUE(view_->WaitFor(kRounds, kSoon));
  EXPECT_EQ(view_->state().jobs.size(), kRounds);
  EXPECT_EQ(*port_->Newest(), kRounds);
}

TEST_P(LogPromisesTest, BeatsOfItsOwnAreHeardAndNotStored) {
  front::NodeBeat beat;
  beat.node = "n1";
  EXPECT_TRUE(Eventually([&] {
    port_->SendBeat("n1", WriteBeat(beat));
    const std::vector<std::string> heard = port_->TakeBeats();
    return !heard.empty() && heard.front() == WriteBeat(beat);
  }));
  EXPECT_EQ(*port_->Newest(), 0U);
}

// On the disk of temporary files; each writer waits for its answer.
TEST_P(LogPromisesTest, WritersAtOnceAreAllAnsweredAndFolded) {
  int written = 0;
  for (const int writers : {1, 16}) {
    std::vector<std::vector<absl::Duration>> waits(static_cast<size_t>(writers));
    std::vector<std::thread> threads;
    const absl::Time begun = absl::Now();
    for (int writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&, writer] {
        for (int i = 0; i < kEach; ++i) {
          const int video = written + writer * kEach + i;
          LogWrite write = RequestOf(video, absl::StrCat(video));
          write.payload = front::WriteRequest({std::string(1000, 'v')});
          const absl::Time asked = absl::Now();
          EXPECT_EQ(Write(write).outcome, Outcome::kWon);
          waits[static_cast<size_t>(writer)].push_back(absl::Now() - asked);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    written += writers * kEach;
    Show(writers, absl::Now() - begun, waits);
  }
  EXPECT_EQ(*port_->Newest(), static_cast<uint64_t>(written));
  ASSERT_TRUE(view_->WaitFor(static_cast<uint64_t>(written), kSoon));
  EXPECT_EQ(view_->state().jobs.size(), static_cast<size_t>(written));
}

INSTANTIATE_TEST_SUITE_P(Embedded, LogPromisesTest, ::testing::Values(Kind::kEmbedded));
INSTANTIATE_TEST_SUITE_P(Nats, LogPromisesTest, ::testing::Values(Kind::kNats));

}  // namespace
}  // namespace reel::tests
