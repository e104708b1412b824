// SPDX-License-Identifier: Apache-2.0
// Kills, freezes and replaces a fleet's servers and freezes its store, while callers stream and
// thousands of videos wait. The order comes from a seed that is printed. The long form by hand,
// with the seed of a run to repeat:
//   REEL_MINUTES=10 REEL_SEED=1 ctest --test-dir build/release -L soak -R fleet_chaos_soak -V
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/numbers.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/nats_port.h"
#include "tests/integration/fleet_whole_site.h"

namespace reel::tests {
namespace {

constexpr const char* kNodes[] = {"n1", "n2", "n3"};
constexpr const char* kGateways[] = {"g1", "g2"};
constexpr int kStepMs = 20;
constexpr int kMakers = 8;
// What a node renders at a time, and one that waits; with room for a busy machine.
constexpr int kMostHeld = 16;
constexpr absl::Duration kToTheEnd = absl::Minutes(4);

unsigned NumberFrom(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  unsigned number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

class FleetChaosTest : public FleetWholeSite {
 protected:
  void Begin() {
    seed_ = NumberFrom("REEL_SEED", std::random_device{}());
    random_.seed(seed_);
    std::cout << "seed " << seed_ << "\n";
    callers_ask_nodes_ = false;
    more_config_ =
        "scheduler { max_queued_jobs: 10000 max_backlog_seconds: 7200 }\n"
        "auth { tenants { name: 'default' max_jobs: 10000 } }\n";
    BeginStores(1);
    for (const char* const node : kNodes) StartNode(node, kStepMs);
    for (const char* const gateway : kGateways) StartGateway(gateway);
    front::FleetLogOptions options;
    options.urls = cluster_->urls();
    options.fleet = "prod";
    options.max_bytes = 64 << 20;
    auto opened = front::FleetLog::Open(options, {}, view_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    log_ = *std::move(opened);
  }

  // Asks for videos of which nobody waits for a stream, each until it is taken.
  void Queue(int count) {
    std::atomic<int> left = count;
    std::vector<std::thread> makers;
    for (size_t i = 0; i < kMakers; ++i) {
      makers.emplace_back([&, i] {
        for (size_t hint = i; left-- > 0;) Make(hint);
      });
    }
    for (std::thread& maker : makers) maker.join();
  }
  void Make(size_t& hint) {
    v1::CreateVideoRequest request;
    *request.mutable_spec() = Clip(15);
    request.set_request_id(NewRequestId());
    const absl::Time end = absl::Now() + kToTheEnd;
    while (absl::Now() < end) {
      const std::string address = addresses_.Pick(hint++);
      if (address.empty()) continue;
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
      v1::CreateVideoResponse response;
      const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
      const grpc::Status made =
          v1::VideoService::NewStub(channel)->CreateVideo(&context, request, &response);
      if (!made.ok()) continue;
      const std::lock_guard lock(mutex_);
      names_.insert(response.video().name());
      return;
    }
    ADD_FAILURE() << "a video was never taken";
  }

  int Draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  absl::Duration Between(int least_ms, int most_ms) {
    return absl::Milliseconds(least_ms + Draw(most_ms - least_ms));
  }
  // One of the day's blows; all of them are drawn from the seed alone.
  void Strike() {
    const int kind = Draw(6);
    const std::string node = kNodes[Draw(3)], gateway = kGateways[Draw(2)];
    const absl::Duration time = Between(500, 6000), rest = Between(200, 1500);
    const std::string& victim = kind % 2 == 0 ? node : gateway;
    disturbed_ += kind < 4 && victim == node ? 1 : 0;
    switch (kind) {
      case 0:
      case 1:
        Tell("kill", victim);
        Kill(victim);
        absl::SleepFor(rest);
        Restart(victim);
        break;
      case 2:
      case 3:
        Tell("freeze", absl::StrCat(victim, " for ", absl::FormatDuration(time)));
        At(victim).Signal(SIGSTOP);
        absl::SleepFor(time);  // the blow is that long
        At(victim).Signal(SIGCONT);
        break;
      case 4:
        Tell("freeze", absl::StrCat("the store for ", absl::FormatDuration(time)));
        store_->Pause();
        absl::SleepFor(time);
        store_->Resume();
        break;
      default:
        Tell("replace", node);
        ++disturbed_;
        Replace(node);
    }
    absl::SleepFor(rest);
  }
  void Tell(const char* what, const std::string& whom) {
    std::cout << ++strikes_ << ": " << what << " " << whom << std::endl;  // as it happens
  }

  void ReplaceAll() {
    for (const char* const server : {"g1", "n1", "g2", "n2", "n3"}) {
      disturbed_ += server[0] == 'n' ? 1 : 0;
      Replace(server);
    }
  }

  int Waiting() {
    int waiting = 0;
    for (const auto& [key, job] : view_.state().jobs) waiting += HasEnded(job.phase) ? 0 : 1;
    return waiting;
  }
  // By the log, which is what counts.
  void ExpectAllDoneOnce(const CallersReport& report) {
    for (const std::string& name : report.names) names_.insert(name);
    EXPECT_TRUE(Eventually([&] { return Waiting() == 0; }, kToTheEnd)) << Waiting() << " wait";
    const front::FleetState state = view_.state();
    EXPECT_EQ(state.jobs.size(), names_.size());
    int lost = 0, failed = 0, claimed_again = 0, most_claims = 0;
    for (const std::string& name : names_) {
      const auto found = state.jobs.find({"default", name.substr(sizeof "videos/" - 1)});
      if (found == state.jobs.end()) {
        ++lost;
        continue;
      }
      const front::FleetJob& job = found->second;
      failed += job.phase == front::FleetPhase::kSucceeded ? 0 : 1;
      claimed_again += static_cast<int>(job.epoch) - 1;
      most_claims = std::max(most_claims, static_cast<int>(job.epoch));
    }
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(failed, 0);
    // Only a blow at its node has a video claimed once more, and a node has no more than a few.
    EXPECT_LE(most_claims, 1 + disturbed_);
    EXPECT_LE(claimed_again, kMostHeld * disturbed_);
    const size_t objects = ExpectObjects(state);
    std::cout << "FIGURE seed " << seed_ << ": " << names_.size() << " videos, " << strikes_
              << " blows and one rolling restart; lost " << lost << ", failed " << failed
              << ", claimed again " << claimed_again << " (one video at most " << most_claims
              << " times), results of lost claims " << objects - names_.size() << "\n";
  }
  // Each success has its result, and a second result is of a claim that was lost.
  size_t ExpectObjects(const front::FleetState& state) {
    const std::vector<std::string> keys = store_->Keys("prod/media/");
    const std::set<std::string> known(keys.begin(), keys.end());
    std::map<std::string, uint32_t> results;
    for (const std::string& key : keys) {
      const std::string video = key.substr(0, key.rfind('/'));
      ++results[video.substr(video.rfind('/') + 1)];
    }
    for (const auto& [key, job] : state.jobs) {
      EXPECT_TRUE(known.contains(job.object)) << key.second << ": " << job.object;
      EXPECT_LE(results[key.second], job.epoch) << key.second;
    }
    return keys.size();
  }

  void HostileDay(absl::Duration time, int queued) {
    Begin();
    if (HasFailure()) return;
    SCOPED_TRACE(absl::StrCat("seed ", seed_));
    FleetCallers callers(addresses_, 2, Clip(20));
    const absl::Time end = absl::Now() + time;
    while (absl::Now() < end && !HasFailure()) {
      Queue(10);
      Strike();
    }
    const absl::Time began = absl::Now();
    Queue(queued);
    std::cout << "FIGURE " << Waiting() << " videos wait " << absl::Now() - began
              << " after the first of " << queued << ", and all servers are replaced\n";
    ReplaceAll();
    std::cout << "FIGURE " << Waiting() << " wait when they are\n";
    const CallersReport report = callers.Stop();
    ExpectNoFaults(report);
    ExpectAllDoneOnce(report);
  }

 private:
  unsigned seed_ = 0;
  std::mt19937 random_;
  front::FleetView view_;
  std::unique_ptr<front::FleetLog> log_;
  std::mutex mutex_;
  std::set<std::string> names_;  // of videos that were taken
  int strikes_ = 0;
  int disturbed_ = 0;  // blows at nodes
};

using Long = FleetChaosTest;

TEST_F(FleetChaosTest, NothingIsLostOrRenderedTwiceForNothing) {
  HostileDay(absl::Seconds(20), 100);
}
TEST_F(Long, TwoThousandWaitWhileAllIsReplacedAfterMinutesOfBlows) {
  HostileDay(absl::Minutes(NumberFrom("REEL_MINUTES", 5)), 2000);
}

}  // namespace
}  // namespace reel::tests
