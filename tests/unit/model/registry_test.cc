// SPDX-License-Identifier: Apache-2.0
#include "model/registry.h"

#include <gtest/gtest.h>

namespace reel::model {
namespace {

LoadOptions Options(const char* name, const char* path) {
  LoadOptions options;
  options.name = name;
  options.path = path;
  return options;
}

TEST(LoadPipeline, LoadsTheTestCardWithoutAPath) {
  const auto pipeline = LoadPipeline(Options("card", ""), {});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  EXPECT_EQ((*pipeline)->card().name, "card");
  EXPECT_EQ((*pipeline)->card().family, "test card");
}

TEST(LoadPipeline, RefusesAPathThatNoFamilyReads) {
  const auto pipeline = LoadPipeline(Options("ltx", "/nowhere"), {});
  EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace reel::model
