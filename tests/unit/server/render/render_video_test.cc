// SPDX-License-Identifier: Apache-2.0
#include "server/render/render_video.h"

#include <gtest/gtest.h>

#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/render/small_render.h"

namespace reel::render {
namespace {

TEST(RenderVideo, WritesTheSameFileForTheSameSpec) {
  const reel::testing::TempFolder folder;
  Console console(false);
  for (const char* name : {"a.mp4", "b.mp4"}) {
    EXPECT_EQ(RenderVideo(SmallRender(folder.File(name)), {}, console), kSuccess);
  }
  EXPECT_EQ(folder.Read("a.mp4"), folder.Read("b.mp4"));
  EXPECT_FALSE(folder.Read("a.mp4").empty());
}

TEST(RenderVideo, RendersNothingOfAnIllegalSpec) {
  const reel::testing::TempFolder folder;
  Console console(false);
  RenderOptions options = SmallRender(folder.File("a.mp4"));
  options.spec.height = 33;
  EXPECT_EQ(RenderVideo(options, {}, console), kInvalid);
  options = SmallRender(folder.File("a.mp4"));
  options.spec.kernels.profile = "fastest";
  EXPECT_EQ(RenderVideo(options, {}, console), kInvalid);
  EXPECT_FALSE(folder.Has("a.mp4"));
  EXPECT_FALSE(folder.Has("a.mp4.part"));
}

TEST(RenderVideo, FailsWhereItCannotWrite) {
  Console console(false);
  EXPECT_EQ(RenderVideo(SmallRender("/nowhere/at/all.mp4"), {}, console), kFailed);
}

}  // namespace
}  // namespace reel::render
