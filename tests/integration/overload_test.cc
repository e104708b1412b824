// SPDX-License-Identifier: Apache-2.0
// More work than the device can do: what is too much is refused at once, what is taken gets done,
// and a tenant who floods does not take from another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/video_client.h"
#include "tests/integration/calls.h"
#include "tests/integration/open_loop.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

absl::Duration Percentile(std::vector<absl::Duration> values, double share) {
  if (values.empty()) return absl::ZeroDuration();
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

// A device that steps one job at a time, so that its capacity is known: 25 small jobs a second. And
// a job's latency depends on the order alone: a shared step takes longer than that of one job.
constexpr char kDevice[] = R"(models { name: "testcard" test_card {
    step_time { nanos: 10000000 } decode_time_per_frame { nanos: 10000 } } }
    scheduler { max_queued_jobs: 40 fill_rows: 1 }
)";
// A device that does four small jobs a second one at a time, and 20 when sixteen share their steps.
constexpr char kSharedDevice[] = R"(models { name: "testcard" test_card {
    step_time { nanos: 60000000 } step_time_per_extra_job { nanos: 9000000 }
    decode_time_per_frame { nanos: 10000 } } }
    scheduler { max_queued_jobs: 40 }
)";

v1::VideoSpec Job(int steps = 4) {
  v1::VideoSpec spec = SmallSpec("x");
  spec.set_width(64);
  spec.set_height(64);
  spec.set_num_inference_steps(steps);
  return spec;
}

double Done(const ReelServer& server) {
  return server.Metric("reel_requests_total", "outcome=\"ok\"");
}

// Jobs done a second over a while, with some work always waiting.
double Capacity(ReelServer& server, absl::Duration duration) {
  OpenLoop callers({server.Connect()}, "");
  callers.Run(Job(), 100, absl::Milliseconds(500));
  const double before = Done(server);
  const absl::Time start = absl::Now();
  callers.Run(Job(), 50, duration);
  return (Done(server) - before) / absl::ToDoubleSeconds(absl::Now() - start);
}

struct OverloadCase {
  const char* device = kDevice;
  absl::Duration duration;
  double share;                                     // of what the device can do gets done
  absl::Duration refusal = absl::Milliseconds(50);  // 99 of 100 come in this time
  absl::Duration capacity_look = absl::Seconds(2);  // how long it is measured, before and after
};

void Overload(const OverloadCase& the) {
  ServerSetup setup;
  setup.config = the.device;
  ReelServer server(setup);
  const double before_it = Capacity(server, the.capacity_look);
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < 8; ++i) channels.push_back(server.Connect());
  OpenLoop callers(channels, "");
  const double before = Done(server);
  const absl::Time start = absl::Now();
  callers.Run(Job(), 10 * before_it, the.duration);
  const double goodput = (Done(server) - before) / absl::ToDoubleSeconds(absl::Now() - start);
  std::vector<absl::Duration> refusals;
  size_t taken = 0;
  for (const OpenLoop::Answer& answer : callers.answers()) {
    if (answer.refusal.empty()) {
      ++taken;
      continue;
    }
    EXPECT_EQ(answer.refusal, "QUEUE_FULL");
    refusals.push_back(answer.took);
  }
  // Of a machine with other work: what it could do at either end of the flood.
  ASSERT_TRUE(Eventually([&] { return server.Metric("reel_queue_depth") == 0; }));
  const double capacity = std::min(before_it, Capacity(server, the.capacity_look));
  std::cout << "FIGURE " << 10 * before_it << " jobs a second for " << the.duration
            << " where the device does " << capacity << ": " << goodput << " done a second, "
            << taken << " taken, " << refusals.size() << " refused, median "
            << Percentile(refusals, 0.5) << ", p99 " << Percentile(refusals, 0.99) << "\n";
  EXPECT_GT(refusals.size(), 5 * taken);
  // What was taken is done.
  EXPECT_TRUE(Eventually([&] { return server.Metric("reel_queue_depth") == 0; }));
  EXPECT_EQ(server.Metric("reel_requests_total", "outcome=\"failed\""), 0);
  EXPECT_GE(goodput, the.share * capacity);
  EXPECT_LE(Percentile(refusals, 0.99), the.refusal);
}

