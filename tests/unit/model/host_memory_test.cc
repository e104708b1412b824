// SPDX-License-Identifier: Apache-2.0
#include "model/host_memory.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::model {
namespace {

using ::testing::HasSubstr;
using ::testing::TempDir;

// A machine's files, as Linux would have them.
class HostMemoryTest : public ::testing::Test {
 protected:
  HostMemoryTest() {
    std::filesystem::remove_all(root_);
    Write("/proc/meminfo",
          "MemTotal:  64000000 kB\nMemFree:  1000 kB\nMemAvailable: 40000000 kB\n");
  }
  ~HostMemoryTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void WriteGroup(const std::string& folder, const std::string& limit, int64_t used) {
    Write(folder + "/memory.max", limit + "\n");
    Write(folder + "/memory.current", std::to_string(used) + "\n");
  }
  int64_t Available() {
    const auto memory = ReadHostMemory(root_);
    EXPECT_TRUE(memory.has_value());
    return memory ? memory->available : -1;
  }

  const std::string root_ = TempDir() + "host_memory_test";
};

TEST_F(HostMemoryTest, IsWhatTheMachineHasFreeWhereNothingLimitsIt) {
  EXPECT_EQ(Available(), 40'960'000'000);
  EXPECT_FALSE(ReadHostMemory(root_)->of_container);
  Write("/proc/self/cgroup", "0::/\n");
  WriteGroup("/sys/fs/cgroup", "max", 7);
  EXPECT_EQ(Available(), 40'960'000'000);
}

TEST_F(HostMemoryTest, IsWhatTheContainersLimitLeaves) {
  Write("/proc/self/cgroup", "0::/\n");
  WriteGroup("/sys/fs/cgroup", "10000", 4000);
  EXPECT_EQ(Available(), 6000);
  EXPECT_TRUE(ReadHostMemory(root_)->of_container);
  // Files that were read stay in memory until it is wanted.
  Write("/sys/fs/cgroup/memory.stat", "anon 1000\ninactive_file 2000\nactive_file 500\n");
  EXPECT_EQ(Available(), 8500);
}

TEST_F(HostMemoryTest, IsTheLeastOfAllGroupsAround) {
  Write("/proc/self/cgroup", "0::/pods/one\n");
  WriteGroup("/sys/fs/cgroup/pods/one", "max", 4000);
  WriteGroup("/sys/fs/cgroup/pods", "9000", 5000);
  EXPECT_EQ(Available(), 4000);
  WriteGroup("/sys/fs/cgroup/pods/one", "6000", 3000);
  EXPECT_EQ(Available(), 3000);
}

TEST_F(HostMemoryTest, KnowsTheFirstVersionOfGroupsToo) {
  Write("/proc/self/cgroup", "5:devices:/\n4:memory:/one\n0::/\n");
  Write("/sys/fs/cgroup/memory/one/memory.limit_in_bytes", "9000\n");
  Write("/sys/fs/cgroup/memory/one/memory.usage_in_bytes", "2000\n");
  EXPECT_EQ(Available(), 7000);
}

TEST_F(HostMemoryTest, IsNotKnownWhereTheSystemDoesNotTell) {
  std::filesystem::remove(root_ + "/proc/meminfo");
  EXPECT_EQ(ReadHostMemory(root_), std::nullopt);
}

TEST_F(HostMemoryTest, OfThisMachineIsMoreThanNothing) {
  const auto memory = ReadHostMemory();
  ASSERT_TRUE(memory.has_value());
  EXPECT_GT(memory->available, 1 << 20);
}

TEST(CheckHostMemoryTest, RefusesAPlanThatDoesNotFitWithItsSum) {
  FitPlan plan;
  plan.parts = {{"text encoder", 0, 9'500'000'000},
                {"blocks", 3'000'000'000, 4'000'000'000},
                {"autoencoder", 2'500'000'000, 0}};
  EXPECT_TRUE(CheckHostMemory(plan, HostMemory{13'500'000'000}).ok());
  EXPECT_TRUE(CheckHostMemory(plan, std::nullopt).ok());
  const absl::Status refused = CheckHostMemory(plan, HostMemory{8'000'000'000, true});
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("take 13.5 GB = text encoder 9.5 + blocks 4.0 there, and 8.0 GB are left "
                        "of the container's limit"));
}

TEST(CheckHostMemoryTest, AsksNothingOfPlansThatHoldAllOnTheDevice) {
  FitPlan plan;
  plan.parts = {{"blocks", 3'000'000'000, 0}};
  EXPECT_TRUE(CheckHostMemory(plan, HostMemory{0}).ok());
}

}  // namespace
}  // namespace reel::model
