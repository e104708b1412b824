// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "server/errors/error.h"
#include "server/front/http/facade_bodies.h"

namespace reel::front {
namespace {

using nlohmann::json;

Video SomeVideo() {
  Video video;
  video.id = "lab-1";
  video.state = VideoState::kRunning;
  video.spec.model = "lab";
  video.spec.prompt = "a red circle";
  video.spec.width = 256;
  video.spec.height = 128;
  video.spec.num_frames = 49;
  video.spec.frame_rate = 24;
  video.spec.num_inference_steps = 4;
  video.spec.seed = 7;
  video.create_time = absl::FromUnixSeconds(1'700'000'000);
  video.progress.fraction = 0.999;
  return video;
}

TEST(FacadeVideo, HasTheFieldsThatItsClientsRead) {
  const json running = json::parse(FacadeVideoJson(SomeVideo(), "4 seconds"));
  EXPECT_EQ(running["id"], "lab-1");
  EXPECT_EQ(running["object"], "video");
  EXPECT_EQ(running["status"], "in_progress");
  EXPECT_EQ(running["progress"], 99);
  EXPECT_EQ(running["created_at"], 1'700'000'000);
  EXPECT_EQ(running["completed_at"], nullptr);
  EXPECT_EQ(running["size"], "256x128");
  EXPECT_EQ(running["seconds"], "2");
  EXPECT_EQ(running["num_outputs"], 1);
  EXPECT_EQ(running["error"], nullptr);
  EXPECT_EQ(running["notices"][0]["message"], "4 seconds");
  for (const char* absent : {"url", "file_path", "inference_time_s", "kernels"}) {
    EXPECT_FALSE(running.contains(absent)) << absent;
  }
  EXPECT_EQ(json::parse(FacadeVideoJson(Video()))["seconds"], "1");
}

TEST(FacadeVideo, TellsWhichOneItWasRemixedFrom) {
  using Begin = model::Source::Begin;
  Video video = SomeVideo();
  EXPECT_EQ(json::parse(FacadeVideoJson(video))["remixed_from_video_id"], nullptr);
  for (const auto& [begin, from] : {std::pair(Begin::kRetake, json("lab-0")),
                                    {Begin::kExtend, json("lab-0")},
                                    {Begin::kPromote, json(nullptr)}}) {
    video.spec.source = model::Source{.video = "videos/lab-0", .begin = begin};
    EXPECT_EQ(json::parse(FacadeVideoJson(video))["remixed_from_video_id"], from);
  }
}

TEST(FacadeVideo, TellsWhatAFinishedOneTook) {
  Video video = SomeVideo();
  video.state = VideoState::kSucceeded;
  video.end_time = absl::FromUnixSeconds(1'700'000'009);
  model::RunStats stats;
  stats.total = absl::Seconds(9);
  stats.queued = absl::Seconds(2);
  stats.text_encode = absl::Seconds(1);
  stats.denoise = absl::Seconds(4);
  stats.decode = absl::Milliseconds(1500);
  stats.encode_exposed = absl::Milliseconds(500);
  stats.peak_memory_bytes = 3 << 20;
  stats.kernels = {{"rms_norm", "cpu", 8}};
  video.stats = stats;
  const json done = json::parse(FacadeVideoJson(video));
  EXPECT_EQ(done["status"], "completed");
  EXPECT_EQ(done["progress"], 100);
  EXPECT_EQ(done["completed_at"], 1'700'000'009);
  EXPECT_EQ(done["inference_time_s"], 7.0);
  EXPECT_EQ(done["peak_memory_mb"], 3.0);
  EXPECT_EQ(done["stage_durations"]["decode"], 1.5);
  EXPECT_EQ(done["kernels"][0]["variant"], "cpu");
  EXPECT_EQ(ServerTimingOf(stats),
            "generation;dur=7000.0, server_gen;dur=7000.0, pre_denoise;dur=1000.0, "
            "denoise;dur=4000.0, post_denoise;dur=2000.0");
}

TEST(FacadeVideo, TellsWhyOneFailed) {
  Video video = SomeVideo();
  video.state = VideoState::kCancelled;
  video.error = MakeError(Reason::kCancelledByOwner, "cancelled");
  const json failed = json::parse(FacadeVideoJson(video));
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_EQ(failed["error"]["code"], "CANCELLED_BY_OWNER");
  EXPECT_EQ(failed["completed_at"], nullptr);
}

TEST(FacadeVideo, ListsNameTheirEnds) {
  Video second = SomeVideo();
  second.id = "lab-2";
  const json list = json::parse(FacadeListJson({SomeVideo(), second}, true));
  EXPECT_EQ(list["object"], "list");
  EXPECT_EQ(list["first_id"], "lab-1");
  EXPECT_EQ(list["last_id"], "lab-2");
  EXPECT_EQ(list["has_more"], true);
  EXPECT_EQ(list["data"].size(), 2U);
  const json none = json::parse(FacadeListJson({}, false));
  EXPECT_EQ(none["first_id"], nullptr);
  EXPECT_TRUE(none["data"].empty());
}

}  // namespace
}  // namespace reel::front
