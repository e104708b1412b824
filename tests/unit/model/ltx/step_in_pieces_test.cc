// SPDX-License-Identifier: Apache-2.0
// Steps that stand still between blocks, against whole ones, bit for bit.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

class StepsInPieces : public LtxPipeline {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    pipeline_ = Load(folder_);
    ASSERT_NE(pipeline_, nullptr);
  }

  std::unique_ptr<Generation> Begun(const std::string& kind) {
    return Begin(*pipeline_, TinySpec(kind), test_.run);
  }
  // To the last step, as a whole.
  void StepToTheEnd(Generation& generation) {
    while (generation.step() < generation.num_steps()) {
      StepAll(*pipeline_, {&generation}, test_.run);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  // One step in so many pieces, with `between` after each but the last. Returns how many there
  // were; 0: it cannot be divided.
  template <typename Between>
  int StepInPieces(std::vector<Generation*> generations, int pieces, const Between& between) {
    const auto step = pipeline_->BeginStep(generations, pieces, test_.run);
    if (step == nullptr) return 0;
    for (int made = 1;; ++made) {
      const auto statuses = step->Next(test_.run);
      if (!statuses.has_value()) {
        between();
        continue;
      }
      EXPECT_EQ(statuses->size(), generations.size());
      for (const absl::Status& status : *statuses) EXPECT_TRUE(status.ok()) << status;
      return made;
    }
  }

  const TinyFolder folder_{"0.9.5"};
  const TestRun test_;
  std::unique_ptr<Pipeline> pipeline_;
};

TEST_F(StepsInPieces, AreTheWholeStepBitForBitWhateverComesBetween) {
  for (const char* kind : {"text", "image", "condition"}) {
    const auto whole = Begun(kind), divided = Begun(kind), other = Begun("text");
    StepToTheEnd(*whole);
    while (divided->step() < divided->num_steps()) {
      const int pieces = StepInPieces({divided.get()}, 28, [&] {
        if (other->step() < other->num_steps()) pipeline_->Step({{other.get()}}, test_.run);
      });
      EXPECT_GT(pieces, 1);
    }
    EXPECT_TRUE(LatentsOf(*pipeline_, *divided).equal(LatentsOf(*pipeline_, *whole))) << kind;
    const auto alone = Begun("text");
    StepToTheEnd(*alone);
    StepToTheEnd(*other);
    EXPECT_TRUE(LatentsOf(*pipeline_, *other).equal(LatentsOf(*pipeline_, *alone))) << kind;
  }
}

TEST_F(StepsInPieces, HaveChangedNothingWhenTheyAreDroppedBeforeTheirEnd) {
  for (const char* kind : {"text", "condition"}) {
    const auto whole = Begun(kind), dropped = Begun(kind);
    StepToTheEnd(*whole);
    while (dropped->step() < dropped->num_steps()) {
      const auto step = pipeline_->BeginStep({{dropped.get()}}, 28, test_.run);
      ASSERT_NE(step, nullptr);
      EXPECT_FALSE(step->Next(test_.run).has_value());
      pipeline_->ForgetKept();
      StepInPieces({dropped.get()}, 28, [] {});
    }
    EXPECT_TRUE(LatentsOf(*pipeline_, *dropped).equal(LatentsOf(*pipeline_, *whole))) << kind;
  }
}

TEST_F(StepsInPieces, AreTheStepsOfABatchWhereOneCallServesIt) {
  const auto a = Begun("text"), b = Begun("text"), alone = Begun("text");
  StepToTheEnd(*alone);
  int divided = 0;
  while (a->step() < a->num_steps()) {
    const int pieces = StepInPieces({a.get(), b.get()}, 28, [] {});
    if (pieces == 0) pipeline_->Step({{a.get(), b.get()}}, test_.run);  // on a CPU
    divided += pieces > 1 ? 1 : 0;
  }
  const at::Tensor of_a = LatentsOf(*pipeline_, *a), of_b = LatentsOf(*pipeline_, *b);
  EXPECT_TRUE(of_a.equal(of_b));
  EXPECT_TRUE(of_a.allclose(LatentsOf(*pipeline_, *alone), 1e-3, 1e-4));
  const bool is_gpu = DeviceUnderTest()->stream.device >= 0;
  EXPECT_EQ(divided, is_gpu ? a->num_steps() : 0);
}

TEST_F(StepsInPieces, TellWhoHasNoStepsLeft) {
  const auto done = Begun("text");
  StepToTheEnd(*done);
  const auto step = pipeline_->BeginStep({{done.get()}}, 28, test_.run);
  ASSERT_NE(step, nullptr);
  const auto statuses = step->Next(test_.run);
  ASSERT_TRUE(statuses.has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition((*statuses)[0])) << (*statuses)[0];
}

}  // namespace
}  // namespace reel::model::ltx
