// SPDX-License-Identifier: Apache-2.0
#include "server/render/check_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::render {
namespace {

using ::testing::HasSubstr;
using Wrong = model::ModelCheck::Wrong;

RenderOptions OptionsFor(const std::string& path) {
  RenderOptions options;
  options.model_path = path;
  return options;
}

model::ModelCheck Good() {
  model::ModelCheck check;
  check.card.family = "LTX-Video 0.9.5";
  check.card.parameters = 2'000'000;
  check.card.weight_bytes = 4'000'000;
  check.card.calls = {{"rms_norm", "bf16", 64}};
  return check;
}

TEST(CheckModel, DescribesWhatCanBeLoaded) {
  EXPECT_EQ(CheckText(Good(), OptionsFor("/m")),
            "/m can be loaded: LTX-Video 0.9.5, 2.0 million parameters, 4.0 MB as bf16\n");
  EXPECT_EQ(CheckJson(Good(), OptionsFor("/m")),
            R"({"model":"/m","ok":true,"family":"LTX-Video 0.9.5","parameters":2000000,)"
            R"("weightBytes":4000000,"dtype":"bf16"})"
            "\n");
  RenderOptions with_parts = OptionsFor("/m");
  with_parts.parts = {{model::ModelPart::kTransformer, "/files/t.gguf"}};
  EXPECT_THAT(CheckText(Good(), with_parts), HasSubstr("as bf16, transformer from t.gguf\n"));
  EXPECT_THAT(CheckJson(Good(), with_parts),
              HasSubstr(R"("parts":{"transformer":"/files/t.gguf"}})"));
  model::ModelCheck card;
  card.card.family = "test card";
  EXPECT_EQ(CheckText(card, OptionsFor("")), "testcard can be loaded: test card\n");
}

TEST(CheckModel, TellsHowWeightsAreHeldWhereThatWasPlanned) {
  model::ModelCheck check = Good();
  model::FitPlan& fit = check.card.fit.emplace();
  fit.resident_blocks = 3;
  fit.streamed_blocks = 5;
  fit.ring_slots = 3;
  fit.slot_bytes = 100'000'000;
  fit.usable = 2'000'000'000;
  fit.usual_video = 500'000'000;
  fit.step_copies = 400'000'000;
  fit.parts = {{"transformer", 600'000'000, 400'000'000}, {"ring", 300'000'000, 0}};
  EXPECT_EQ(CheckText(check, OptionsFor("/m")),
            "/m can be loaded: LTX-Video 0.9.5, 2.0 million parameters, 1000.0 MB as bf16\n"
            "  transformer: 0.6 GB on the device, 0.4 GB on the host\n"
            "  ring: 0.3 GB on the device, 0.0 GB on the host\n"
            "  of 2.0 GB that can be used the default video takes 0.5\n");
  EXPECT_THAT(
      CheckJson(check, OptionsFor("/m")),
      HasSubstr(
          R"("weightBytes":1000000000,"dtype":"bf16","fit":{"usable":2000000000,)"
          R"("deviceBytes":900000000,"hostBytes":400000000,)"
          R"("defaultVideo":500000000,"left":600000000,"residentBlocks":3,)"
          R"("streamedBlocks":5,"stepCopies":400000000,"textCopies":0,"pictureCopies":0,"parts":[)"
          R"({"name":"transformer","device":600000000,"host":400000000},)"
          R"({"name":"ring","device":300000000,"host":0}]}})"));
}

TEST(CheckModel, SaysWhatIsWrongAndWhatToDo) {
  const auto of = [](Wrong wrong, absl::Status status) {
    return CheckJson({wrong, std::move(status), {}}, OptionsFor("/m"));
  };
  EXPECT_THAT(
      of(Wrong::kPath, absl::FailedPreconditionError("none \"here\"")),
      AllOf(HasSubstr(R"("ok":false,"problem":"none \"here\"")"), HasSubstr("model_index.json")));
  EXPECT_THAT(of(Wrong::kFiles, absl::NotFoundError("vae")), HasSubstr("part of the model"));
  EXPECT_THAT(of(Wrong::kFiles, absl::FailedPreconditionError("x")), HasSubstr("sha256sum"));
  EXPECT_THAT(of(Wrong::kFiles, absl::ResourceExhaustedError("x")), HasSubstr("more memory"));
  EXPECT_THAT(of(Wrong::kFiles, absl::InvalidArgumentError("x")), HasSubstr("types"));
}

}  // namespace
}  // namespace reel::render
