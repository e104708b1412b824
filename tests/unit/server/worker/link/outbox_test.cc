// SPDX-License-Identifier: Apache-2.0
#include "server/worker/link/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reel::worker {
namespace {

using Message = Outbox::Message;
using testing::ElementsAre;

Message Progress(const std::string& job, reel::v1::Stage stage, int step) {
  Message message;
  message.mutable_progress()->set_job(job);
  message.mutable_progress()->set_stage(stage);
  message.mutable_progress()->set_step(step);
  return message;
}
Message Media(const std::string& job, size_t bytes) {
  Message message;
  message.mutable_media()->set_job(job);
  message.mutable_media()->set_data(std::string(bytes, 'm'));
  return message;
}
Message State(const std::string& job, size_t bytes) {
  Message message;
  message.mutable_state()->set_job(job);
  message.mutable_state()->set_data(std::string(bytes, 's'));
  return message;
}
Message Finished(const std::string& job) {
  Message message;
  message.mutable_finished()->set_job(job);
  return message;
}
Message Failed(const std::string& job) {
  Message message;
  message.mutable_failed()->set_job(job);
  return message;
}

std::string Text(const Message& message) {
  if (message.has_progress()) {
    return absl::StrCat("progress ", message.progress().job(), " ", message.progress().stage(), " ",
                        message.progress().step());
  }
  if (message.has_media()) return "media " + message.media().job();
  if (message.has_state()) return "state " + message.state().job();
  if (message.has_finished()) return "finished " + message.finished().job();
  if (message.has_failed()) return "failed " + message.failed().job();
  if (message.has_heartbeat())
    return absl::StrCat("beat ", message.heartbeat().in_step().seconds());
  if (message.has_preview()) return absl::StrCat("preview ", message.preview().preview().step());
  return "?";
}

std::vector<std::string> Drained(Outbox& outbox) {
  outbox.End();
  std::vector<std::string> lines;
  while (auto message = outbox.Pop()) lines.push_back(Text(*message));
  return lines;
}

TEST(Outbox, SendsControlBeforeMedia) {
  Outbox outbox(1000);
  outbox.Push(Media("a", 10));
  outbox.Push(Progress("b", reel::v1::STAGE_DENOISE, 1));
  EXPECT_THAT(Drained(outbox), ElementsAre("progress b 4 1", "media a"));
}

TEST(Outbox, SendsAFinishedBehindTheMediaOfItsJob) {
  Outbox outbox(1000);
  outbox.Push(Media("a", 10));
  outbox.Push(Finished("a"));
  outbox.Push(Media("b", 10));
  EXPECT_THAT(Drained(outbox), ElementsAre("media a", "finished a", "media b"));
}

TEST(Outbox, SendsAStateBetweenItsJobsMediaAndItsEnd) {
  Outbox outbox(1000);
  outbox.Push(Media("a", 10));
  outbox.Push(State("a", 10));
  outbox.Push(Finished("a"));
  outbox.Push(Progress("b", reel::v1::STAGE_DENOISE, 1));
  EXPECT_THAT(Drained(outbox), ElementsAre("progress b 4 1", "media a", "state a", "finished a"));
}

TEST(Outbox, BoundsStatesAndDropsThoseOfAFailedJob) {
  Outbox outbox(20);
  outbox.Push(State("a", 10));
  outbox.Push(State("b", 10));
  outbox.Push(Failed("a"));
  outbox.Push(State("b", 10));  // there is room again, else this would block
  std::thread producer([&] { EXPECT_TRUE(outbox.Push(State("b", 1))); });
  EXPECT_EQ(Text(*outbox.Pop()), "failed a");
  EXPECT_EQ(Text(*outbox.Pop()), "state b");  // only then is there room for the last one
  producer.join();
  EXPECT_THAT(Drained(outbox), ElementsAre("state b", "state b"));
}

TEST(Outbox, DropsTheMediaOfAFailedJobAlone) {
  Outbox outbox(20);
  outbox.Push(Media("a", 10));
  outbox.Push(Media("b", 10));
  outbox.Push(Failed("a"));
  outbox.Push(Media("b", 1));  // there is room again, else this would block
  EXPECT_THAT(Drained(outbox), ElementsAre("failed a", "media b", "media b"));
}

TEST(Outbox, KeepsTheFirstAndTheLatestStepOfEachStage) {
  Outbox outbox(1000);
  for (int step = 1; step <= 8; ++step) {
    outbox.Push(Progress("a", reel::v1::STAGE_DENOISE, step));
    outbox.Push(Progress("b", reel::v1::STAGE_DENOISE, step));
  }
  outbox.Push(Progress("a", reel::v1::STAGE_DECODE, 8));
  EXPECT_THAT(Drained(outbox), ElementsAre("progress a 4 1", "progress b 4 1", "progress a 4 8",
                                           "progress b 4 8", "progress a 5 8"));
}

TEST(Outbox, KeepsOneHeartbeatAndOnePreviewOfAJob) {
  Outbox outbox(1000);
  for (int i = 1; i <= 3; ++i) {
    Message beat, preview;
    beat.mutable_heartbeat()->mutable_in_step()->set_seconds(i);
    preview.mutable_preview()->set_job("a");
    preview.mutable_preview()->mutable_preview()->set_step(i);
    outbox.Push(beat);
    outbox.Push(preview);
  }
  EXPECT_THAT(Drained(outbox), ElementsAre("beat 3", "preview 3"));
}

TEST(Outbox, GathersStepsAndForgetsTheOldest) {
  Outbox outbox(1000);
  for (int i = 0; i < Outbox::kMaxSteps + 10; ++i) {
    Message message;
    message.mutable_step_stats()->add_steps()->set_rows(i);
    message.mutable_step_stats()->mutable_memory()->set_held(i);
    message.mutable_step_stats()->set_prompt_cache_hits(1);
    message.mutable_step_stats()->set_prompt_cache_misses(2);
    outbox.Push(message);
  }
  const Message gathered = *outbox.Pop();
  ASSERT_EQ(gathered.step_stats().steps_size(), Outbox::kMaxSteps);
  EXPECT_EQ(gathered.step_stats().steps(0).rows(), 10);
  EXPECT_EQ(gathered.step_stats().memory().held(), Outbox::kMaxSteps + 9);
  // Of what is counted nothing is forgotten.
  EXPECT_EQ(gathered.step_stats().prompt_cache_hits(), Outbox::kMaxSteps + 10);
  EXPECT_EQ(gathered.step_stats().prompt_cache_misses(), 2 * (Outbox::kMaxSteps + 10));
}

TEST(Outbox, GathersEveryFieldOfStepsReports) {
  Message message;
  worker::v1::StepStats& stats = *message.mutable_step_stats();
  stats.add_steps()->set_rows(1);
  stats.mutable_memory()->set_held(2);
  stats.set_prompt_cache_hits(3);
  stats.set_prompt_cache_misses(4);
  stats.set_millijoules(5);
  stats.mutable_adapters()->set_uploaded(6);
  stats.mutable_adapters()->set_refused(7);
  stats.mutable_adapters()->mutable_took()->set_nanos(600'000'000);
  stats.mutable_adapters()->set_held_bytes(8);
  stats.set_weights_host_bytes(9);
  std::vector<const google::protobuf::FieldDescriptor*> set;
  stats.GetReflection()->ListFields(stats, &set);
  ASSERT_EQ(static_cast<int>(set.size()), stats.GetDescriptor()->field_count())
      << "a new field: gather it, and set it here";

  Outbox behind_none(1000), behind_another(1000);
  Message none;
  none.mutable_step_stats();
  behind_none.Push(none);
  behind_none.Push(message);
  EXPECT_EQ(behind_none.Pop()->DebugString(), message.DebugString());
  behind_another.Push(message);
  behind_another.Push(message);
  const worker::v1::StepStats sum = behind_another.Pop()->step_stats();
  EXPECT_EQ(sum.steps_size(), 2);
  EXPECT_EQ(sum.memory().held(), 2) << "as it is now";
  EXPECT_EQ(sum.prompt_cache_hits(), 6);
  EXPECT_EQ(sum.prompt_cache_misses(), 8);
  EXPECT_EQ(sum.millijoules(), 10);
  EXPECT_EQ(sum.adapters().uploaded(), 12);
  EXPECT_EQ(sum.adapters().refused(), 14);
  EXPECT_EQ(sum.adapters().took().ShortDebugString(), "seconds: 1 nanos: 200000000");
  EXPECT_EQ(sum.adapters().held_bytes(), 8) << "as it is now";
  EXPECT_EQ(sum.weights_host_bytes(), 9) << "as it is now";
}

TEST(Outbox, MakesAProducerOfMediaWaitForRoom) {
  Outbox outbox(10);
  ASSERT_TRUE(outbox.Push(Media("a", 10)));
  std::thread producer([&] {
    EXPECT_TRUE(outbox.Push(Media("b", 10)));
    outbox.End();
  });
  // Both arrive only because taking the first lets the second in.
  EXPECT_EQ(Text(*outbox.Pop()), "media a");
  EXPECT_EQ(Text(*outbox.Pop()), "media b");
  producer.join();
  EXPECT_FALSE(outbox.Pop().has_value());
}

TEST(Outbox, ReleasesAProducerWhenItCloses) {
  Outbox outbox(10);
  outbox.Push(Media("a", 10));
  std::thread producer([&] { EXPECT_FALSE(outbox.Push(Media("b", 10))); });
  outbox.Close();
  producer.join();
  EXPECT_FALSE(outbox.Pop().has_value());
}

}  // namespace
}  // namespace reel::worker
