// SPDX-License-Identifier: Apache-2.0
#include "model/layers/load_dtype.h"

#include <string>

#include "gtest/gtest.h"

namespace reel::model {
namespace {

TEST(LoadDtype, IsWhatTheOptionsNameAndHasThatName) {
  LoadOptions options;
  for (const char* name : {"fp32", "bf16", "fp16"}) {
    options.dtype = name;
    const auto dtype = DtypeOf(options, at::kCPU);
    ASSERT_TRUE(dtype.ok()) << dtype.status();
    EXPECT_EQ(DtypeName(*dtype), name);
  }
}

TEST(LoadDtype, RefusesATypeThatWeightsDoNotHave) {
  LoadOptions options;
  options.dtype = "int8";
  const auto dtype = DtypeOf(options, at::kCPU);
  EXPECT_EQ(dtype.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(dtype.status().message()).find("int8"), std::string::npos);
}

}  // namespace
}  // namespace reel::model
