// SPDX-License-Identifier: Apache-2.0
#include "server/worker/energy_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/base/program_folder.h"
#include "server/worker/bus_ids.h"

namespace reel::worker {
namespace {

// Both libraries of the driver's.
std::string Fake() { return kernels::ProgramFolder().parent_path() / "fakes" / "fake_driver.so"; }

EnergyReader ReaderOf(const std::vector<int>& devices) {
  return EnergyReaderFor(BusIds(devices, Fake()), Fake());
}

TEST(EnergyReader, SumsTheCountersOfAllDevices) {
  const EnergyReader one = ReaderOf({0});
  ASSERT_NE(one, nullptr);
  const auto first = one(), second = one();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*second - *first, 1500);
  const EnergyReader both = ReaderOf({1, 0});
  ASSERT_NE(both, nullptr);
  EXPECT_GT(*both(), *one());
}

TEST(EnergyReader, IsMissingWhereSomethingIs) {
  EXPECT_EQ(ReaderOf({}), nullptr);
  EXPECT_EQ(ReaderOf({-1}), nullptr) << "a CPU";
  EXPECT_EQ(ReaderOf({7}), nullptr) << "no such device";
  EXPECT_EQ(EnergyReaderFor(BusIds({0}, Fake()), "libnone.so.1"), nullptr);
  EXPECT_EQ(EnergyReaderFor(BusIds({0}, "libm.so.6"), Fake()), nullptr);
  EXPECT_EQ(EnergyReaderFor(BusIds({0}, Fake()), "libm.so.6"), nullptr);
}

}  // namespace
}  // namespace reel::worker
