// SPDX-License-Identifier: Apache-2.0
// The figures that the skeleton stands for. Each prints what it measured. Bars hold for an
// optimised build; under a sanitizer only the counts are checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "model/testcard/picture_code.h"
#include "tests/fakes/decoded_video.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

using ::testing::IsEmpty;

int NumJobs() { return ProgramsAreSanitized() ? 160 : 1000; }
constexpr int kClients = 16;
constexpr int64_t kMiB = 1 << 20;

absl::Duration Percentile(std::vector<absl::Duration> values, double share) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(share * last)];
}

v1::VideoSpec TinySpec(int job) {
  v1::VideoSpec spec = SmallSpec(absl::StrCat("job number ", job), static_cast<uint64_t>(job));
  spec.set_num_inference_steps(2);
  spec.set_width(job % 2 == 0 ? 128 : 160);
  return spec;
}

ServerSetup FastCard() {
  ServerSetup setup;
  setup.config = R"(models { name: "testcard" test_card { step_time { nanos: 2000000 }
                      step_time_per_extra_job { nanos: 500000 }
                      decode_time_per_frame { nanos: 100000 } } })";
  return setup;
}

struct Tally {
  std::atomic<int> succeeded{0}, broken{0}, mixed_up{0};
  std::atomic<int64_t> bytes{0};
};

void RunOne(Calls& calls, int job, Tally& tally) {
  const v1::VideoSpec spec = TinySpec(job);
  const StreamResult result = calls.Generate(spec);
  if (!result.status.ok() || !result.is_finished || !result.faults.empty() ||
      Sha256Hex(result.file) != result.finished.media().sha256()) {
    ++tally.broken;
    ADD_FAILURE() << "job " << job << ": " << result.status.error_message();
    return;
  }
  ++tally.succeeded;
  tally.bytes += static_cast<int64_t>(result.file.size());
  const auto video = testing::Decode(result.file);
  const uint32_t expected =
      model::PictureHash(spec.prompt(), spec.seed(), spec.width(), spec.height());
  bool right = video.ok() && video->luma.size() == static_cast<size_t>(spec.num_frames());
  for (size_t i = 0; right && i < video->luma.size(); ++i) {
    const auto code = model::DecodeCode(video->luma[i], video->width, video->width, video->height);
    right = code && code->hash == expected && code->frame == static_cast<int>(i);
  }
  if (!right) {
    ++tally.mixed_up;
    ADD_FAILURE() << "job " << job << " shows another picture";
  }
}

TEST(Load, SixteenClientsLoseNothingAndMixNothingUp) {
  ReelServer server(FastCard());
  Tally tally;
  std::atomic<int> next{0};
  std::vector<int64_t> memory;  // after each hundred jobs
  const absl::Time start = absl::Now();
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&] {
      Calls calls(server.Connect());
      for (int job = next++; job < NumJobs(); job = next++) RunOne(calls, job, tally);
    });
  }
  for (int mark = 200; mark <= NumJobs(); mark += 200) {
    Eventually([&] { return tally.succeeded + tally.broken >= mark; }, absl::Minutes(5));
    memory.push_back(server.MemoryBytes());
  }
  for (std::thread& client : clients) client.join();
  const absl::Duration took = absl::Now() - start;
  EXPECT_EQ(tally.succeeded, NumJobs());
  EXPECT_EQ(tally.mixed_up, 0);
  EXPECT_TRUE(Eventually([&] {
    return server.Metric("reel_requests_total", "outcome=\"ok\"") == NumJobs();
  })) << server.Metric("reel_requests_total", "outcome=\"ok\"");
  EXPECT_EQ(server.Metric("reel_output_bytes_total"), static_cast<double>(tally.bytes.load()));
  EXPECT_EQ(server.Metric("reel_frames_total"), 9.0 * NumJobs());
  EXPECT_EQ(server.Metric("reel_request_duration_seconds_count"), NumJobs());
  EXPECT_EQ(server.Metric("reel_inflight_requests"), 0);
  std::cout << "FIGURE " << NumJobs() << " jobs, " << kClients
            << " clients: " << absl::ToDoubleSeconds(took) << " s, " << tally.mixed_up
            << " mixed up, reeld's memory";
  for (const int64_t bytes : memory) std::cout << " " << bytes / kMiB;
  std::cout << " MiB after each 200\n";
  if (!ProgramsAreSanitized()) {
    EXPECT_LT(memory.back() - memory.front(), 16 * kMiB);
  }
}

