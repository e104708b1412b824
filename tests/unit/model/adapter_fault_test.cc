// SPDX-License-Identifier: Apache-2.0
#include "model/adapter_fault.h"

#include <gtest/gtest.h>

namespace reel::model {
namespace {

TEST(AdapterFault, IsToldOfTheErrorsThatHaveIt) {
  const absl::Status plain = absl::FailedPreconditionError("no room");
  EXPECT_EQ(FaultOf(plain), std::nullopt);
  for (const AdapterFault fault : {AdapterFault::kBroken, AdapterFault::kNotForModel}) {
    const absl::Status marked = WithFault(plain, fault);
    EXPECT_EQ(FaultOf(marked), fault);
    EXPECT_EQ(marked.code(), plain.code());
    EXPECT_EQ(marked.message(), plain.message());
  }
  EXPECT_TRUE(WithFault(absl::OkStatus(), AdapterFault::kBroken).ok());
}

}  // namespace
}  // namespace reel::model
