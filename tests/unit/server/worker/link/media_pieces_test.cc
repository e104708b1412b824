// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/event_messages.h"

#include <gtest/gtest.h>

namespace reel::worker {
namespace {

const JobRef kJob{"j", 2};

TEST(EventMessages, CutsMediaIntoPieces) {
  std::string bytes(2 * kMediaPieceBytes + 7, 'x');
  bytes.back() = 'y';
  const auto messages = MediaMessages(kJob, 1000, bytes, true);
  ASSERT_EQ(messages.size(), 3u);
  std::string joined;
  for (size_t i = 0; i < messages.size(); ++i) {
    const worker::v1::JobMedia& media = messages[i].media();
    EXPECT_EQ(media.job(), "j");
    EXPECT_EQ(media.attempt(), 2);
    EXPECT_EQ(media.offset(), 1000 + static_cast<int64_t>(joined.size()));
    EXPECT_EQ(media.fragment_end(), i == 2);
    joined += media.data();
  }
  EXPECT_EQ(joined, bytes);
}

TEST(EventMessages, SendsSmallAndFullPiecesWhole) {
  for (const size_t size : {size_t{0}, size_t{1}, kMediaPieceBytes}) {
    const auto messages = MediaMessages(kJob, 0, std::string(size, 'x'), false);
    ASSERT_EQ(messages.size(), 1u) << size;
    EXPECT_EQ(messages[0].media().data().size(), size);
    EXPECT_FALSE(messages[0].media().fragment_end());
  }
}

TEST(EventMessages, CarriesTheCostOfAStep) {
  StepReport report;
  report.jobs = {"a", "b"};
  report.model = "m";
  report.plan = "auto";
  report.rows = 30;
  report.job_rows = {10, 20};
  report.duration = absl::Milliseconds(3);
  report.stage = model::Stage::kDecode;
  report.kernels = {{.op = "rope", .variant = "loops", .calls = 4, .total_ns = 99}};
  report.memory_used_bytes = 7;
  report.memory_peak_bytes = 8;
  const auto message = SteppedMessage(report);
  const worker::v1::StepStats& stats = message.step_stats();
  ASSERT_EQ(stats.steps_size(), 1);
  EXPECT_EQ(stats.steps(0).jobs_size(), 2);
  EXPECT_EQ(stats.steps(0).job_rows(1), 20);
  EXPECT_EQ(stats.steps(0).plan(), "auto");
  EXPECT_EQ(stats.steps(0).duration().nanos(), 3'000'000);
  EXPECT_EQ(stats.steps(0).stage(), reel::v1::STAGE_DECODE);
  EXPECT_EQ(stats.steps(0).kernels(0).total().nanos(), 99);
  EXPECT_EQ(stats.memory_used_bytes(), 7);
  EXPECT_EQ(stats.memory_peak_bytes(), 8);
}

TEST(EventMessages, CarriesTheResultOfAJob) {
  JobResult result;
  result.media.size_bytes = 77;
  result.media.content_type = "video/mp4";
  result.stats.prompt_tokens = 5;
  result.notices = {{.code = "PROMPT_CUT", .message = "m"}};
  const auto message = FinishedMessage(kJob, result);
  EXPECT_EQ(message.finished().size_bytes(), 77);
  EXPECT_EQ(message.finished().media().content_type(), "video/mp4");
  EXPECT_EQ(message.finished().stats().prompt_tokens(), 5);
  EXPECT_EQ(message.finished().notices(0).code(), "PROMPT_CUT");
}

TEST(EventMessages, CarriesPreviewParkAndModelFailure) {
  const auto preview = PreviewMessage(kJob, {.step = 3, .jpeg = "jpg", .width = 8, .height = 6});
  EXPECT_EQ(preview.preview().preview().step(), 3);
  EXPECT_EQ(preview.preview().preview().image(), "jpg");
  EXPECT_EQ(preview.preview().preview().height(), 6);
  EXPECT_EQ(ParkedMessage(kJob, 12).parked().device_bytes(), 12);
  const auto failed = ModelFailedMessage("m", absl::InternalError("no"));
  EXPECT_EQ(failed.model_state().model(), "m");
  EXPECT_EQ(failed.model_state().error().message(), "no");
}

TEST(EventMessages, KernelsAndPluginsGoWithTheWorkersName) {
  const auto message = KernelsMessage(
      "w0",
      {{.op = "rope",
        .variants =
            {{.name = "mine", .origin = "mine", .runs = true, .is_auto = false, .reason = ""}}}},
      {{.name = "mine", .loaded = true, .reason = "", .id = "_mine_1"},
       {.name = "old", .loaded = false, .reason = "too old", .id = ""}});
  const worker::v1::KernelList& list = message.kernels();
  EXPECT_EQ(list.kernels(0).variants(0).origin(), "mine");
  EXPECT_EQ(list.kernels(0).variants(0).support(0).worker(), "w0");
  ASSERT_EQ(list.plugins_size(), 2);
  EXPECT_EQ(list.plugins(0).support(0).worker(), "w0");
  EXPECT_EQ(list.plugins(1).support(0).reason(), "too old");
}

}  // namespace
}  // namespace reel::worker
