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

}  // namespace
}  // namespace reel::kernels
