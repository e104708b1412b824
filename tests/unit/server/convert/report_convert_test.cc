// SPDX-License-Identifier: Apache-2.0
#include "server/convert/report_convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "server/convert/worker_convert.h"
#include "server/errors/error.h"
#include "tests/unit/server/convert/filled_message.h"

namespace reel {
namespace {

using worker::v1::AttachRequest;

// As it goes over the stream and is sent on: all of it must still be there.
AttachRequest Again(const AttachRequest& message) {
  return ReportToProto(ReportFromProto(message).value());
}

TEST(ReportConvert, EveryMessageOfAWorkerIsAReportButHelloAndTheLifeSign) {
  const auto& messages = *AttachRequest::descriptor()->FindOneofByName("message");
  for (int i = 0; i < messages.field_count(); ++i) {
    AttachRequest message;
    Fill(*message.GetReflection()->MutableMessage(&message, messages.field(i)));
    const auto report = ReportFromProto(message);
    const bool is_report = !message.has_hello() && !message.has_heartbeat();
    ASSERT_EQ(report.has_value(), is_report) << messages.field(i)->name();
    if (!is_report) continue;
    EXPECT_EQ(ReportToProto(*report).message_case(), message.message_case());
  }
}

TEST(ReportConvert, CarriesEveryFieldOfWhatAJobDoes) {
  AttachRequest message;
  Fill(*message.mutable_progress());
  EXPECT_EQ(Difference(message, Again(message)), "");
  Fill(*message.mutable_preview());
  EXPECT_EQ(Difference(message, Again(message)), "");
  Fill(*message.mutable_media());
  EXPECT_EQ(Difference(message, Again(message)), "");
  Fill(*message.mutable_state());
  EXPECT_EQ(Difference(message, Again(message)), "");
  Fill(*message.mutable_parked());
  EXPECT_EQ(Difference(message, Again(message)), "");
  Fill(*message.mutable_finished());
  // Said twice: of the file, and in what clients see of it.
  message.mutable_finished()->mutable_media()->set_size_bytes(message.finished().size_bytes());
  // What the front adds: whose arm it was.
  message.mutable_finished()->mutable_stats()->clear_experiment();
  message.mutable_finished()->mutable_stats()->clear_arm();
  EXPECT_EQ(Difference(message, Again(message)), "");
}

TEST(ReportConvert, CarriesEveryStepOfABatch) {
  AttachRequest message;
  Fill(*message.mutable_step_stats());
  ASSERT_EQ(message.step_stats().steps_size(), 2);
  EXPECT_EQ(Difference(message, Again(message)), "");
}

TEST(ReportConvert, GivesAFailureItsReasonAndValuesBack) {
  ErrorDetails details;
  details.metadata["steps_done"] = "3";
  const absl::Status error = MakeError(Reason::kNumericalFault, "The numbers went bad", details);
  const auto report = ReportFromProto(ReportToProto({"w", {"j", 2}, JobFailed{error, true, true}}));
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->ref.job, "j");
  EXPECT_EQ(report->ref.attempt, 2);
  EXPECT_EQ(std::get<JobFailed>(report->event).error, error);
  EXPECT_TRUE(std::get<JobFailed>(report->event).suspect);
  EXPECT_TRUE(std::get<JobFailed>(report->event).device_lost);
}

TEST(ReportConvert, AModelIsLoadedUnderItsConfiguredNameOrFailed) {
  model::ModelCard card;
  card.name = "its own";
  card.defaults.max_text_tokens = 128;
  const WarmedUp made{{768, 512, 49}, absl::Milliseconds(700), absl::OkStatus()};
  const WarmedUp refused{{64, 64, 9}, absl::ZeroDuration(), absl::InternalError("why")};
  const auto loaded =
      ReportFromProto(ReportToProto({"w", {}, ModelLoaded{"m", card, 7, {made, refused}}}));
  const std::vector<WarmedUp>& warm_ups = std::get<ModelLoaded>(loaded->event).warm_ups;
  ASSERT_EQ(warm_ups.size(), 2U);
  EXPECT_EQ(warm_ups[0].size, made.size);
  EXPECT_EQ(warm_ups[0].took, made.took);
  EXPECT_TRUE(warm_ups[0].status.ok());
  EXPECT_EQ(warm_ups[1].status.message(), "why");
  EXPECT_EQ(std::get<ModelLoaded>(loaded->event).model, "m");
  EXPECT_EQ(std::get<ModelLoaded>(loaded->event).revision, 7);
  EXPECT_EQ(std::get<ModelLoaded>(loaded->event).card.defaults.max_text_tokens, 128);
  const absl::Status error = MakeError(Reason::kInternal, "no such file");
  const auto failed = ReportFromProto(ReportToProto({"w", {}, ModelFailed{"m", error, 8}}));
  EXPECT_EQ(std::get<ModelFailed>(failed->event).model, "m");
  EXPECT_EQ(std::get<ModelFailed>(failed->event).revision, 8);
  EXPECT_EQ(std::get<ModelFailed>(failed->event).error, error);
}

TEST(ReportConvert, AModelThatIsOnlyKnownIsNotLoaded) {
  model::ModelCard card;
  card.weight_bytes = 5;
  card.memory = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto report = ReportFromProto(ReportToProto({"w", {}, ModelKnown{"m", card}}));
  const auto* known = std::get_if<ModelKnown>(&report->event);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->model, "m");
  EXPECT_EQ(known->card.weight_bytes, 5);
  EXPECT_EQ(known->card.memory, card.memory);
}

