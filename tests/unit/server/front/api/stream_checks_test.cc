// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "server/front/api/video_cursor.h"
#include "tests/fakes/scripted_job.h"

namespace reel::front {
namespace {

TEST(CheckDownload, WantsAFinishedVideoAndAnOffsetInIt) {
  Video video;
  video.id = "v";
  ScriptedJob job(video);
  EXPECT_EQ(ReasonOf(CheckDownload(job, {"v", 0, 0})), Reason::kVideoNotReady);
  job.Media("abc");
  job.Succeed();
  EXPECT_TRUE(CheckDownload(job, {"v", 3, 0}).ok());
  EXPECT_EQ(ReasonOf(CheckDownload(job, {"v", 4, 0})), Reason::kOffsetPastEnd);
}

TEST(CheckWatch, OnlyTheFinalFileHasAnEnd) {
  Video video;
  video.id = "v";
  ScriptedJob done(video);
  done.Media("abc");
  done.Succeed();
  EXPECT_TRUE(CheckWatch(done, {"v", 0, 3, 0, false}).ok());
  EXPECT_EQ(ReasonOf(CheckWatch(done, {"v", 0, 4, 0, false})), Reason::kOffsetPastEnd);
  EXPECT_TRUE(CheckWatch(done, {"v", 0, 4, 9, false}).ok());  // another attempt's offset
  EXPECT_TRUE(CheckWatch(done, {"v", 0, 4, 0, true}).ok());
  ScriptedJob running(video);
  EXPECT_TRUE(CheckWatch(running, {"v", 0, 4, 0, false}).ok());
}

}  // namespace
}  // namespace reel::front
