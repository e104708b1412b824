// SPDX-License-Identifier: Apache-2.0
#include "server/front/configured_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reel::front {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(ConfiguredModels, WhatAModelIsMadeOfTravelsWithIt) {
  config::v1::Model model;
  model.set_name("m");
  model.set_path("/m");
  model.set_manifest_file("/f");
  model.set_text_folder("/t");
  config::v1::Model with_parts = model;
  with_parts.add_parts()->set_part("vae");
  with_parts.mutable_parts(0)->set_path("/v.gguf");
  with_parts.mutable_random_weights()->set_seed(7);
  EXPECT_EQ(LoadOptionsOf(model, {}).manifest_file, "/f");
  EXPECT_EQ(LoadOptionsOf(model, {}).text_folder, "/t");
  EXPECT_EQ(LoadOptionsOf(model, {}).random_weights, std::nullopt);
  EXPECT_THAT(LoadOptionsOf(with_parts, {}).parts,
              ElementsAre(model::PartFile{model::ModelPart::kVae, "/v.gguf"}));
  EXPECT_EQ(LoadOptionsOf(with_parts, {}).random_weights, 7);
  EXPECT_EQ(LoadOptionsOf(model, {}).offload, model::Offload());
  model.mutable_offload()->set_text("host");
  model.mutable_offload()->set_resident_blocks(0);
  EXPECT_EQ(LoadOptionsOf(model, {}).offload,
            (model::Offload{.text = model::Place::kHost, .resident_blocks = 0}));
  EXPECT_EQ(LoadOptionsOf(model, {}).weights_form, model::WeightsForm::k16);
  EXPECT_EQ(LoadOptionsOf(model, {}).text_form, model::WeightsForm::k16);
  EXPECT_EQ(LoadOptionsOf(model, {}).decoder, "");
  model.set_text_form("e4m3");
  EXPECT_EQ(LoadOptionsOf(model, {}).text_form, model::WeightsForm::kE4m3);
  model.set_decoder("diffusion");
  EXPECT_EQ(LoadOptionsOf(model, {}).decoder, "diffusion");
  model.set_weights_form("e4m3");
  EXPECT_EQ(LoadOptionsOf(model, {}).weights_form, model::WeightsForm::kE4m3);
}

TEST(ConfiguredModels, ATestCardHasItsCostsAndFaults) {
  config::v1::Model model;
  model.mutable_test_card()->add_faults()->set_step(3);
  EXPECT_EQ(LoadOptionsOf(model, {}).test_card.step_time, absl::Milliseconds(20));
  EXPECT_EQ(LoadOptionsOf(model, {}).test_card.faults[0].step, 3);
}

TEST(ConfiguredModels, AModelKnowsTheWorkersThatHaveIt) {
  config::v1::ServerConfig config;
  config.add_models()->set_name("big");
  config.add_models()->set_name("small");
  config.mutable_models(0)->set_path("/big");
  for (const char* name : {"w0", "w1"}) {
    config.add_workers()->set_name(name);
    config.mutable_workers()->rbegin()->add_models("small");
  }
  config.mutable_workers(0)->add_models("big");
  const std::vector<ModelSource> sources = SourcesOf(config);
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].load.path, "/big");
  EXPECT_THAT(sources[0].workers, ElementsAre("w0"));
  EXPECT_THAT(sources[1].workers, ElementsAre("w0", "w1"));
}

TEST(ConfiguredModels, AProfileOnAnotherOneHasItsVariantsAndItsBase) {
  config::v1::ServerConfig config;
  const auto add = [&config](const char* name, const char* base) -> auto& {
    config::v1::KernelProfile& profile = *config.add_kernel_profiles();
    profile.set_name(name);
    profile.set_base(base);
    return *profile.mutable_variants();
  };
  auto& first = add("p", "reference");
  first["rms_norm"] = "sm80";
  first["rope"] = "cpu";
  add("q", "p")["rms_norm"] = "sm90";
  add("r", "q");
  const std::vector<KernelProfileOptions> profiles = ProfilesOf(config);
  ASSERT_EQ(profiles.size(), 3U);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(profiles[i].base, "reference");
    EXPECT_THAT(profiles[i].variants, ElementsAre(Pair("rms_norm", "sm90"), Pair("rope", "cpu")));
  }
}

TEST(ConfiguredModels, TheSharesOfArmsAreTheirWeightsOfAll) {
  config::v1::Experiment experiment;
  for (const double weight : {3, 1}) experiment.add_arms()->set_weight(weight);
  experiment.mutable_arms(1)->set_profile("mine");
  const std::vector<ExperimentArm> arms = ArmsOf(experiment);
  ASSERT_EQ(arms.size(), 2U);
  EXPECT_EQ(arms[0].share, 0.75);
  EXPECT_EQ(arms[1].share, 0.25);
  EXPECT_EQ(arms[1].profile, "mine");
}

TEST(ConfiguredModels, HaveTheAdaptersThatTheyName) {
  config::v1::ServerConfig config;
  for (const char* name : {"grain", "turn"}) {
    config::v1::Adapter& adapter = *config.add_adapters();
    adapter.set_name(name);
    adapter.set_file(absl::StrCat("/loras/", name));
    adapter.set_sha256("aa");
  }
  config::v1::Model model;
  model.set_path("/m");
  EXPECT_THAT(LoadOptionsOf(model, config).adapters, ::testing::IsEmpty());
  model.add_adapters()->set_name("turn");
  config::v1::ModelAdapter& scaled = *model.add_adapters();
  scaled.set_name("grain");
  scaled.set_scale(-0.5);
  EXPECT_THAT(LoadOptionsOf(model, config).adapters,
              ::testing::ElementsAre(model::FixedAdapter{"turn", "/loras/turn", 1, "aa"},
                                     model::FixedAdapter{"grain", "/loras/grain", -0.5, "aa"}));
}

}  // namespace
}  // namespace reel::front
