// SPDX-License-Identifier: Apache-2.0
// The program reel-render, from outside.
#include "tests/unit/server/render/render_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "model/testcard/picture_code.h"
#include "tests/unit/server/worker/media/ffmpeg_tool.h"

namespace reel::server {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(RenderProgram, WritesAVideoAndPrintsItsPath) {
  if (!HaveFfmpeg()) GTEST_SKIP() << "ffmpeg and ffprobe are not installed";
  ASSERT_EQ(Run({"--num_frames", "17"}, "a.mp4"), 0) << folder_.Read("stderr");
  EXPECT_EQ(folder_.Read("stdout"), folder_.File("a.mp4") + "\n");
  EXPECT_EQ(folder_.Read("stderr"), "");
  EXPECT_FALSE(folder_.Has("a.mp4.part"));
  const auto video = Decode(folder_.Read("a.mp4"));
  ASSERT_TRUE(video);
  ASSERT_THAT(video->luma, SizeIs(17));
  EXPECT_EQ(model::DecodeCode(video->luma[16], 64, 64, 64),
            (model::PictureCode{model::PictureHash("a fox", 7, 64, 64), 16}));
}

TEST_F(RenderProgram, TheSameCallGivesTheSameFile) {
  ASSERT_EQ(Run({}, "a.mp4"), 0);
  ASSERT_EQ(Run({}, "b.mp4"), 0);
  EXPECT_EQ(folder_.Read("a.mp4"), folder_.Read("b.mp4"));
}

TEST_F(RenderProgram, WritesExactFrames) {
  ASSERT_EQ(Run({"--num-frames", "9", "--timings"}, "a.safetensors"), 0) << folder_.Read("stderr");
  const std::string bytes = folder_.Read("a.safetensors");
  ASSERT_GT(bytes.size(), 8u);
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_THAT(bytes.substr(8, header), HasSubstr(R"("frames":{"dtype":"F32","shape":[9,64,64,3])"));
  EXPECT_EQ(bytes.size(), 8 + header + size_t{9} * 64 * 64 * 3 * 4);
  EXPECT_THAT(folder_.Read("stderr"), HasSubstr("denoise"));
}

TEST_F(RenderProgram, RefusesWithEveryViolation) {
  for (const char* output : {"a.mp4", "a.safetensors"}) {
    EXPECT_EQ(Run({"--frame-rate", "1000", "--num-frames", "100"}, output), 3);
    EXPECT_THAT(folder_.Read("stderr"), HasSubstr("frame_rate: 1000 is not between 1 and 60"));
    EXPECT_THAT(folder_.Read("stderr"), HasSubstr("nearest: 97"));
    EXPECT_FALSE(folder_.Has(output));
    EXPECT_FALSE(folder_.Has(std::string(output) + ".part"));
  }
  EXPECT_EQ(Run({"--kernels", "fastest"}, "a.mp4"), 3);
  EXPECT_THAT(folder_.Read("stderr"), HasSubstr("known: auto"));
}

TEST_F(RenderProgram, FailsForAModelThatCannotBeLoaded) {
  EXPECT_EQ(Run({"--model", "/nowhere"}, "a.mp4"), 7);
  EXPECT_EQ(Run({"--model", "/nowhere"}, "a.safetensors"), 7);
  EXPECT_EQ(Run({}, "no/such/folder.mp4"), 7);
}

TEST_F(RenderProgram, UsageErrorsHaveAnExitCodeOfTheirOwn) {
  EXPECT_EQ(Wait(Start({"--output", "a.mp4"})), 2);
  EXPECT_EQ(Wait(Start({"--help"})), 0);
}

TEST_F(RenderProgram, AnInterruptEndsItAndLeavesNoFile) {
  for (const char* output : {"a.mp4", "a.safetensors"}) {
    const pid_t pid = Start({"--prompt", "a fox", "--steps", "100", "--num-frames", "257",
                             "--width", "64", "--height", "64", "--output", folder_.File(output)});
    // The file is there once the program has taken the signals over.
    for (int i = 0; i < 3000 && !folder_.Has(std::string(output) + ".part"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(pid, SIGINT);
    EXPECT_EQ(Wait(pid), 130) << output;
    EXPECT_FALSE(folder_.Has(output));
    EXPECT_FALSE(folder_.Has(std::string(output) + ".part"));
  }
}

}  // namespace
}  // namespace reel::server