// The machine may do something else for a moment: a bar holds when one of three rounds keeps it.
// `round` returns what is held against it.
template <typename Round>
void ExpectBelow(absl::Duration bar, Round round) {
  if (ProgramsAreSanitized()) {
    round();
    return;
  }
  std::vector<absl::Duration> rounds;
  do {
    rounds.push_back(round());
  } while (!::testing::Test::HasFatalFailure() && rounds.back() >= bar && rounds.size() < 3);
  EXPECT_LT(rounds.back(), bar);
}

TEST(Load, FirstEventComesWithinTwentyMilliseconds) {
  ReelServer server(FastCard());
  Calls calls(server.Connect());
  ExpectBelow(absl::Milliseconds(20), [&] {
    std::vector<absl::Duration> first;
    for (int i = 0; i < 100; ++i) {
      const StreamResult result = calls.Generate(TinySpec(i));
      EXPECT_TRUE(result.status.ok()) << result.status.error_message();
      first.push_back(result.first_event);
    }
    std::cout << "FIGURE first event: median " << Percentile(first, 0.5) << ", p99 "
              << Percentile(first, 0.99) << "\n";
    return Percentile(first, 0.99);
  });
}

TEST(Load, TwoThousandEstimatesOfSixteenClientsAllAnswer) {
  ReelServer server(FastCard());
  Calls(server.Connect()).Generate(TinySpec(0));  // until it serves
  const int estimates = ProgramsAreSanitized() ? 200 : 2000;
  std::atomic<int> next{0}, answered{0};
  std::vector<std::vector<absl::Duration>> took(kClients);
  std::vector<std::thread> clients;
  for (std::vector<absl::Duration>& own : took) {
    clients.emplace_back([&] {
      Calls calls(server.Connect());
      for (int i = next++; i < estimates; i = next++) {
        v1::EstimateVideoRequest request;
        *request.mutable_spec() = TinySpec(i);
        v1::EstimateVideoResponse response;
        grpc::ClientContext context;
        const absl::Time asked = absl::Now();
        const grpc::Status status = calls.videos().EstimateVideo(&context, request, &response);
        own.push_back(absl::Now() - asked);
        EXPECT_TRUE(status.ok()) << status.error_message();
        answered += status.ok();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  std::vector<absl::Duration> all;
  for (const auto& own : took) all.insert(all.end(), own.begin(), own.end());
  EXPECT_EQ(answered, estimates);
  std::cout << "FIGURE " << estimates << " estimates, " << kClients << " clients: median "
            << Percentile(all, 0.5) << ", p99 " << Percentile(all, 0.99) << "\n";
}

absl::Duration CancelToFreeSlot(Calls& calls, const std::string& name) {
  v1::CancelVideoRequest request;
  request.set_name(name);
  v1::CancelVideoResponse response;
  grpc::ClientContext context;
  const absl::Time asked = absl::Now();
  EXPECT_TRUE(calls.videos().CancelVideo(&context, request, &response).ok());
  EXPECT_TRUE(Eventually([&] {
    v1::GetServerInfoResponse info;
    grpc::ClientContext info_context;
    calls.server().GetServerInfo(&info_context, {}, &info);
    return info.workers_size() == 1 && info.workers(0).running() == 0;
  }));
  return absl::Now() - asked;
}

TEST(Load, CancelFreesTheSlotWithinAStepAndFiftyMilliseconds) {
  ReelServer server;  // 20 ms a step
  Calls calls(server.Connect());
  const int cancels = ProgramsAreSanitized() ? 20 : 100;
  ExpectBelow(absl::Milliseconds(70), [&] {
    std::vector<absl::Duration> freed;
    for (int i = 0; i < cancels; ++i) {
      v1::VideoSpec spec = SmallSpec("x", static_cast<uint64_t>(i));
      spec.set_num_inference_steps(100);
      const std::string name = calls.Create(spec).name();
      EXPECT_TRUE(Eventually([&] { return calls.Get(name).progress().step() > i % 7; }));
      freed.push_back(CancelToFreeSlot(calls, name));
    }
    std::cout << "FIGURE cancel to free slot: median " << Percentile(freed, 0.5) << ", p99 "
              << Percentile(freed, 0.99) << " of " << cancels << " (20 ms a step)\n";
    return Percentile(freed, 0.99);
  });
}

// In whatever it is doing: text, steps, frames, the encoder's rest, or still nothing.
v1::VideoSpec SpecInAllStages(std::mt19937& random) {
  v1::VideoSpec spec = SmallSpec("x", random());
  const bool steps = random() % 2 == 0;
  spec.set_num_inference_steps(steps ? 100 : 4);
  spec.set_num_frames(steps ? 9 : 121);
  return spec;
}

// By hand: ctest --test-dir build/release -L soak
TEST(Long, TwoHundredCancelsAtRandomInstantsFreeTheSlot) {
  constexpr int kCancels = 200;
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  ReelServer server;  // 20 ms a step
  Calls calls(server.Connect());
  std::vector<absl::Duration> freed;
  std::map<v1::VideoState, int> ends;
  while (freed.size() < kCancels && !::testing::Test::HasFailure()) {
    const std::string name = calls.Create(SpecInAllStages(random)).name();
    absl::SleepFor(absl::Microseconds(random() % 400'000));  // the random instant
    freed.push_back(CancelToFreeSlot(calls, name));
    ++ends[calls.Await(name).state()];
  }
  ASSERT_FALSE(::testing::Test::HasFailure());
  std::cout << "FIGURE cancel to free slot at random instants: median " << Percentile(freed, 0.5)
            << ", p99 " << Percentile(freed, 0.99) << ", at most " << Percentile(freed, 1) << " of "
            << kCancels << ", " << ends[v1::VIDEO_STATE_CANCELLED] << " of them cancelled\n";
  EXPECT_LE(Percentile(freed, 0.99), absl::Milliseconds(70));
  EXPECT_EQ(ends[v1::VIDEO_STATE_CANCELLED] + ends[v1::VIDEO_STATE_SUCCEEDED], kCancels);
  EXPECT_EQ(server.Metric("reel_inflight_requests"), 0);
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 0);
}

// A reader that takes one message and no more.
class StalledReader {
 public:
  StalledReader(const std::shared_ptr<grpc::Channel>& channel, const std::string& name)
      : stub_(v1::VideoService::NewStub(channel)) {
    v1::WatchVideoRequest request;
    request.set_name(name);
    reader_ = stub_->WatchVideo(&context_, request);
    v1::WatchVideoResponse response;
    reader_->Read(&response);
  }
  ~StalledReader() {
    context_.TryCancel();
    reader_->Finish();
  }

 private:
  std::unique_ptr<v1::VideoService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchVideoResponse>> reader_;
};

absl::Duration MedianLatency(Calls& calls, int rounds) {
  std::vector<absl::Duration> took;
  for (int i = 0; i < rounds; ++i) {
    const absl::Time start = absl::Now();
    EXPECT_TRUE(calls.Generate(TinySpec(i)).status.ok());
    took.push_back(absl::Now() - start);
  }
  return Percentile(took, 0.5);
}

// Its file is no video: the flood worker sends bytes, as many as stall a reader.
v1::GenerateVideoRequest FloodRequest() {
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = SmallSpec("flood");
  request.mutable_spec()->set_model("flood");
  return request;
}

TEST(Load, FiftyStalledReadersCostLittleMemoryAndNobodysTime) {
  ServerSetup setup = FastCard();
  setup.config += R"(models { name: "flood" test_card {} }
                     workers { name: "cpu" device: "cpu" models: "testcard" }
                     workers { name: "flood" device: "cpu" models: "flood" })";
  setup.flags = {"--worker_binary", BinaryPath("../tests/flood-worker")};
  ReelServer server(setup);
  Calls calls(server.Connect());
  const StreamResult made = calls.Generate(FloodRequest(), nullptr, absl::Minutes(3));
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  ASSERT_GT(made.file.size(), 32U << 20);
  MedianLatency(calls, 10);
  const int64_t before = server.MemoryBytes();
  std::vector<std::unique_ptr<StalledReader>> readers;
  absl::Duration alone, beside;
  // Each round has a time alone of its own: between two the machine may have become slower.
  ExpectBelow(absl::Milliseconds(1), [&] {
    readers.clear();
    alone = MedianLatency(calls, 30);
    for (int i = 0; i < 50; ++i) {
      readers.push_back(std::make_unique<StalledReader>(server.Connect(), made.accepted.name()));
    }
    beside = MedianLatency(calls, 30);
    return beside - alone * 1.10;
  });
  // The readers' windows are full: the server's memory has stopped growing.
  const int64_t after = server.MemoryBytes();
  // A call's end is counted a moment after its caller has heard of it.
  const absl::Time patience = absl::Now() + absl::Seconds(10);
  while (server.Metric("reel_open_streams") != 50 && absl::Now() < patience) {
  }
  EXPECT_EQ(server.Metric("reel_open_streams"), 50);
  std::cout << "FIGURE 50 stalled readers of " << made.file.size() / static_cast<size_t>(kMiB)
            << " MiB: memory +" << (after - before) / kMiB << " MiB, a small job's median " << alone
            << " alone, " << beside << " beside them\n";
  if (!ProgramsAreSanitized()) {
    EXPECT_LT(after - before, 64 * kMiB);
  }
}

}  // namespace
}  // namespace reel::tests
