// SPDX-License-Identifier: Apache-2.0
// Ten thousand jobs leave nothing behind: no memory, no file, no row too many. Minutes long, so by
// hand: ctest --test-dir build/release -L soak
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <iostream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr int kJobs = 10'000;
constexpr int kWarm = 2'000;  // by then every pool and cache has its size
constexpr int kClients = 8;
constexpr int64_t kMiB = 1 << 20;

size_t FilesIn(const std::string& folder) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  return files;
}

void RunOne(Calls& calls, int job, std::atomic<int>& succeeded) {
  v1::VideoSpec spec = SmallSpec(absl::StrCat("job ", job), static_cast<uint64_t>(job));
  spec.set_width(job % 2 == 0 ? 32 : 64);
  spec.set_height(32);
  spec.set_num_inference_steps(1 + job % 3);
  const StreamResult result = calls.Generate(spec);
  if (!result.status.ok() || !result.faults.empty()) {
    ADD_FAILURE() << "job " << job << ": " << result.status.error_message();
    return;
  }
  // Half of them are removed by their owners.
  if (job % 2 == 0) {
    v1::DeleteVideoRequest request;
    request.set_name(result.accepted.name());
    v1::DeleteVideoResponse response;
    grpc::ClientContext context;
    const grpc::Status removed = calls.videos().DeleteVideo(&context, request, &response);
    EXPECT_TRUE(removed.ok()) << removed.error_message();
  }
  ++succeeded;
}

TEST(Soak, TenThousandJobsLeaveNothingBehind) {
  ReelServer server;
  std::atomic<int> next{0}, succeeded{0};
  const absl::Time start = absl::Now();
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&] {
      Calls calls(server.Connect());
      for (int job = next++; job < kJobs; job = next++) RunOne(calls, job, succeeded);
    });
  }
  std::vector<int64_t> memory;
  for (int mark = kWarm; mark <= kJobs; mark += kWarm) {
    Eventually([&] { return succeeded >= mark || ::testing::Test::HasFailure(); },
               absl::Minutes(20));
    memory.push_back(server.MemoryBytes());
  }
  for (std::thread& client : clients) client.join();
  const absl::Duration took = absl::Now() - start;
  ASSERT_EQ(succeeded, kJobs);
  EXPECT_EQ(FilesIn(server.data_folder() + "/media"), size_t{kJobs / 2});
  EXPECT_EQ(FilesIn(server.data_folder() + "/conditions"), 0U);
  EXPECT_FALSE(std::filesystem::exists(server.data_folder() + "/quarantine"));
  EXPECT_EQ(server.Metric("reel_inflight_requests"), 0);
  EXPECT_EQ(server.Metric("reel_worker_restarts_total"), 0);
  EXPECT_EQ(server.Metric("reel_requests_total", "outcome=\"ok\""), kJobs);
  std::cout << "FIGURE " << kJobs << " jobs in " << absl::ToDoubleSeconds(took)
            << " s, reeld's memory";
  for (const int64_t bytes : memory) std::cout << " " << bytes / kMiB;
  std::cout << " MiB after each " << kWarm << "\n";
  EXPECT_LE(memory.back() - memory.front(), 16 * kMiB);
}

}  // namespace
}  // namespace reel::tests