TEST(Overload, TenTimesTooMuchIsShedAtOnceAndTheDeviceWorksOn) {
  // Beginning and end weigh more than in a minute.
  Overload({.duration = absl::Seconds(4), .share = 0.85});
}

TEST(Overload, TenTimesTooMuchIsShedWhereJobsShareTheirSteps) {
  // How soon a refusal comes has nothing to do with steps.
  Overload({.device = kSharedDevice,
            .duration = absl::Seconds(4),
            .share = 0.85,
            .refusal = absl::InfiniteDuration(),
            .capacity_look = absl::Seconds(5)});  // sixteen end together, each 0.8 s
}

// By hand: ctest --test-dir build/release -L soak
TEST(Long, AMinuteOfTenTimesTooMuch) { Overload({.duration = absl::Minutes(1), .share = 0.95}); }

// Two tenants, each with a token of its name.
class TwoTenants {
 public:
  TwoTenants() : server_(Setup(folder_)) {}
  ReelServer& server() { return server_; }
  std::unique_ptr<client::VideoClient> Client(const std::string& tenant) {
    client::ClientOptions options;
    options.server = server_.address();
    options.token_file = folder_.File(tenant);
    return *client::VideoClient::Open(options);
  }

 private:
  static ServerSetup Setup(const testing::TempFolder& folder) {
    std::string tokens;
    for (const std::string tenant : {"a", "b"}) {
      tokens += Sha256Hex(tenant) + " " + tenant + " user\n";
      ::chmod(folder.Write(tenant, tenant).c_str(), 0600);
    }
    const std::string file = folder.Write("tokens", tokens);
    ::chmod(file.c_str(), 0600);
    ServerSetup setup;
    setup.config = absl::StrCat(kDevice, "auth { tokens_file: '", file,
                                "' tenants { name: 'a' max_jobs: 20 } tenants { name: 'b' } }");
    return setup;
  }

  testing::TempFolder folder_;
  ReelServer server_;
};

// Of jobs that are due every `pause`, so that their tenant asks for less than half of the device.
std::vector<absl::Duration> Latencies(const client::VideoClient& client, int jobs,
                                      absl::Duration pause) {
  std::vector<absl::Duration> took;
  const absl::Time first = absl::Now();
  for (int i = 0; i < jobs; ++i) {
    const absl::Time due = first + i * pause;
    absl::SleepFor(due - absl::Now());
    v1::GenerateVideoRequest request;
    *request.mutable_spec() = Job(20);
    client::VideoStream stream = client.Generate(request);
    auto event = stream.Next();
    while (event.ok() && *event) event = stream.Next();
    EXPECT_TRUE(event.ok()) << event.status();
    took.push_back(absl::Now() - due);
  }
  return took;
}

TEST(Overload, ATenantWhoFloodsDoesNotSlowAnother) {
  constexpr int kJobs = 10;
  constexpr absl::Duration kPause = absl::Milliseconds(800);
  // On servers of their own: what one tenant leaves unused while another works is the former's to
  // use later, up to ten seconds, and would be the flood's here.
  std::vector<absl::Duration> solo;
  {
    TwoTenants alone;
    solo = Latencies(*alone.Client("b"), 6, kPause);
  }
  TwoTenants tenants;
  const auto b = tenants.Client("b");
  OpenLoop a({tenants.server().Connect()}, "a");
  std::vector<absl::Duration> beside;
  std::thread other([&] { beside = Latencies(*b, kJobs, kPause); });
  a.Run(Job(), 100 / absl::ToDoubleSeconds(kPause), kJobs * kPause);
  other.join();
  const auto served = std::ranges::count_if(
      a.answers(), [](const OpenLoop::Answer& answer) { return answer.refusal.empty(); });
  std::cout << "FIGURE a flood of 100:1 by another tenant: p99 " << Percentile(beside, 0.99) << ", "
            << Percentile(solo, 0.99) << " without; the flood got " << served << " of "
            << a.answers().size() << " jobs\n";
  EXPECT_LE(Percentile(beside, 0.99), 1.5 * Percentile(solo, 0.99));
}

}  // namespace
}  // namespace reel::tests
