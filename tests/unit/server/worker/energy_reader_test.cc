// SPDX-License-Identifier: Apache-2.0
#include "server/worker/energy_reader.h"

#include <gtest/gtest.h>

#include "kernels/base/program_folder.h"

namespace reel::worker {
namespace {

EnergyLibraries Fakes() {
  const std::string path = kernels::ProgramFolder().parent_path() / "fakes" / "fake_driver.so";
  return {path, path};
}

TEST(EnergyReader, SumsTheCountersOfAllDevices) {
  const EnergyReader one = EnergyReaderFor({0}, Fakes());
  ASSERT_NE(one, nullptr);
  const auto first = one(), second = one();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*second - *first, 1500);
  const EnergyReader both = EnergyReaderFor({1, 0}, Fakes());
  ASSERT_NE(both, nullptr);
  EXPECT_GT(*both(), *one());
}

TEST(EnergyReader, IsMissingWhereSomethingIs) {
  EXPECT_EQ(EnergyReaderFor({}, Fakes()), nullptr);
  EXPECT_EQ(EnergyReaderFor({-1}, Fakes()), nullptr) << "a CPU";
  EXPECT_EQ(EnergyReaderFor({7}, Fakes()), nullptr) << "no such device";
  EXPECT_EQ(EnergyReaderFor({0}, {Fakes().cuda, "libnone.so.1"}), nullptr);
  EXPECT_EQ(EnergyReaderFor({0}, {"libm.so.6", Fakes().management}), nullptr);
  EXPECT_EQ(EnergyReaderFor({0}, {Fakes().cuda, "libm.so.6"}), nullptr);
}

}  // namespace
}  // namespace reel::worker
