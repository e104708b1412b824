// SPDX-License-Identifier: Apache-2.0
// A long life with everything that goes wrong, mixed: workers and servers killed, stopped and
// replaced, models replaced by good and by broken ones, callers who leave, bad numbers. Nothing may
// end in a way that what was done to it does not explain. By hand:
//   REEL_MINUTES=120 REEL_SEED=1 ctest --test-dir build/release -L soak -R chaos_test -V
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using Random = std::mt19937;

constexpr int kCallers = 6;
constexpr int kDefaultMinutes = 10;
constexpr int64_t kMiB = 1 << 20;

unsigned NumberFrom(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  unsigned number = 0;
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number : otherwise;
}

std::string Config(int step_ms, bool broken = false) {
  std::string config =
      absl::StrCat("models { name: 'testcard' test_card { step_time { nanos: ", step_ms * 1'000'000,
                   " } faults { kind: 'nan' step: 1 prompt_contains: 'nan' }"
                   " faults { kind: 'oom' step: 1 prompt_contains: 'oom' }");
  // Refused by the canary: the model that is there serves on.
  if (broken) absl::StrAppend(&config, " faults { kind: 'nan' step: 0 }");
  return absl::StrCat(config, " } }\nworkers { name: 'a' device: 'cpu' }\n",
                      "workers { name: 'b' device: 'cpu' }\n");
}

// A server that is replaced now and then, on the same data.
class Site {
 public:
  struct Now {
    std::shared_ptr<grpc::Channel> channel;
    int life = 0;   // which server
    int kills = 0;  // of workers so far
  };

  Site() { Start(); }

  // Waits while one is replaced.
  Now Await() {
    std::unique_lock lock(mutex_);
    started_.wait(lock, [&] { return channel_ != nullptr; });
    return {channel_, life_, kills_};
  }
  Now now() {
    std::lock_guard lock(mutex_);
    return {channel_, life_, kills_};
  }
  // Ends it by the signal, and starts the next one.
  void Replace(int signal) {
    {
      std::lock_guard lock(mutex_);
      ++life_;
      channel_.reset();
    }
    server_->Signal(signal);
    EXPECT_TRUE(server_->WaitForExit(absl::Minutes(1)).ok());
    Start();
  }
  void KillWorker(unsigned which) {
    const std::vector<pid_t> workers = server_->Children();
    if (workers.empty()) return;
    {
      std::lock_guard lock(mutex_);
      ++kills_;
    }
    ::kill(workers[which % workers.size()], SIGKILL);
  }
  ReelServer& server() { return *server_; }

 private:
  void Start() {
    server_.reset();
    ServerSetup setup;
    setup.config = Config(10);
    setup.data_folder = folder_.File("data");
    server_ = std::make_unique<ReelServer>(setup);
    std::lock_guard lock(mutex_);
    channel_ = server_->Connect();
    started_.notify_all();
  }

  const testing::TempFolder folder_;
  std::unique_ptr<ReelServer> server_;  // of the thread that does harm
  std::mutex mutex_;
  std::condition_variable started_;
  std::shared_ptr<grpc::Channel> channel_;
  int life_ = 0, kills_ = 0;
};

class Tally {
 public:
  void Count(const std::string& what) {
    std::lock_guard lock(mutex_);
    ++counts_[what];
  }
  std::string Text() {
    std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [what, count] : counts_) absl::StrAppend(&text, ", ", count, " ", what);
    return text.empty() ? text : text.substr(2);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> counts_;
};

unsigned Below(Random& random, unsigned bound) { return static_cast<unsigned>(random() % bound); }

struct Wish {
  v1::GenerateVideoRequest request;
  bool leaves = false;
};

Wish RandomWish(Random& random) {
  Wish wish;
  const unsigned kind = Below(random, 20);
  v1::VideoSpec& spec = *wish.request.mutable_spec();
  spec = SmallSpec(kind == 0 ? "nan" : kind == 1 ? "oom" : "a red fox", random());
  spec.set_num_inference_steps(1 + static_cast<int>(Below(random, 40)));
  spec.set_num_frames(kind % 2 == 0 ? 9 : 25);
  wish.leaves = kind == 2 || kind == 3;
  return wish;
}

