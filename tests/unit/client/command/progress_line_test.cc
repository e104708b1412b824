// SPDX-License-Identifier: Apache-2.0
#include "client/command/progress_line.h"

#include <gtest/gtest.h>

#include <limits>

namespace reel::client {
namespace {

ProgressView Denoising() {
  v1::Progress progress;
  progress.set_stage(v1::STAGE_DENOISE);
  progress.set_step(7);
  progress.set_num_steps(20);
  progress.set_fraction(0.35);
  progress.mutable_remaining()->set_seconds(3);
  progress.mutable_remaining()->set_nanos(100'000'000);
  ProgressView view = ViewOf(progress);
  view.bytes = 1'200'000;
  return view;
}

TEST(RenderProgress, ShowsStageBarStepTimeAndBytes) {
  EXPECT_EQ(RenderProgress(Denoising(), 70),
            "denoise    [=======>            ]  35%  step 7/20  3.1 s left  1.2 MB");
}

TEST(RenderProgress, ShowsThePlaceInTheQueue) {
  v1::Progress progress;
  progress.set_stage(v1::STAGE_QUEUE);
  progress.set_num_steps(20);
  progress.set_queue_position(3);
  EXPECT_EQ(RenderProgress(ViewOf(progress), 40), "queued     [>           ]   0%  3 ahead");
}

TEST(RenderProgress, FitsEveryWidth) {
  ProgressView view = Denoising();
  view.note = "previews/preview-0007.jpg";
  for (int width = 0; width <= 200; ++width) {
    EXPECT_LE(static_cast<int>(RenderProgress(view, width).size()), std::max(width - 1, 0));
  }
  EXPECT_EQ(RenderProgress(view, 20), "denoise     35%");
  EXPECT_NE(RenderProgress(view, 200).find(view.note), std::string::npos);
}

TEST(RenderProgress, DropsTheLeastImportantFirst) {
  const std::string line = RenderProgress(Denoising(), 45);
  EXPECT_NE(line.find("step 7/20"), std::string::npos);
  EXPECT_EQ(line.find("MB"), std::string::npos);
}

TEST(RenderProgress, SurvivesNumbersThatMakeNoSense) {
  ProgressView view = Denoising();
  for (const double fraction : {-1.0, 2.0, std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity()}) {
    view.fraction = fraction;
    EXPECT_LE(RenderProgress(view, 80).size(), 79u);
  }
  view.fraction = 1;
  EXPECT_NE(RenderProgress(view, 80).find("=] 100%"), std::string::npos);
}

}  // namespace
}  // namespace reel::client
