// SPDX-License-Identifier: Apache-2.0
#include "server/worker/near_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <string>
#include <thread>

#include "tests/fakes/temp_folder.h"

namespace reel::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NearDevice, ReadsListsOfCores) {
  EXPECT_THAT(CpusOf("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(CpusOf("5"), ElementsAre(5));
  for (const char* none : {"", "x", "3-1", "-1", "1-", "0-99999999", "1,,2"}) {
    EXPECT_THAT(CpusOf(none), IsEmpty()) << none;
  }
}

class CpusNearTest : public ::testing::Test {
 protected:
  void Write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(system_.File(file)).parent_path());
    system_.Write(file, text);
  }
  void SetUp() override {
    Write("devices/system/node/online", "0-1\n");
    Write("devices/system/node/node0/cpulist", "0-1,4-5\n");
    Write("devices/system/node/node1/cpulist", "2-3,6-7\n");
    Write("bus/pci/devices/0000:1b:00.0/numa_node", "1\n");
    Write("bus/pci/devices/0000:5d:00.0/numa_node", "0\n");
    Write("bus/pci/devices/0000:9a:00.0/numa_node", "-1\n");
  }
  ::reel::testing::TempFolder system_;
};

TEST_F(CpusNearTest, AreThoseOfTheDevicesNode) {
  EXPECT_THAT(CpusNear({"0000:1B:00.0"}, system_.path()), ElementsAre(2, 3, 6, 7));
  EXPECT_THAT(CpusNear({"0000:1B:00.0", "0000:5D:00.0"}, system_.path()),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(CpusNearTest, AreNoneWhereNothingIsToBeGained) {
  EXPECT_THAT(CpusNear({}, system_.path()), IsEmpty()) << "a CPU";
  EXPECT_THAT(CpusNear({"0000:9A:00.0"}, system_.path()), IsEmpty()) << "at no node";
  EXPECT_THAT(CpusNear({"0000:1B:00.0", "0000:00:00.0"}, system_.path()), IsEmpty());
  Write("devices/system/node/online", "0\n");
  EXPECT_THAT(CpusNear({"0000:1B:00.0"}, system_.path()), IsEmpty()) << "one node";
  EXPECT_THAT(CpusNear({"0000:1B:00.0"}, system_.File("nowhere")), IsEmpty());
}

TEST(NearDevice, AThreadStaysOnThoseItMayRunOn) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  const bool has_others = CPU_COUNT(&allowed) > 1;
  std::thread([&] {  // whose cores are nobody else's matter
    EXPECT_EQ(StayOn({}), 0);
    EXPECT_EQ(StayOn({CPU_SETSIZE - 1}), 0) << "it may not run there";
    EXPECT_EQ(StayOn({first, CPU_SETSIZE - 1}), has_others ? 1 : 0);
    std::thread([&] {
      cpu_set_t now;
      ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
      EXPECT_EQ(CPU_COUNT(&now), 1) << "what it starts stays there, too";
    }).join();
  })
      .join();
}

}  // namespace
}  // namespace reel::worker
