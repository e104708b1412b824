// SPDX-License-Identifier: Apache-2.0
// Short and long videos of two tenants that arrive at random, below and above what the device can
// do. Compares how long they take and how many meet their deadlines with a server that runs one
// after the other. Minutes long, so by hand: ctest --test-dir build/release -L soak
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr absl::Duration kEach = absl::Seconds(30);
constexpr unsigned kRuns = 2;  // in each order, in turn
constexpr absl::Duration kStep = absl::Milliseconds(10);
// Long videos take eight times as long as short ones; one of five is long.
constexpr int kShortSteps = 4, kLongSteps = 32;
constexpr absl::Duration kShortDeadline = absl::Seconds(5), kLongDeadline = absl::Seconds(15);
// Whether videos share steps. Shared ones cost what they cost alone, or a fifth of it for each
// video but the first.
struct Sharing {
  const char* name;
  int per_extra_job_nanos;
  int64_t fill_rows;
  double goodput;  // this share of what the device can do is done in time, at least
};
constexpr Sharing kAlone = {"Alone", 10'000'000, 1, 0.8};
constexpr Sharing kShared = {"Shared", 2'000'000, 8192, 0.65};

std::string TokenFile(const testing::TempFolder& folder) {
  std::string tokens;
  for (const std::string name : {"a", "b"}) {
    tokens += absl::StrCat(Sha256Hex(name), " ", name, " user\n");
  }
  const std::string file = folder.Write("tokens", tokens + Sha256Hex("root") + " root admin\n");
  ::chmod(file.c_str(), 0600);
  return file;
}

// By one caller; confined to one thread.
class MixedCaller {
 public:
  MixedCaller(const ReelServer& server, std::string tenant, unsigned seed)
      : stub_(v1::VideoService::NewStub(server.Connect())),
        tenant_(std::move(tenant)),
        random_(seed) {}

  // At `rate` a second on average, whether or not earlier ones are answered.
  void Arrive(double rate) {
    std::exponential_distribution<double> pause(rate);
    const absl::Time end = absl::Now() + kEach;
    for (absl::Time due = absl::Now(); due < end; due += absl::Seconds(pause(random_))) {
      absl::SleepFor(due - absl::Now());
      Create();
    }
  }
  // As fast as the device goes: a few always wait.
  void Saturate(absl::Time end) {
    while (absl::Now() < end) {
      if (!Create()) absl::SleepFor(absl::Milliseconds(50));
    }
  }
  int offered() const { return offered_; }
  int refused() const { return refused_; }

 private:
  bool Create() {
    const bool is_long = random_() % 5 == 0;
    v1::CreateVideoRequest request;
    *request.mutable_spec() = SmallSpec("x", random_());
    request.mutable_spec()->set_num_inference_steps(is_long ? kLongSteps : kShortSteps);
    const absl::Duration deadline = is_long ? kLongDeadline : kShortDeadline;
    request.mutable_timeout()->set_seconds(absl::ToInt64Seconds(deadline));
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + tenant_);
    v1::CreateVideoResponse response;
    const bool taken = stub_->CreateVideo(&context, request, &response).ok();
    ++offered_;
    refused_ += taken ? 0 : 1;
    return taken;
  }

  const std::unique_ptr<v1::VideoService::Stub> stub_;
  const std::string tenant_;
  std::mt19937 random_;
  int offered_ = 0, refused_ = 0;
};

