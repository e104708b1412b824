// SPDX-License-Identifier: Apache-2.0
// A fleet's log while everything fails: three brokers and four nodes, killed and paused at random.
// Every claim is won by one node, all views are equal, nothing that was acknowledged is lost. A
// longer one:
//   REEL_MINUTES=10 REEL_SEED=1 ctest --test-dir build/release -L soak -R fleet_storm_soak -V
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/nats_port.h"
#include "tests/fakes/memory_records.h"
#include "tests/integration/fleet_text.h"
#include "tests/integration/nats_cluster.h"

namespace reel::tests {
namespace {

using front::FleetLog;
using front::FleetView;

constexpr int kServers = 3, kNodes = 4;
// A storm in which fewer videos were begun and done has shown nothing.
constexpr int kLeastBegun = 30, kLeastDone = 10;

unsigned NumberFrom(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  unsigned number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

// All that the stream has, and a view of it.
class WholeLog final : public front::LogReader {
 public:
  bool OnMessages(const std::vector<front::StoredMessage>& messages) override {
    for (const front::StoredMessage& message : messages) messages_[message.sequence] = message;
    return view.OnMessages(messages);
  }
  void OnRebuild() override {
    ++rebuilt_;
    view.OnRebuild();
  }
  bool OnCaughtUp(const front::StreamFacts& facts) override { return view.OnCaughtUp(facts); }

  // Of the tail's thread, and of the test's once that is at its end.
  const std::map<uint64_t, front::StoredMessage>& messages() const { return messages_; }
  int rebuilt() const { return rebuilt_; }

  FleetView view;

 private:
  std::map<uint64_t, front::StoredMessage> messages_;
  int rebuilt_ = 0;
};

class Storm {
 public:
  explicit Storm(unsigned seed) : random_(seed), cluster_(kServers) {
    options_.urls = cluster_.urls();
    options_.fleet = "storm";
    options_.replicas = kServers;
    options_.max_bytes = 256 << 20;
    log_ = Open(live_);
    for (int i = 0; i < kNodes; ++i) StartNode(i);
    for (const auto& node : nodes_) {
      EXPECT_TRUE(Eventually([&] { return Has(*node, "READY\n"); })) << node->Errors();
    }
  }

  // For as long as told, and on a busy machine until there is enough to check.
  void Blow(absl::Duration time) {
    const absl::Time end = absl::Now() + time, latest = end + kPatience;
    while (absl::Now() < end || (absl::Now() < latest && !HasEnough())) {
      switch (random_() % 6) {
        case 0:
          KillServer();
          break;
        case 1:
          PauseServer();
          break;
        case 2:
          KillNode();
          break;
        default:
          PauseNode();
          break;
      }
      Rest(200, 800);
    }
  }

  // A leader at least: which one is it changes with every run.
  void KillEachServerOnce() {
    for (int i = 0; i < kServers; ++i) {
      cluster_.Kill(i);
      Rest(100, 500);
      cluster_.Start(i);
      Rest(500, 1000);
    }
    kills_ += kServers;
  }

  void Check() {
    for (const auto& node : nodes_) node->Signal(SIGTERM);
    for (const auto& node : nodes_) {
      EXPECT_TRUE(Eventually([&] { return Has(*node, "STOPPED\n"); })) << node->Errors();
    }
    for (const auto& node : nodes_) node->Signal(SIGINT);
    for (const auto& node : nodes_) {
      const auto status = node->WaitForExit();
      EXPECT_TRUE(status.ok() && *status == 0) << node->Errors();
    }
    absl::StatusOr<front::StreamFacts> facts = log_->connection().Look();
    ASSERT_TRUE(Eventually([&] { return (facts = log_->connection().Look()).ok(); }));
    ASSERT_TRUE(live_.view.WaitFor(facts->last, kPatience));
    WholeLog fresh;
    {
      const auto log = Open(fresh);
      ASSERT_TRUE(fresh.view.WaitFor(facts->last, kPatience));
    }
    EXPECT_EQ(fresh.messages().size(), facts->last);  // none is left out
    EXPECT_EQ(live_.view.state(), fresh.view.state());
    EXPECT_EQ(live_.rebuilt(), 0);
    CheckWords(fresh, FingerprintOf(fresh.view.state()));
  }

 private:
  std::unique_ptr<FleetLog> Open(front::LogReader& reader) {
    std::unique_ptr<FleetLog> log;
    std::string why;
    EXPECT_TRUE(Eventually([&] {
      auto opened = FleetLog::Open(options_, {}, reader);
      if (opened.ok()) log = *std::move(opened);
      why = opened.status().ToString();
      return log != nullptr;
    })) << why;
    return log;
  }

  static bool Has(const Program& program, const std::string& text) {
    return program.Out().find(text) != std::string::npos;
  }

  // Lines of all nodes, also of those that were killed, that begin with this word.
  int Count(const std::string& word) const {
    int count = 0;
    for (const auto* lives : {&nodes_, &ended_}) {
      for (const auto& node : *lives) {
        for (const absl::string_view line : absl::StrSplit(node->Out(), '\n')) {
          count += absl::StartsWith(line, word);
        }
      }
    }
    return count;
  }
  bool HasEnough() const { return Count("MINE ") > kLeastBegun && Count("DONE ") > kLeastDone; }

  void StartNode(int i) {
    auto node = std::make_unique<Program>(
        BinaryPath("../tests/fleet-node"),
        std::vector<std::string>{absl::StrCat("n", i), absl::StrCat(random_()),
                                 absl::StrJoin(options_.urls, ",")});
    if (static_cast<size_t>(i) < nodes_.size()) {
      ended_.push_back(std::exchange(nodes_[static_cast<size_t>(i)], std::move(node)));
    } else {
      nodes_.push_back(std::move(node));
    }
  }

  // What the storm is made of, and no wait for anything.
  void Rest(unsigned least_ms, unsigned most_ms) {
    absl::SleepFor(absl::Milliseconds(least_ms + random_() % (most_ms - least_ms)));
  }

  void KillServer() {
    ++kills_;
    const int one = static_cast<int>(random_() % kServers);
    // Two of three now and then: nothing can be written meanwhile.
    const int two = random_() % 4 == 0 ? (one + 1) % kServers : one;
    cluster_.Kill(one);
    if (two != one) cluster_.Kill(two);
    Rest(200, 1500);
    cluster_.Start(one);
    if (two != one) cluster_.Start(two);
  }
  void PauseServer() {
    ++pauses_;
    const int one = static_cast<int>(random_() % kServers);
    cluster_.Pause(one);
    Rest(300, 2500);
    cluster_.Resume(one);
  }
  void KillNode() {
    ++node_kills_;
    const auto one = static_cast<size_t>(random_() % kNodes);
    nodes_[one]->Signal(SIGKILL);
    EXPECT_TRUE(nodes_[one]->WaitForExit().ok());
    StartNode(static_cast<int>(one));
    EXPECT_TRUE(Eventually([&] { return Has(*nodes_[one], "READY\n"); })) << nodes_[one]->Errors();
  }
  void PauseNode() {
    ++node_pauses_;
    const auto one = static_cast<size_t>(random_() % kNodes);
    nodes_[one]->Signal(SIGSTOP);
    Rest(300, 2500);
    nodes_[one]->Signal(SIGCONT);
  }

  struct Words {
    int acks = 0, mine = 0, done = 0, unknown = 0, settled = 0, won = 0, views = 0, holes = 0;
    std::set<std::string> begun, succeeded;
    std::string fingerprint;  // that all must say
  };

  void CheckWords(const WholeLog& whole, const std::string& fingerprint) {
    Words words;
    words.fingerprint = fingerprint;
    const auto winners = WinnersOf(whole);
    for (const auto* lives : {&nodes_, &ended_}) {
      for (const auto& node : *lives) Hear(node->Out(), lives == &nodes_, whole, winners, words);
    }
    EXPECT_EQ(words.views, kNodes) << "views differ from " << fingerprint;
    std::cout << "FIGURE " << whole.messages().size() << " messages, " << winners.size()
              << " claims counted, " << words.mine << " begun, " << words.done << " videos done; "
              << words.acks << " acknowledged, 0 lost; " << words.unknown << " unknown, of which "
              << words.won << " were won; " << words.holes << " holes; servers: " << kills_
              << " kills, " << pauses_ << " pauses; nodes: " << node_kills_ << " kills, "
              << node_pauses_ << " pauses\n";
    EXPECT_GT(words.mine, kLeastBegun);
    EXPECT_GT(words.done, kLeastDone);
  }

  // Who claimed which epoch, by the judge alone.
  static std::map<std::string, std::string> WinnersOf(const WholeLog& whole) {
    std::map<std::string, std::string> winners;
    front::FleetState state;
    for (const auto& [sequence, message] : whole.messages()) {
      const front::FoldEntry entry = front::ReadEntry(message);
      if (reel::testing::Fold(state, entry) != front::FoldVerdict::kCounted) continue;
      const auto* const claim = std::get_if<front::ClaimSaid>(&entry.said);
      if (claim == nullptr) continue;
      const std::string epoch =
          absl::StrCat(entry.subject.tenant, "/", entry.subject.id, " ", entry.subject.epoch);
      EXPECT_TRUE(winners.emplace(epoch, claim->node).second) << epoch << " was won twice";
    }
    return winners;
  }

  void Hear(const std::string& out, bool alive, const WholeLog& whole,
            const std::map<std::string, std::string>& winners, Words& words) {
    std::istringstream lines(out);
    std::set<std::string> open;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream parts(line);
      std::string word, first, second, third;
      parts >> word >> first >> second >> third;
      if (word == "BAD") ADD_FAILURE() << line;
      if (word == "ACK") {
        ++words.acks;
        const auto found = whole.messages().find(std::stoull(first));
        EXPECT_TRUE(found != whole.messages().end() && found->second.message_id == second)
            << "acknowledged and lost: " << line;
      }
      if (word == "MINE") {
        ++words.mine;
        const std::string epoch = absl::StrCat(first, " ", second);
        EXPECT_TRUE(words.begun.insert(epoch).second) << "begun twice: " << line;
        const auto winner = winners.find(epoch);
        EXPECT_TRUE(winner != winners.end() && winner->second == third) << "not its own: " << line;
      }
      if (word == "DONE") {
        ++words.done;
        EXPECT_TRUE(words.succeeded.insert(first).second) << "delivered twice: " << line;
      }
      if (word == "UNKNOWN") {
        ++words.unknown;
        open.insert(first);
      }
      if (word == "SETTLED") {
        ++words.settled;
        words.won += second == "won";
        open.erase(first);
      }
      if (word == "HOLES") words.holes += std::stoi(first);
      if (word == "VIEW") words.views += first == words.fingerprint;
    }
    if (alive) {
      EXPECT_TRUE(open.empty()) << *open.begin() << " was never settled";
    }
  }

  std::mt19937 random_;
  NatsCluster cluster_;
  front::FleetLogOptions options_;
  WholeLog live_;
  std::unique_ptr<FleetLog> log_;  // tells live_
  std::vector<std::unique_ptr<Program>> nodes_, ended_;
  int kills_ = 0, pauses_ = 0, node_kills_ = 0, node_pauses_ = 0;
};

void RunStorm(absl::Duration time) {
  if (NatsServerPath().empty()) {
    GTEST_SKIP() << "SKIPPED: no nats-server here; deploy/build/setup --fleet installs it";
  }
  const unsigned seed = NumberFrom("REEL_SEED", std::random_device{}());
  std::cout << "seed " << seed << "\n";
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  Storm storm(seed);
  if (::testing::Test::HasFailure()) return;
  storm.Blow(time);
  storm.KillEachServerOnce();
  storm.Check();
}

TEST(FleetStorm, EveryClaimIsWonOnceAndNothingAcknowledgedIsLost) { RunStorm(absl::Seconds(8)); }

TEST(Long, AFleetStormOfMinutes) { RunStorm(absl::Minutes(NumberFrom("REEL_MINUTES", 10))); }

}  // namespace
}  // namespace reel::tests
