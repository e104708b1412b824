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

TEST(CheckModel, SaysWhatIsWrongAndWhatToDo) {
  const auto of = [](Wrong wrong, absl::Status status) {
    return CheckJson({wrong, std::move(status), {}}, OptionsFor("/m"));
  };
  EXPECT_THAT(
      of(Wrong::kPath, absl::FailedPreconditionError("none \"here\"")),
      AllOf(HasSubstr(R"("ok":false,"problem":"none \"here\"")"), HasSubstr("model_index.json")));
  EXPECT_THAT(of(Wrong::kFiles, absl::NotFoundError("vae")), HasSubstr("part of the model"));
  EXPECT_THAT(of(Wrong::kFiles, absl::FailedPreconditionError("x")), HasSubstr("sha256sum"));
  EXPECT_THAT(of(Wrong::kFiles, absl::InvalidArgumentError("x")), HasSubstr("types"));
}

}  // namespace
}  // namespace reel::render
