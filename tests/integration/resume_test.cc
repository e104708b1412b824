// SPDX-License-Identifier: Apache-2.0
// A network that breaks, and servers that are replaced, cost clients no byte, no job and no second
// rendering.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/video_client.h"
#include "tests/integration/calls.h"
#include "tests/integration/cutting_proxy.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr int64_t kChunk = 256 << 10;  // the largest that the server sends

// A server with one file of 40 MiB, which is no video: the flood worker sends bytes.
class LargeFile {
 public:
  LargeFile() : server_(Setup()), calls_(server_.Connect()) {
    v1::VideoSpec spec = SmallSpec("flood");
    spec.set_model("flood");
    video_ = calls_.Await(calls_.Create(spec).name());
  }
  const std::string& address() const { return server_.address(); }
  const v1::Video& video() const { return video_; }

 private:
  static ServerSetup Setup() {
    ServerSetup setup;
    setup.config = "models { name: 'flood' test_card {} } workers { name: 'flood' device: 'cpu' }";
    setup.flags = {"--worker_binary", BinaryPath("../tests/flood-worker")};
    return setup;
  }

  ReelServer server_;
  Calls calls_;
  v1::Video video_;
};

// `count` numbers of bytes after which connections are cut; the seed is printed.
std::vector<int64_t> RandomCuts(int count, int64_t size) {
  const unsigned seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  std::vector<int64_t> cuts;
  for (int i = 0; i < count; ++i) cuts.push_back(1 + static_cast<int64_t>(random() % size));
  return cuts;
}

TEST(Resume, ADownloadThatIsCutTwentyTimesIsTheSameFile) {
  constexpr int kCuts = 20;
  const LargeFile file;
  const int64_t size = file.video().media().size_bytes();
  ASSERT_GT(size, 32 << 20);
  CuttingProxy proxy;
  proxy.SetTarget(file.address());
  // Slower than the reader: of what waits unread in it gRPC drops all when a connection breaks.
  proxy.SetBytesPerSecond(20e6);
  proxy.SetCuts(RandomCuts(kCuts, size));
  client::ClientOptions options;
  options.server = proxy.address();
  options.retry.initial_backoff = absl::Milliseconds(1);
  options.retry.max_resumes = 2 * kCuts;
  options.retry.max_attempts = 2 * kCuts;
  const auto client = client::VideoClient::Open(options);
  ASSERT_TRUE(client.ok()) << client.status();
  v1::DownloadVideoRequest request;
  request.set_name(file.video().name());
  client::DownloadStream stream = (*client)->Download(request);
  std::string bytes;
  for (auto chunk = stream.Next();; chunk = stream.Next()) {
    ASSERT_TRUE(chunk.ok()) << chunk.status();
    if (!*chunk) break;
    bytes += (*chunk)->data();
  }
  EXPECT_EQ(Sha256Hex(bytes), file.video().media().sha256());
  const int cuts = proxy.cuts();
  EXPECT_GE(cuts, kCuts - 2) << "two that fall together are one";
  // Of everything that came over: frames, headers and checksums are in it too.
  const int64_t again = (proxy.forwarded() - size) / cuts;
  std::cout << "FIGURE " << size << " bytes, cut " << cuts << " times: " << again
            << " bytes sent again for each cut, everything else that a call costs among them\n";
  EXPECT_LE(again, kChunk);
}

// Clients that call again when a server is gone, until told to stop.
class SteadyClients {
 public:
  SteadyClients(const std::string& address, int count) {
    options_.server = address;
    options_.retry.initial_backoff = absl::Milliseconds(10);
    options_.retry.max_backoff = absl::Milliseconds(300);
    options_.retry.max_attempts = options_.retry.max_resumes = 1000;
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { Run(); });
  }
  ~SteadyClients() { Stop(); }
  void Stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  int begun() const { return next_; }
  int done() const { return done_; }

  static std::string Prompt(int job) { return absl::StrCat("job number ", job); }

 private:
  void Run() {
    const auto client = client::VideoClient::Open(options_);
    while (!stopping_) {
      const int job = next_++;
      const absl::Status status = RenderOne(**client, job);
      EXPECT_TRUE(status.ok()) << "job " << job << " is lost: " << status;
      if (status.ok()) ++done_;
    }
  }
  // Every other one by a bound call, and by a job that is watched.
  static absl::Status RenderOne(const client::VideoClient& client, int job) {
    v1::VideoSpec spec = SmallSpec(Prompt(job), static_cast<uint64_t>(job));
    spec.set_num_inference_steps(5 + job % 10);
    if (job % 2 == 0) {
      v1::GenerateVideoRequest request;
      *request.mutable_spec() = spec;
      return ToTheEnd(client.Generate(request));
    }
    v1::CreateVideoRequest request;
    *request.mutable_spec() = spec;
    const auto video = client.Create(request);
    if (!video.ok()) return video.status();
    v1::WatchVideoRequest watch;
    watch.set_name(video->name());
    return ToTheEnd(client.Watch(watch));
  }
  static absl::Status ToTheEnd(client::VideoStream stream) {
    for (auto event = stream.Next();; event = stream.Next()) {
      if (!event.ok()) return event.status();
      if (!*event) return absl::OkStatus();
    }
  }

  client::ClientOptions options_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> next_ = 0, done_ = 0;
  std::vector<std::thread> threads_;
};

// A server is told to end while it works, another takes over its folder, and so on.
void ReplaceServers(int rounds) {
  const testing::TempFolder folder;
  ServerSetup setup;
  setup.data_folder = folder.File("data");
  setup.config = "timing { drain { nanos: 300000000 } }";
  CuttingProxy address;  // stays, whoever serves behind it
  auto server = std::make_unique<ReelServer>(setup);
  address.SetTarget(server->address());
  SteadyClients clients(address.address(), 6);
  absl::Duration longest;
  for (int round = 0; round < rounds; ++round) {
    const int done = clients.done();
    ASSERT_TRUE(Eventually([&] { return clients.done() >= done + 6; }));
    const absl::Time told = absl::Now();
    server->Signal(SIGTERM);
    ASSERT_EQ(server->WaitForExit().value_or(-1), 0);
    server.reset();  // whole, before another has its folder
    server = std::make_unique<ReelServer>(setup);
    address.SetTarget(server->address());
    longest = std::max(longest, absl::Now() - told);
  }
  clients.Stop();
  EXPECT_EQ(clients.done(), clients.begun());
  Calls calls(server->Connect());
  std::map<std::string, int> rendered;
  for (const v1::Video& video : calls.List()) {
    rendered[video.spec().prompt()] += video.state() == v1::VIDEO_STATE_SUCCEEDED ? 1 : 0;
  }
  int lost = 0, twice = 0;
  for (int job = 0; job < clients.begun(); ++job) {
    const int times = rendered[SteadyClients::Prompt(job)];
    lost += times == 0 ? 1 : 0;
    twice += times > 1 ? 1 : 0;
  }
  std::cout << "FIGURE " << rounds << " servers replaced under " << clients.begun()
            << " jobs: " << lost << " lost, " << twice << " rendered twice; at most " << longest
            << " from SIGTERM to a server that takes work\n";
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(twice, 0);
}

TEST(Resume, ThreeServersReplacedUnderLoadLoseNothing) { ReplaceServers(3); }

// By hand: ctest --test-dir build/release -L soak
TEST(Long, TwentyServersReplacedUnderLoadLoseNothing) { ReplaceServers(20); }

}  // namespace
}  // namespace reel::tests
