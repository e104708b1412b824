// SPDX-License-Identifier: Apache-2.0
// A parked job resumes exactly, on a tiny LTX-Video model.
#include <gtest/gtest.h>

#include <string>

#include "model/registry.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/unit/server/worker/engine/engine_fixture.h"

namespace reel::worker {
namespace {

class EngineParkingTest : public EngineTest {
 protected:
  EngineParkingTest() {
    model::AddModelVariants(catalog_);
    model::LoadOptions load;
    load.name = "tiny";
    load.path = folder_.path();
    engine().Post(LoadModel{load});
  }
  void AssignTiny(const std::string& name, double order_key, int steps = 6) {
    model::GenerationSpec spec;
    spec.model = "tiny";
    spec.prompt = "a red circle";
    spec.width = spec.height = 64;
    spec.num_frames = 17;
    spec.num_inference_steps = steps;
    const auto resolved =
        model::Resolve(spec, events_.card("tiny"), model::RequestLimits(), /*fresh_seed=*/1);
    ASSERT_TRUE(resolved.ok()) << resolved.violations[0].description;
    engine().Post(Job(name, resolved.spec, order_key));
  }
  std::string Rendered(const std::string& name) {
    EXPECT_TRUE(events_.WaitForEnd(name));
    EXPECT_TRUE(events_.ended(name).error.ok()) << events_.ended(name).error;
    return events_.file(name);
  }

  const model::ltx::TinyFolder folder_{"0.9.5"};
};

TEST_F(EngineParkingTest, AParkedVideoIsTheSameAsOneThatRanAlone) {
  // Parked for another at its second step, on the device, and at its fourth, in host memory; each
  // time until the other has done its steps.
  events_.on_progress = [this](const JobRef& job, model::Stage stage, int step) {
    if (job.job == "parked" && stage == model::Stage::kDenoise && (step == 2 || step == 4)) {
      engine().Post(ParkJob{"parked", step == 4});
      AssignTiny(step == 2 ? "first" : "second", 1, 3);
    }
    if ((job.job == "first" || job.job == "second") && stage == model::Stage::kDecode) {
      engine().Post(ResumeJob{"parked"});
    }
  };
  Start();
  ASSERT_TRUE(events_.WaitForModel("tiny"));
  AssignTiny("solo", 0);
  const std::string solo = Rendered("solo");
  AssignTiny("parked", 0);
  EXPECT_EQ(Rendered("parked"), solo);
  EXPECT_EQ(Rendered("first"), Rendered("second"));
  EXPECT_FALSE(solo.empty());
}

TEST_F(EngineParkingTest, TextAndFramesOfOthersBetweenStepsChangeNothing) {
  events_.on_progress = [this](const JobRef& job, model::Stage stage, int step) {
    if (job.job != "long" || stage != model::Stage::kDenoise) return;
    if (step == 2 || step == 3) AssignTiny(step == 2 ? "a" : "b", 1, 3);
  };
  Start();
  ASSERT_TRUE(events_.WaitForModel("tiny"));
  AssignTiny("solo", 0);
  AssignTiny("solo short", 0, 3);
  const std::string solo = Rendered("solo"), solo_short = Rendered("solo short");
  AssignTiny("long", 0);
  EXPECT_EQ(Rendered("long"), solo);
  EXPECT_EQ(Rendered("a"), solo_short);
  EXPECT_EQ(Rendered("b"), solo_short);
}

}  // namespace
}  // namespace reel::worker
