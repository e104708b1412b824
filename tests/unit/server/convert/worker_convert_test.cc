// SPDX-License-Identifier: Apache-2.0
#include "server/convert/worker_convert.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/unit/server/convert/filled_message.h"

namespace reel {
namespace {

TEST(WorkerConvert, CarriesTheWholeCard) {
  worker::v1::ModelState state;
  Fill(state);
  state.clear_error();
  state.clear_revision();  // of the report
  state.clear_warm_ups();
  // Facts that are the front's, and those that the card repeats for clients.
  v1::Model& card = *state.mutable_card();
  state.set_model(card.name());
  state.clear_only_known();
  card.clear_is_default();
  card.clear_ready();
  card.clear_state();
  card.clear_problem();
  card.clear_refining_presets();
  for (v1::Adapter& in_the_weights : *card.mutable_fixed_adapters()) {
    in_the_weights.clear_part_scales();
    in_the_weights.clear_pass_scales();
  }
  card.set_weights_form("e4m3");
  card.set_text_form("e4m3");
  card.set_decoder("diffusion");
  const auto as_described = [](v1::VideoSpec& values) { values.clear_conditions(); };
  as_described(*state.mutable_defaults());
  card.clear_presets();
  for (worker::v1::Preset& preset : *state.mutable_presets()) {
    as_described(*preset.mutable_values());
    card.add_presets(preset.name());
  }
  const v1::VideoSpec& defaults = state.defaults();
  card.mutable_defaults()->set_width(defaults.width());
  card.mutable_defaults()->set_height(defaults.height());
  card.mutable_defaults()->set_num_frames(defaults.num_frames());
  card.mutable_defaults()->set_frame_rate(defaults.frame_rate());
  card.mutable_defaults()->set_num_inference_steps(defaults.timesteps_size());
  card.mutable_defaults()->set_guidance_scale(defaults.guidance_scale());
  card.mutable_defaults()->set_negative_prompt(defaults.negative_prompt());

  const worker::v1::ModelState again = CardToModelState(CardFromModelState(state));
  EXPECT_EQ(Difference(state, again), "");
}

TEST(WorkerConvert, CarriesEverySettingThatWorkersTake) {
  worker::v1::Configure sent;
  Fill(sent);
  for (worker::v1::LoadModel& load : *sent.mutable_models()) {
    load.clear_path();
    load.clear_revision();  // of a command
    for (worker::v1::PartFile& file : *load.mutable_parts()) file.set_part("vae");
    load.mutable_offload()->set_text("host");
    load.set_weights_form("e4m3");
    load.set_text_form("e4m3");
    load.set_decoder("diffusion");
  }
  EXPECT_EQ(Difference(sent, SettingsToProto(SettingsFromProto(sent))), "");
}

TEST(WorkerConvert, LeavesTheTestCardOutOfModelsWithAPath) {
  model::LoadOptions options;
  options.path = "/models/ltx";
  const worker::v1::LoadModel load = LoadToProto(options);
  EXPECT_FALSE(load.has_test_card());
  EXPECT_EQ(LoadFromProto(load).path, "/models/ltx");
}

TEST(WorkerConvert, TakesDefaultsForUnsetSettings) {
  const WorkerSettings settings = SettingsFromProto(worker::v1::Configure());
  EXPECT_EQ(settings.fill_rows, WorkerSettings().fill_rows);
  EXPECT_EQ(settings.encoder_threads, WorkerSettings().encoder_threads);
  EXPECT_EQ(settings.kernel_sample_every, 0);
  const model::TestCardOptions card = TestCardFromProto(worker::v1::TestCard());
  EXPECT_EQ(card.step_time, absl::Milliseconds(20));
  EXPECT_EQ(card.step_time_per_extra_job, absl::Milliseconds(5));
  EXPECT_EQ(card.decode_time_per_frame, absl::Milliseconds(1));
}

TEST(WorkerConvert, KeepsAStepTimeOfZeroApartFromAnUnsetOne) {
  worker::v1::TestCard card;
  card.mutable_step_time();
  EXPECT_EQ(TestCardFromProto(card).step_time, absl::ZeroDuration());
}

TEST(WorkerConvert, CarriesReasonMessageAndValuesOfAnError) {
  ErrorDetails details;
  details.metadata["step"] = "3";
  const absl::Status error =
      MakeError(Reason::kNumericalFault, "The numbers went bad at step 3", details);
  const worker::v1::JobError proto = ErrorToProto(error, true);
  EXPECT_TRUE(proto.job_is_suspect());
  EXPECT_EQ(proto.reason(), "NUMERICAL_FAULT");
  EXPECT_EQ(proto.code(), static_cast<int>(absl::StatusCode::kInternal));
  EXPECT_EQ(ErrorFromProto(proto), error);
}

TEST(WorkerConvert, TurnsStrangeErrorsIntoInternalOnes) {
  const worker::v1::JobError proto = ErrorToProto(absl::UnknownError("odd"), false);
  EXPECT_EQ(proto.reason(), "INTERNAL");
  worker::v1::JobError unknown;
  unknown.set_reason("FROM_THE_FUTURE");
  unknown.set_message("m");
  EXPECT_EQ(ReasonOf(ErrorFromProto(unknown)), Reason::kInternal);
}

}  // namespace
}  // namespace reel
