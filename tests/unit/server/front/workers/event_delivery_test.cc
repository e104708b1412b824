// SPDX-License-Identifier: Apache-2.0
#include "server/front/workers/event_delivery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/fakes/recording_events.h"

namespace reel::front {
namespace {

using testing::ElementsAre;

TEST(EventDelivery, TurnsEachMessageIntoItsReport) {
  RecordingEvents events;
  worker::v1::AttachRequest message;
  message.mutable_progress()->set_job("j");
  message.mutable_progress()->set_attempt(2);
  message.mutable_progress()->set_step(3);
  message.mutable_progress()->set_num_steps(8);
  DeliverJobEvent("w", message, events);

  message.mutable_preview()->set_job("j");
  message.mutable_preview()->set_attempt(2);
  message.mutable_preview()->mutable_preview()->set_step(4);
  message.mutable_preview()->mutable_preview()->set_image("jpeg");
  DeliverJobEvent("w", message, events);

  message.mutable_media()->set_job("j");
  message.mutable_media()->set_attempt(2);
  message.mutable_media()->set_offset(10);
  message.mutable_media()->set_data("bytes");
  message.mutable_media()->set_fragment_end(true);
  DeliverJobEvent("w", message, events);

  message.mutable_finished()->set_job("j");
  message.mutable_finished()->set_attempt(2);
  message.mutable_finished()->set_size_bytes(15);
  DeliverJobEvent("w", message, events);

  const auto heard = events.Take();
  EXPECT_THAT(heard.log, ElementsAre("progress j.2 3/8", "preview j.2 4 jpeg", "media j.2 10+5 end",
                                     "finished j.2"));
  EXPECT_EQ(heard.finished.at("j.2").size_bytes, 15);
}

TEST(EventDelivery, ReportsEveryStepOfABatch) {
  RecordingEvents events;
  worker::v1::AttachRequest message;
  for (int64_t rows : {100, 200}) {
    worker::v1::Step& step = *message.mutable_step_stats()->add_steps();
    step.add_jobs("j");
    step.set_rows(rows);
    step.add_job_rows(rows);
    step.mutable_duration()->set_nanos(5000);
    step.set_stage(v1::STAGE_DENOISE);
    step.add_kernels()->set_op("rope");
  }
  DeliverJobEvent("w", message, events);
  const auto steps = events.Take().steps;
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].rows, 200);
  EXPECT_THAT(steps[1].job_rows, ElementsAre(200));
  EXPECT_EQ(steps[1].duration, absl::Microseconds(5));
  EXPECT_EQ(steps[1].stage, model::Stage::kDenoise);
  EXPECT_EQ(steps[1].kernels.at(0).op, "rope");
}

TEST(EventDelivery, GivesAFailureItsReasonBack) {
  RecordingEvents events;
  worker::v1::AttachRequest message;
  message.mutable_failed()->set_job("j");
  message.mutable_failed()->set_attempt(1);
  message.mutable_failed()->mutable_error()->set_reason("NUMERICAL_FAULT");
  message.mutable_failed()->mutable_error()->set_job_is_suspect(true);
  DeliverJobEvent("w", message, events);
  const auto heard = events.Take();
  EXPECT_THAT(heard.log, ElementsAre("failed j.1 suspect"));
  EXPECT_EQ(ReasonOf(heard.failures.at(0).second), Reason::kNumericalFault);
}

}  // namespace
}  // namespace reel::front
