// SPDX-License-Identifier: Apache-2.0
// Nodes of a simulated fleet in one process, or those who ask them for videos. fleet_scale.py
// starts as many as it needs, over real brokers.
//   fleet-simulation nodes  URL,URL PREFIX COUNT VIDEO_MS
//   fleet-simulation ask    URL,URL QUEUED RATE
// Each says READY, measures from SIGUSR1 on, and on SIGTERM prints its figures as one line of JSON.
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>
#include <thread>

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "server/front/fleet/subjects.h"
#include "tests/bench/fleet/simulated_node.h"

namespace reel::bench {
namespace {

constexpr int kRequestBytes = 600;
// Each waits until its request is in the log, 80 ms where three brokers are busy.
constexpr int kLeastAskers = 12, kOfEachASecond = 5;
// Of ten requests seven are the first tenant's, and one each of three others'.
constexpr const char* kTenants[] = {"flood", "b", "c", "d"};

// A request is its length: nothing of it matters here but that it is readable.
class PlainSerializer final : public front::VideoSerializer {
 public:
  std::string Serialize(const front::Video&) const override {
    return std::string(kRequestBytes, 'r');
  }
  absl::StatusOr<front::Video> Parse(std::string_view) const override {
    front::Video video;
    video.spec.model = "card";
    video.deadline = absl::InfiniteFuture();
    return video;
  }
  std::string SerializeCard(const model::ModelCard&) const override { return ""; }
  absl::StatusOr<model::ModelCard> ParseCard(std::string_view) const override {
    return absl::UnimplementedError("there are no cards here");
  }
  std::string SerializeKernels(const std::vector<kernels::OpListing>&) const override { return ""; }
  absl::StatusOr<std::vector<kernels::OpListing>> ParseKernels(std::string_view) const override {
    return absl::UnimplementedError("there are no kernels here");
  }
};

int WaitFor(const sigset_t& signals) {
  int number = 0;
  while (sigwait(&signals, &number) != 0) {
  }
  return number;
}

nlohmann::json Quantiles(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    if (values.empty()) return 0.0F;
    return values[std::min(values.size() - 1,
                           static_cast<size_t>(share * static_cast<double>(values.size())))];
  };
  return {{"n", values.size()}, {"p50", at(0.5)}, {"p99", at(0.99)}, {"most", at(1)}};
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int64_t MemoryBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

void Print(nlohmann::json figures) {
  figures["memory_bytes"] = MemoryBytes();
  std::printf("%s\n", figures.dump().c_str());
}

void Say(const char* line) {
  std::printf("%s\n", line);
  std::fflush(stdout);
}

int RunNodes(const front::FleetLogOptions& log, const std::vector<std::string>& words,
             const sigset_t& signals) {
  int count = 0, video_ms = 0;
  if (!absl::SimpleAtoi(words[1], &count) || !absl::SimpleAtoi(words[2], &video_ms)) return 2;
  const PlainSerializer serializer;
  const front::Seal seal;
  std::vector<std::unique_ptr<SimulatedNode>> nodes;
  for (int i = 0; i < count; ++i) {
    nodes.push_back(std::make_unique<SimulatedNode>(
        SimulatedNode::Settings{absl::StrCat(words[0], i), log, absl::Milliseconds(video_ms)},
        front::LoggedVideos(serializer, seal)));
    if (const absl::Status started = nodes.back()->Start(); !started.ok()) {
      std::fprintf(stderr, "%s\n", started.ToString().c_str());
      return 1;
    }
  }
  Say("READY");
  if (WaitFor(signals) != SIGUSR1) return 1;
  const double cpu_before = CpuSeconds();
  for (const auto& node : nodes) node->Measure();
  WaitFor(signals);
  const double cpu = CpuSeconds() - cpu_before;
  NodeFigures all;
  std::vector<std::thread> stops;
  Mutex mutex;
  for (const auto& node : nodes) {
    stops.emplace_back([&, one = node.get()] {
      const NodeFigures figures = one->Stop();
      const MutexLock lock(mutex);
      all.Add(figures);
    });
  }
  for (std::thread& stop : stops) stop.join();
  Print({{"nodes", count},
         {"tried", all.tried},
         {"won", all.won},
         {"lost", all.lost},
         {"unknown", all.unknown},
         {"ended", all.ended},
         {"voids", all.voids},
         {"beats", all.beats},
         {"looks", all.looks},
         {"look_ms", Quantiles(std::move(all.look_ms))},
         {"claim_ms", Quantiles(std::move(all.claim_ms))},
         {"lag_ms", Quantiles(std::move(all.lag_ms))},
         {"cpu_seconds", cpu}});
  return 0;
}

// How long videos of each tenant wait, from the log alone.
class WaitReader final : public front::LogReader {
 public:
  bool OnMessages(const std::vector<front::StoredMessage>& messages) override {
    for (const front::StoredMessage& message : messages) Read(message);
    return true;
  }
  void OnRebuild() override {}
  bool OnCaughtUp(const front::StreamFacts&) override { return true; }
  void Measure() { measuring_ = true; }
  nlohmann::json Take() {
    const MutexLock lock(mutex_);
    nlohmann::json waits;
    for (auto& [tenant, values] : waits_) waits[tenant] = Quantiles(std::move(values));
    return waits;
  }

