// SPDX-License-Identifier: Apache-2.0
#include "server/render/render_exact.h"

#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/render/small_render.h"

namespace reel::render {
namespace {

TEST(RenderExact, WritesTheSameFileForTheSameSpec) {
  const reel::testing::TempFolder folder;
  Console console(false);
  for (const char* name : {"a.safetensors", "b.safetensors"}) {
    EXPECT_EQ(RenderExact(SmallRender(folder.File(name)), {}, console), kSuccess);
  }
  EXPECT_EQ(folder.Read("a.safetensors"), folder.Read("b.safetensors"));
  EXPECT_FALSE(folder.Read("a.safetensors").empty());
}

TEST(RenderExact, RendersNothingOfAnIllegalSpec) {
  const reel::testing::TempFolder folder;
  Console console(false);
  RenderOptions options = SmallRender(folder.File("a.safetensors"));
  options.spec.height = 33;
  EXPECT_EQ(RenderExact(options, {}, console), kInvalid);
  options = SmallRender(folder.File("a.safetensors"));
  options.spec.kernels.profile = "fastest";
  EXPECT_EQ(RenderExact(options, {}, console), kInvalid);
  EXPECT_FALSE(folder.Has("a.safetensors"));
  EXPECT_FALSE(folder.Has("a.safetensors.part"));
}

TEST(RenderExact, FailsWhereItCannotWrite) {
  Console console(false);
  EXPECT_EQ(RenderExact(SmallRender("/nowhere/at/all.safetensors"), {}, console), kFailed);
}

}  // namespace
}  // namespace reel::render