TEST(ReportConvert, TellsADevicesMemoryWithAndWithoutTexts) {
  Stepped told;
  told.prompts = {1, 2};
  told.millijoules = 70'500;
  told.adapters = {1, 2, 3'000};
  told.held = {.adapters = 4, .host_weights = 5};
  const auto without = ReportFromProto(ReportToProto({"w", {}, told}));
  EXPECT_EQ(std::get<Stepped>(without->event).memory, model::DeviceMemory());
  EXPECT_EQ(std::get<Stepped>(without->event).prompts.encoded, 2);
  EXPECT_EQ(std::get<Stepped>(without->event).millijoules, 70'500);
  EXPECT_EQ(std::get<Stepped>(without->event).adapters, told.adapters);
  EXPECT_EQ(std::get<Stepped>(without->event).held, told.held);
  told.memory = {.held = 5, .reserved = 4, .in_use = 3, .kept = 1, .most = 6};
  told.adapters = {};
  const auto with = ReportFromProto(ReportToProto({"w", {}, told}));
  EXPECT_EQ(std::get<Stepped>(with->event).memory, told.memory);
  EXPECT_EQ(std::get<Stepped>(with->event).held, told.held);
  EXPECT_EQ(std::get<Stepped>(with->event).prompts.encoded, 2);
}

TEST(ReportConvert, ListsKernelsInTheNameOfTheWorker) {
  KernelsListed listed;
  listed.kernels = {{"rope", {{"loops", "built-in", true, true, ""}}}};
  const AttachRequest message = ReportToProto({"w7", {}, listed});
  EXPECT_EQ(message.kernels().kernels(0).variants(0).support(0).worker(), "w7");
  const auto report = ReportFromProto(message);
  EXPECT_EQ(std::get<KernelsListed>(report->event).kernels.at(0).op, "rope");
}

TEST(ReportConvert, MovesMediaInsteadOfCopyingIt) {
  std::string bytes(1 << 20, 'm');
  const char* data = bytes.data();
  AttachRequest message = ReportToProto({"w", {"j", 1}, JobMedia{0, std::move(bytes), true}});
  EXPECT_EQ(message.media().data().data(), data);
  const auto report = ReportFromProto(std::move(message));
  EXPECT_EQ(std::get<JobMedia>(report->event).bytes.data(), data);
}

TEST(ReportConvert, CarriesEveryFieldOfAnAssignment) {
  worker::v1::Assign assign;
  Fill(assign);
  assign.mutable_spec()->clear_conditions();  // spec_convert_test
  EXPECT_EQ(Difference(assign, AssignmentToProto(AssignmentFromProto(assign))), "");
}

TEST(ReportConvert, AnAssignmentWithoutADeadlineHasEndlessTime) {
  EXPECT_EQ(AssignmentFromProto(worker::v1::Assign()).time_left, absl::InfiniteDuration());
  EXPECT_FALSE(AssignmentToProto(Assignment()).has_time_left());
}

}  // namespace
}  // namespace reel
