// SPDX-License-Identifier: Apache-2.0
// Jobs with conditions, on a tiny LTX-Video model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>

#include "model/registry.h"
#include "server/errors/error.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// One white pixel.
std::string Picture() {
  return std::string(
      "\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3A\x7E\x9B\x55"
      "\0\0\0\nIDAT\x78\x9C\x63\xF8\x0F\0\x01\x01\x01\0\xB1\x38\xF6\x14\0\0\0\0IEND\xAE\x42\x60"
      "\x82",
      67);
}

class EngineConditionsTest : public EngineTest {
 protected:
  EngineConditionsTest() {
    model::AddModelVariants(catalog_);
    model::LoadOptions load;
    load.name = "tiny";
    load.path = folder_.path();
    engine().Post(LoadModel{load});
    Start();
    EXPECT_TRUE(events_.WaitForModel("tiny"));
  }

  void AssignWith(const std::string& name, std::shared_ptr<const std::string> bytes) {
    model::GenerationSpec spec;
    spec.prompt = name;
    spec.width = spec.height = 64;
    spec.num_frames = 9;
    spec.num_inference_steps = 1;
    model::Condition condition;
    condition.bytes = std::move(bytes);
    condition.size_bytes = 1;
    spec.conditions = {condition};
    const auto resolved =
        model::Resolve(spec, events_.card("tiny"), model::RequestLimits(), /*fresh_seed=*/1);
    ASSERT_TRUE(resolved.ok()) << resolved.violations[0].description;
    engine().Post(Job(name, resolved.spec));
  }

  const model::ltx::TinyFolder folder_{"0.9.5"};
};

TEST_F(EngineConditionsTest, RendersFromAPicture) {
  AssignWith("a", std::make_shared<const std::string>(Picture()));
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_TRUE(events_.ended("a").error.ok()) << events_.ended("a").error;
  EXPECT_FALSE(events_.file("a").empty());
}

TEST_F(EngineConditionsTest, BadBytesAreTheJobsOwnFault) {
  AssignWith("a", std::make_shared<const std::string>("no picture"));
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_EQ(ReasonOf(events_.ended("a").error), Reason::kInvalidSpec);
  EXPECT_THAT(std::string(events_.ended("a").error.message()), HasSubstr("conditions[0]"));
  EXPECT_TRUE(events_.ended("a").suspect);
}

TEST_F(EngineConditionsTest, LostBytesAreNot) {
  AssignWith("a", nullptr);
  ASSERT_TRUE(events_.WaitForEnd("a"));
  EXPECT_EQ(ReasonOf(events_.ended("a").error), Reason::kInternal);
  EXPECT_FALSE(events_.ended("a").suspect);
}

// A worker is told paths of files that were there when the front read them.
TEST_F(EngineConditionsTest, AnAdapterThatCannotBeUsedEndsItsJobWithTheReason) {
  model::LoadOptions load;
  load.name = "adapted";
  load.path = folder_.path();
  load.adapter_ranks = 32;
  engine().Post(LoadModel{load});
  ASSERT_TRUE(events_.WaitForModel("adapted"));
  const std::string golden = std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/adapters/";
  const auto end = [&](const std::string& name, const std::string& path, const std::string& sum) {
    model::GenerationSpec spec;
    spec.prompt = name;
    spec.width = spec.height = 64;
    spec.num_frames = 9;
    spec.num_inference_steps = 1;
    spec.adapters = {{.name = "style", .scale = 1, .sha256 = sum, .path = path}};
    const auto resolved =
        model::Resolve(spec, events_.card("adapted"), model::RequestLimits(), /*fresh_seed=*/1);
    EXPECT_TRUE(resolved.ok());
    engine().Post(Job(name, resolved.spec));
    EXPECT_TRUE(events_.WaitForEnd(name));
    return events_.ended(name);
  };
  EXPECT_TRUE(end("right", golden + "ltx/style.safetensors", "").error.ok());
  const std::string other_sum(64, 'a');
  for (const auto& [name, path, sum, reason] :
       {std::tuple{"gone", "ltx/gone.safetensors", std::string(), Reason::kAdapterBroken},
        {"changed", "ltx/style.safetensors", other_sum, Reason::kAdapterBroken},
        {"damaged", "ltx2/../../generate.py", std::string(), Reason::kAdapterBroken},
        {"of_ltx2", "ltx2/style.safetensors", std::string(), Reason::kAdapterNotForModel}}) {
    const auto failed = end(name, golden + path, sum);
    EXPECT_EQ(ReasonOf(failed.error), reason) << name << failed.error;
    EXPECT_THAT(std::string(failed.error.message()), HasSubstr("'style'")) << name;
    EXPECT_THAT(std::string(failed.error.message()), Not(HasSubstr(golden))) << name;
    EXPECT_TRUE(failed.suspect) << name;
  }
}

TEST_F(EngineConditionsTest, AJobMayEndWhileItsConditionsAreDecoded) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = "job" + std::to_string(i);
    AssignWith(name, std::make_shared<const std::string>(Picture()));
    engine().Post(CancelJob{name});
    ASSERT_TRUE(events_.WaitForEnd(name));
  }
  AssignWith("last", std::make_shared<const std::string>(Picture()));
  EXPECT_TRUE(events_.WaitForEnd("last"));
}

}  // namespace
}  // namespace reel::worker
