// SPDX-License-Identifier: Apache-2.0
#include "kernels/dispatch/device_name.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace reel::kernels {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DeviceName, IsOneDevice) {
  EXPECT_THAT(*RanksOf("cpu"), ElementsAre(kCpuRank));
  EXPECT_THAT(*RanksOf("cuda:0"), ElementsAre(0));
  EXPECT_THAT(*RanksOf("cuda:12"), ElementsAre(12));
}

TEST(DeviceName, IsAGroupInItsOrder) {
  EXPECT_THAT(*RanksOf("cuda:3+cuda:1"), ElementsAre(3, 1));
  EXPECT_THAT(*RanksOf("cpu+cpu"), ElementsAre(kCpuRank, kCpuRank));
  EXPECT_THAT(*RanksOf("cuda:4+cuda:5+cuda:6"), ElementsAre(4, 5, 6));
  EXPECT_THAT(*RanksOf("cuda:0+cuda:1+cuda:2+cuda:3"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(*RanksOf("cpu+cpu+cpu+cpu"), ElementsAre(kCpuRank, kCpuRank, kCpuRank, kCpuRank));
}

struct Refused {
  std::string name, why;
};

TEST(DeviceName, SaysWhatIsWrong) {
  for (const Refused& refused : std::vector<Refused>{
           {"", "cuda:N"},
           {"gpu", "cuda:N"},
           {"cuda:", "cuda:N"},
           {"cuda:-1", "cuda:N"},
           {"cuda:+1", "cuda:N"},
           {"cuda: 1", "cuda:N"},
           {"cuda:10000", "cuda:N"},
           {"cuda:4294967296", "cuda:N"},
           {"cuda:0+", "cuda:N"},
           {"+cpu", "cuda:N"},
           {"cuda:0 + cuda:1", "cuda:N"},
           {"auto", "cuda:N"},
           {"cuda:0+cpu", "of one kind"},
           {"cpu+cuda:0", "of one kind"},
           {"cuda:1+cuda:1", "each device once"},
           {"cuda:0+cuda:1+cuda:0", "each device once"},
           {"cuda:0+cuda:1+cuda:2+cuda:1", "each device once"},
           {"cpu+cpu+cuda:0", "of one kind"},
           {"cuda:0+cuda:1+cuda:2+cuda:3+cuda:4", "4 devices at most"},
           {"cpu+cpu+cpu+cpu+cpu", "4 devices at most"},
       }) {
    const absl::Status status = RanksOf(refused.name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << refused.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(refused.why)) << refused.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr("'" + refused.name + "'"));
  }
}

constexpr char kOne[] = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
constexpr char kOther[] = "GPU-5a1e0c44-0b6d-9f3e-7c21-1d0f3a9b8e77";
constexpr char kSlice[] = "MIG-3eb87630-93d5-b2b6-b8ff-9b359caf4ee2";

TEST(DeviceName, ByNumberIsLeftAsItIs) {
  const OwnDevices own = *OwnDevicesOf("cuda:3+cuda:1");
  EXPECT_THAT(own.ranks, ElementsAre(3, 1));
  EXPECT_EQ(own.visible, "");
  EXPECT_THAT(OwnDevicesOf("cpu")->ranks, ElementsAre(kCpuRank));
}

TEST(DeviceName, ByUuidIsAllThatAProcessSees) {
  for (const char* uuid : {kOne, kSlice}) {
    const OwnDevices own = *OwnDevicesOf(uuid);
    EXPECT_THAT(own.ranks, ElementsAre(0));
    EXPECT_EQ(own.visible, uuid);
  }
  const OwnDevices group = *OwnDevicesOf(std::string(kOther) + "+" + kOne);
  EXPECT_THAT(group.ranks, ElementsAre(0, 1));
  EXPECT_EQ(group.visible, std::string(kOther) + "," + kOne);
}

TEST(DeviceName, SaysWhatIsWrongWithAUuid) {
  const std::string one = kOne, slice = kSlice;
  for (const Refused& refused : std::vector<Refused>{
           {"GPU-", "cuda:N"},
           {"GPU-8932", "cuda:N"},
           {"gpu-8932f937-d72c-4106", "cuda:N"},
           {one + ",", "cuda:N"},
           {"GPU-8932f937-d72c\nLD_PRELOAD=x", "cuda:N"},
           {"GPU-" + std::string(81, '1'), "cuda:N"},
           {one + "+cuda:1", "not by both"},
           {one + "+cpu", "not by both"},
           {one + "+" + one, "each device once"},
           {one + "+" + slice, "cannot be in a group"},
           {one + "1+" + one + "2+" + one + "3+" + one + "4+" + one + "5", "4 devices at most"},
       }) {
    const absl::Status status = OwnDevicesOf(refused.name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << refused.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(refused.why)) << refused.name;
    EXPECT_THAT(std::string(status.message()), HasSubstr("'" + refused.name + "'"));
  }
}

}  // namespace
}  // namespace reel::kernels