absl::Duration At(const std::vector<absl::Duration>& sorted, double share) {
  if (sorted.empty()) return absl::ZeroDuration();
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// Of those that succeeded, from the call to the end, sorted; as an admin sees them.
std::vector<absl::Duration> TookOf(const ReelServer& server, bool is_long) {
  const auto stub = v1::VideoService::NewStub(server.Connect());
  std::vector<absl::Duration> took;
  v1::ListVideosRequest request;
  request.add_states(v1::VIDEO_STATE_SUCCEEDED);
  request.set_page_size(200);
  do {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer root");
    v1::ListVideosResponse page;
    const grpc::Status listed = stub->ListVideos(&context, request, &page);
    EXPECT_TRUE(listed.ok()) << listed.error_message();
    for (const v1::Video& video : page.videos()) {
      if ((video.spec().num_inference_steps() == kLongSteps) != is_long) continue;
      const auto seconds = video.end_time().seconds() - video.create_time().seconds();
      const auto nanos = video.end_time().nanos() - video.create_time().nanos();
      took.push_back(absl::Seconds(seconds) + absl::Nanoseconds(nanos));
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  std::ranges::sort(took);
  return took;
}

// `order`: "steps", or "fifo", against which it is held.
ServerSetup MixedSetup(const testing::TempFolder& folder, const Sharing& sharing,
                       const std::string& order) {
  ServerSetup setup;
  setup.config = absl::StrCat(
      "models { name: 'testcard' test_card { step_time { nanos: ", absl::ToInt64Nanoseconds(kStep),
      " } step_time_per_extra_job { nanos: ", sharing.per_extra_job_nanos,
      " } decode_time_per_frame { nanos: 10000 } } }\nscheduler { fill_rows: ", sharing.fill_rows,
      " order: '", order, "' }\nauth { tokens_file: '", TokenFile(folder),
      "' tenants { name: 'a' } tenants { name: 'b' } }");
  return setup;
}

// Videos of the mixture a second, by a device that never wants for one.
double CapacityOf(const testing::TempFolder& folder, const Sharing& sharing) {
  ReelServer server(MixedSetup(folder, sharing, "steps"));
  MixedCaller caller(server, "a", 1);
  caller.Saturate(absl::Now() + absl::Seconds(10));
  const double before = server.Metric("reel_requests_total", "outcome=\"ok\"");
  const absl::Time start = absl::Now();
  caller.Saturate(start + absl::Seconds(20));
  return (server.Metric("reel_requests_total", "outcome=\"ok\"") - before) /
         absl::ToDoubleSeconds(absl::Now() - start);
}

// Of all runs in one order together.
struct MixedFigures {
  int offered = 0, refused = 0;
  std::vector<absl::Duration> brief, lengthy;  // sorted

  double met() const { return static_cast<double>(brief.size() + lengthy.size()); }
  double seconds_of_videos() const {
    const auto steps =
        static_cast<double>(kShortSteps * brief.size() + kLongSteps * lengthy.size());
    return steps * absl::ToDoubleSeconds(kStep);
  }
};

// The same arrivals in each order.
void RunMixed(const ServerSetup& setup, double rate, unsigned seed, MixedFigures& figures) {
  ReelServer server(setup);
  MixedCaller a(server, "a", seed), b(server, "b", seed + 1);
  std::thread other([&] { b.Arrive(rate / 2); });
  a.Arrive(rate / 2);
  other.join();
  EXPECT_TRUE(Eventually([&] {
    return server.Metric("reel_queue_depth") + server.Metric("reel_inflight_requests") == 0;
  }));
  figures.offered += a.offered() + b.offered();
  figures.refused += a.refused() + b.refused();
  for (const absl::Duration took : TookOf(server, false)) figures.brief.push_back(took);
  for (const absl::Duration took : TookOf(server, true)) figures.lengthy.push_back(took);
  std::ranges::sort(figures.brief);
  std::ranges::sort(figures.lengthy);
}

void Print(const std::string& order, double load, double rate, const MixedFigures& figures) {
  const auto& [offered, refused, brief, lengthy] = figures;
  std::cout << "FIGURE " << order << ", " << rate << " videos a second (" << 100 * load
            << " % of capacity), " << offered << " in all, " << refused << " refused: short p50 "
            << At(brief, 0.5) << ", p95 " << At(brief, 0.95) << "; long p50 " << At(lengthy, 0.5)
            << ", p95 " << At(lengthy, 0.95) << "; deadlines met by "
            << 100 * figures.met() / offered << " % of all, "
            << 100 * figures.met() / (offered - refused) << " % of those taken; "
            << figures.seconds_of_videos() / absl::ToDoubleSeconds(kRuns * kEach)
            << " s of steps of finished videos a second\n";
}

class MixedLoad : public ::testing::TestWithParam<std::tuple<double, Sharing>> {};

TEST_P(MixedLoad, OfTwoTenantsMeetsItsDeadlinesOrIsRefused) {
  const auto& [load, sharing] = GetParam();
  const testing::TempFolder folder;
  const double capacity = CapacityOf(folder, sharing);
  const double rate = load * capacity;
  MixedFigures steps, fifo;
  for (unsigned run = 0; run < kRuns; ++run) {
    RunMixed(MixedSetup(folder, sharing, "steps"), rate, 2 + 2 * run, steps);
    RunMixed(MixedSetup(folder, sharing, "fifo"), rate, 2 + 2 * run, fifo);
  }
  Print(absl::StrCat(sharing.name, ", steps"), load, rate, steps);
  Print(absl::StrCat(sharing.name, ", fifo"), load, rate, fifo);
  const double gain = absl::FDivDuration(At(fifo.brief, 0.95), At(steps.brief, 0.95));
  std::cout << "FIGURE short ones' p95 in fifo order is " << gain << " times as long\n";
  // What was let in is done in time, but for a few.
  EXPECT_GE(steps.met(), 0.9 * (steps.offered - steps.refused));
  EXPECT_GE(steps.met() / steps.offered, fifo.met() / fifo.offered);
  EXPECT_GE(gain, 1);
  // More than the device can do costs nothing of what it can.
  const double goodput = steps.met() / absl::ToDoubleSeconds(kRuns * kEach);
  std::cout << "FIGURE " << sharing.name << ": " << goodput << " videos in time a second, of "
            << capacity << " that the device can do\n";
  EXPECT_GE(goodput, sharing.goodput * std::min(1.0, load) * capacity);
  // Arrivals by chance: below capacity few are refused.
  if (load < 1) {
    EXPECT_LE(steps.refused, 0.1 * steps.offered);
  }
}

std::string NameOf(const ::testing::TestParamInfo<MixedLoad::ParamType>& info) {
  return absl::StrCat(std::get<1>(info.param).name, "At", 100 * std::get<0>(info.param), "Percent");
}

INSTANTIATE_TEST_SUITE_P(OfCapacity, MixedLoad,
                         ::testing::Combine(::testing::Values(0.7, 1.3),
                                            ::testing::Values(kAlone, kShared)),
                         NameOf);

}  // namespace
}  // namespace reel::tests