// How the call ended; "unexplained ..." for what nothing that was done accounts for.
std::string Judge(const Wish& wish, const StreamResult& result, const Site::Now& before,
                  const Site::Now& after) {
  if (!result.faults.empty()) return "unexplained: " + result.faults.front();
  const std::string& prompt = wish.request.spec().prompt();
  if (result.status.ok() && result.is_finished) {
    const bool whole = Sha256Hex(result.file) == result.finished.media().sha256();
    return whole ? "done" : "unexplained: another file";
  }
  const std::string reason = result.reason();
  if (wish.leaves && result.status.error_code() == grpc::StatusCode::CANCELLED) return "left";
  if (prompt == "nan" && reason == "NUMERICAL_FAULT") return "with bad numbers";
  if (prompt == "oom" && reason == "OUT_OF_DEVICE_MEMORY") return "out of memory";
  if (before.life != after.life) return "cut by a server's end";
  const bool twice = after.kills - before.kills >= 2;
  if (twice && reason == "WORKER_LOST") return "lost with two workers";
  if (twice && reason == "SHAPE_QUARANTINED") return "quarantined";
  return absl::StrCat("unexplained: ", reason, " ", result.status.error_message());
}

void Call(Site& site, const std::atomic<bool>& over, unsigned seed, Tally& tally) {
  Random random(seed);
  while (!over) {
    const Site::Now before = site.Await();
    const Wish wish = RandomWish(random);
    int events = 0;
    const StreamResult result =
        Calls(before.channel).Generate(wish.request, [&](const v1::VideoEvent&) {
          return !wish.leaves || ++events < 5;
        });
    const std::string end = Judge(wish, result, before, site.now());
    tally.Count(end);
    EXPECT_EQ(end.find("unexplained"), std::string::npos) << end << ", caller's seed " << seed;
  }
}

// One thing that goes wrong.
void Harm(Site& site, Random& random, Tally& harm) {
  const unsigned kind = Below(random, 12);
  if (kind == 0) {
    harm.Count("servers killed");
    site.Replace(SIGKILL);
  } else if (kind == 1) {
    harm.Count("servers replaced");
    site.Replace(SIGTERM);
  } else if (kind <= 4) {
    harm.Count("workers killed");
    site.KillWorker(Below(random, 2));
  } else if (kind <= 7) {
    harm.Count("workers stopped for a while");
    const std::vector<pid_t> workers = site.server().Children();
    for (const pid_t worker : workers) ::kill(worker, SIGSTOP);
    absl::SleepFor(absl::Milliseconds(Below(random, 3000)));
    for (const pid_t worker : workers) ::kill(worker, SIGCONT);
  } else {
    harm.Count(kind == 8 ? "broken models offered" : "models replaced");
    site.server().Reconfigure(Config(5 + static_cast<int>(Below(random, 10)), kind == 8));
  }
}

TEST(Chaos, NothingEndsUnexplained) {
  const absl::Duration length = absl::Minutes(NumberFrom("REEL_MINUTES", kDefaultMinutes));
  const unsigned seed = NumberFrom("REEL_SEED", std::random_device{}());
  std::cout << "seed " << seed << ", " << length << std::endl;
  Site site;
  Tally ends, harm;
  std::atomic<bool> over = false;
  std::vector<std::thread> callers;
  for (unsigned i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] { Call(site, over, seed + 1 + i, ends); });
  }
  Random random(seed);
  const absl::Time start = absl::Now();
  absl::Time told = start;
  while (absl::Now() - start < length && !::testing::Test::HasFailure()) {
    absl::SleepFor(absl::Milliseconds(500 + Below(random, 4500)));  // between two harms
    Harm(site, random, harm);
    if (absl::Now() - told < absl::Minutes(1)) continue;
    told = absl::Now();
    std::cout << "after " << absl::Trunc(told - start, absl::Seconds(1)) << ": reeld "
              << site.server().MemoryBytes() / kMiB << " MiB, " << ends.Text() << std::endl;
  }
  over = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_TRUE(Eventually([&] { return site.server().Metric("reel_inflight_requests") == 0; }));
  std::cout << "FIGURE " << absl::Trunc(absl::Now() - start, absl::Seconds(1)) << ", seed " << seed
            << ": " << harm.Text() << "; videos: " << ends.Text() << "; reeld "
            << site.server().MemoryBytes() / kMiB << " MiB at the end\n";
}

}  // namespace
}  // namespace reel::tests