 private:
  void Read(const front::StoredMessage& message) {
    const auto subject = front::ParseSubject(message.subject);
    const auto written = TimeOfId(message.message_id);
    if (!subject.ok() || !written) return;
    const MutexLock lock(mutex_);
    if (subject->kind == front::LogKind::kRequest) {
      asked_[{subject->tenant, subject->id}] = *written;
    } else if (subject->kind == front::LogKind::kClaim && subject->epoch == 1 && measuring_) {
      const auto asked = asked_.find({subject->tenant, subject->id});
      if (asked == asked_.end()) return;
      const double ms = absl::ToDoubleMilliseconds(*written - asked->second);
      waits_[subject->tenant].push_back(static_cast<float>(ms));
    }
  }

  std::atomic<bool> measuring_ = false;
  Mutex mutex_;
  std::map<front::FleetState::Key, absl::Time> asked_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<float>> waits_ ABSL_GUARDED_BY(mutex_);
};

// Asks at a rate, from many threads: each has its share of the moments.
class Askers {
 public:
  Askers(front::NatsPort& port, int queued, double rate)
      : port_(port),
        queued_(queued),
        rate_(rate),
        askers_(std::max(kLeastAskers, static_cast<int>(rate / kOfEachASecond))) {
    for (int i = 0; i < askers_; ++i) threads_.emplace_back([this] { Fill(); });
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void Begin() {
    began_ = absl::Now();
    for (int i = 0; i < askers_; ++i) threads_.emplace_back([this] { AskAtRate(); });
  }
  int64_t End() {
    stopping_ = true;
    for (std::thread& thread : threads_) thread.join();
    return asked_;
  }

 private:
  void Fill() {
    for (int64_t i = number_++; i < queued_; i = number_++) Ask(i);
  }
  void AskAtRate() {
    for (int64_t i = moment_++; !stopping_ && rate_ > 0; i = moment_++) {
      absl::SleepFor(began_ + absl::Seconds(static_cast<double>(i) / rate_) - absl::Now());
      if (Ask(number_++)) ++asked_;
    }
  }
  bool Ask(int64_t number) {
    const char* const tenant = kTenants[number % 10 < 7 ? 0 : number % 10 - 6];
    front::RequestSaid said;
    said.video = std::string(kRequestBytes, 'r');
    const auto subject =
        front::MakeSubject({tenant, absl::StrCat("sim-", number), front::LogKind::kRequest, 0});
    const auto written =
        port_.Write({*subject, front::WriteRequest(said), IdNow("ask", number)}, absl::Seconds(10));
    return written.ok() && written->outcome == front::WriteResult::Outcome::kWon;
  }

  front::NatsPort& port_;
  const int64_t queued_;
  const double rate_;
  const int askers_;
  absl::Time began_;
  std::atomic<int64_t> number_ = 0, moment_ = 0, asked_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

int RunAskers(const front::FleetLogOptions& log, const std::vector<std::string>& words,
              const sigset_t& signals) {
  int queued = 0;
  double rate = 0;
  if (!absl::SimpleAtoi(words[0], &queued) || !absl::SimpleAtod(words[1], &rate)) return 2;
  WaitReader reader;
  auto port = front::NatsPort::Open(log, reader);
  if (!port.ok()) {
    std::fprintf(stderr, "%s\n", port.status().ToString().c_str());
    return 1;
  }
  Askers askers(**port, queued, rate);
  Say("READY");
  if (WaitFor(signals) != SIGUSR1) return 1;
  const double cpu_before = CpuSeconds();
  const absl::Time began = absl::Now();
  reader.Measure();
  askers.Begin();
  WaitFor(signals);
  const double seconds = absl::ToDoubleSeconds(absl::Now() - began);
  const int64_t asked = askers.End();
  Print({{"asked", asked},
         {"seconds", seconds},
         {"cpu_seconds", CpuSeconds() - cpu_before},
         {"waits_ms", reader.Take()}});
  return 0;
}

int Main(int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 3), argv + argc);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (!(mode == "nodes" && words.size() == 3) && !(mode == "ask" && words.size() == 2)) {
    std::fprintf(stderr,
                 "usage: fleet-simulation nodes URL,URL PREFIX COUNT VIDEO_MS\n"
                 "       fleet-simulation ask URL,URL QUEUED RATE\n");
    return 2;
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  front::FleetLogOptions log;
  log.fleet = "sim";
  log.urls = absl::StrSplit(argv[2], ',');
  log.replicas = static_cast<int>(log.urls.size());
  log.max_bytes = 400 << 20;
  log.answer = absl::Seconds(5);
  log.connect_limit = absl::Seconds(60);
  return mode == "nodes" ? RunNodes(log, words, signals) : RunAskers(log, words, signals);
}

}  // namespace
}  // namespace reel::bench

int main(int argc, char** argv) { return reel::bench::Main(argc, argv); }
