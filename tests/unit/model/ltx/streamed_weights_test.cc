// SPDX-License-Identifier: Apache-2.0
// Weights that stay on the host and stream to the device, against a model that is all on it, bit
// for bit.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/bridge/torch_device.h"
#include "model/ltx/ltx_model.h"
#include "model/ltx/ltx_pipeline.h"
#include "model/ltx/rope.h"
#include "model/ltx/velocity_graphs.h"
#include "tests/unit/model/graphs/rerun_recorder.h"
#include "tests/unit/model/ltx/pipeline_run.h"

namespace reel::model::ltx {
namespace {

using ::testing::HasSubstr;

constexpr int kManyBlocks = 8;

class StreamedWeights : public LtxPipeline {
 protected:
  void SetUp() override {
    LtxPipeline::SetUp();
    if (IsSkipped()) return;
    folder_.SetLayers(kManyBlocks);
    whole_ = Load(folder_, Options({}));
    ASSERT_NE(whole_, nullptr);
  }

  static LoadOptions Options(Offload offload) {
    LoadOptions options;
    options.dtype = "fp32";
    options.random_weights = 7;
    options.offload = offload;
    return options;
  }
  std::unique_ptr<Pipeline> Streaming(int resident, Place text = Place::kAuto) const {
    return Load(folder_, Options({.text = text, .resident_blocks = resident}));
  }
  at::Tensor Latents(Pipeline& pipeline, const GenerationSpec& spec,
                     const std::string& profile = "reference") {
    const auto generation = Denoised(pipeline, spec, profile);
    return generation == nullptr ? at::Tensor() : LatentsOf(pipeline, *generation);
  }
  void ExpectSame(Pipeline& streaming, const GenerationSpec& spec,
                  const std::string& profile = "reference") {
    const at::Tensor expected = Latents(*whole_, spec, profile);
    const at::Tensor made = Latents(streaming, spec, profile);
    ASSERT_TRUE(expected.defined() && made.defined());
    EXPECT_TRUE(made.equal(expected));
  }

  const TinyFolder folder_{"0.9.5"};
  std::unique_ptr<Pipeline> whole_;
};

TEST_F(StreamedWeights, MakeTheSameVideosHoweverManyBlocksStay) {
  for (const int resident : {0, 1, 4, 6, 7}) {
    const auto streaming = Streaming(resident);
    ASSERT_NE(streaming, nullptr);
    EXPECT_EQ(streaming->card().fit->streamed_blocks, kManyBlocks - resident);
    for (const char* kind : {"text", "image", "condition"}) {
      SCOPED_TRACE(std::string(kind) + ", resident blocks: " + std::to_string(resident));
      ExpectSame(*streaming, TinySpec(kind));
    }
  }
}

TEST_F(StreamedWeights, MakeTheSameVideosWithTheTextEncoderOnTheHost) {
  for (const int resident : {kManyBlocks, 3}) {
    const auto streaming = Streaming(resident, Place::kHost);
    ASSERT_NE(streaming, nullptr);
    EXPECT_EQ(streaming->card().fit->text, Place::kHost);
    ExpectSame(*streaming, TinySpec("text"));
    ExpectSame(*streaming, TinySpec("condition"));
  }
}

TEST_F(StreamedWeights, MakeTheSameVideosWithTheEncoderOfPicturesOnTheHost) {
  for (const int resident : {kManyBlocks, 3}) {
    const auto streaming =
        Load(folder_, Options({.encoder = Place::kHost, .resident_blocks = resident}));
    ASSERT_NE(streaming, nullptr);
    EXPECT_EQ(streaming->card().fit->encoder, Place::kHost);
    EXPECT_GT(streaming->card().fit->picture_copies, 0);
    ExpectSame(*streaming, TinySpec("image"));
    ExpectSame(*streaming, TinySpec("condition"));
  }
}

// Their answer to the text is made of every block's last projection when the request begins.
TEST_F(StreamedWeights, AnswerATextOfOneToken) {
  GenerationSpec spec = TinySpec("condition");
  spec.negative_prompt = "";
  ExpectSame(*Streaming(2), spec);
}

TEST_F(StreamedWeights, MakeTheSameStepsUnderTheProfilesThatLeaveBlocksOutOrPerturbThem) {
  const auto streaming = Streaming(3);
  GenerationSpec spec = TinySpec("text");
  spec.num_inference_steps = 6;
  spec.cache = {.threshold = 1, .most_reused = 1};
  ExpectSame(*streaming, spec, "cache");
  spec.cache = {};
  spec.stg_scale = 1;
  spec.stg_blocks = {1, 5};
  ExpectSame(*streaming, spec);
}

TEST_F(StreamedWeights, MakeTheSameStepsInPiecesWhateverComesBetween) {
  const auto streaming = Streaming(2, Place::kHost);
  ASSERT_NE(streaming, nullptr);
  const TestRun test;
  const at::Tensor of_a = Latents(*whole_, TinySpec("text")),
                   of_b = Latents(*whole_, TinySpec("condition"));
  const auto a = Begin(*streaming, TinySpec("text"), test.run);
  const auto b = Begin(*streaming, TinySpec("condition"), test.run);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  while (a->step() < a->num_steps()) {
    const auto step = streaming->BeginStep({{a.get()}}, kManyBlocks, test.run);
    ASSERT_NE(step, nullptr);
    while (!step->Next(test.run).has_value()) {
      if (b->step() < b->num_steps()) StepAll(*streaming, {b.get()}, test.run);
      streaming->ForgetKept();  // so that the text is encoded once more
      ASSERT_NE(Begin(*streaming, TinySpec("text"), test.run), nullptr);
    }
  }
  EXPECT_TRUE(LatentsOf(*streaming, *a).equal(of_a));
  EXPECT_TRUE(LatentsOf(*streaming, *b).equal(of_b));
}

// Equal sizes are recorded at the second step, and replayed from the third on.
TEST_F(StreamedWeights, MakeTheSameStepsWhereTheyAreRecorded) {
  const auto streaming = Streaming(3);
  GenerationSpec spec = TinySpec("text");
  spec.num_inference_steps = 8;
  for (int video = 0; video < 3; ++video) {
    spec.seed = static_cast<uint64_t>(video);
    ExpectSame(*streaming, spec, "auto");
  }
}

TEST_F(StreamedWeights, AreRefusedToLayersInEightBits) {
  const auto streaming = Streaming(3);
  ASSERT_NE(streaming, nullptr);
  for (const std::string& profile : streaming->card().lossy_profiles) {
    EXPECT_TRUE(profile == "cache" || profile == "fp8_attention") << profile;
  }
}

TEST_F(StreamedWeights, AreInTheCardAsACheckForeseesThem) {
  LoadOptions options = Options({.text = Place::kHost, .resident_blocks = 3});
  options.path = folder_.path();
  const auto checked = CheckLtxModel(options, DeviceUnderTest()->stream);
  ASSERT_TRUE(checked.ok()) << checked.status();
  const auto streaming = Streaming(3, Place::kHost);
  ASSERT_NE(streaming, nullptr);
  EXPECT_EQ(streaming->card().fit, checked->fit);
  EXPECT_EQ(streaming->card().weight_bytes, checked->weight_bytes);
  EXPECT_LT(checked->weight_bytes, whole_->card().weight_bytes);
  EXPECT_GT(checked->fit->host_bytes(), 0);
}

TEST_F(StreamedWeights, LeaveRoomForAdaptersOfRequests) {
  LoadOptions options = Options({});
  options.path = folder_.path();
  options.device_memory = 80'000'000'000;
  const auto without = CheckLtxModel(options, DeviceUnderTest()->stream);
  options.adapter_ranks = 64;
  const auto with = CheckLtxModel(options, DeviceUnderTest()->stream);
  ASSERT_TRUE(without.ok() && with.ok()) << without.status() << with.status();
  const int64_t room = with->fit->device_bytes() - without->fit->device_bytes();
  EXPECT_GT(room, 0);
  EXPECT_EQ(with->weight_bytes - without->weight_bytes, room);
}

TEST_F(StreamedWeights, ThatFitNoDeviceOfThisSizeAreRefusedBeforeTheyAreRead) {
  LoadOptions options = Options({});
  options.path = folder_.path();
  options.device_memory = 700'000'000;
  const auto refused = LoadLtxPipeline(options, DeviceUnderTest()->stream).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("of 0.7 GB"));
  EXPECT_EQ(CheckLtxModel(options, DeviceUnderTest()->stream).status(), refused);
}

// By a recorder that runs again what it recorded, as a device replays it: behind other work, on the
// same memory.
TEST_F(StreamedWeights, AreCopiedOnceMoreByEachReplay) {
  const c10::InferenceMode no_gradients;
  const at::Device device = *TorchDeviceOf(DeviceUnderTest()->stream);
  LoadOptions options = Options({});
  options.path = folder_.path();
  const auto shapes = LoadLtxModel(options, device, Values::kNone);
  ASSERT_TRUE(shapes.ok()) << shapes.status();
  const auto plan =
      PlanFit(SizesOf(**shapes), {.device = int64_t{1} << 40}, {.resident_blocks = 3});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto fitted = FittedLoad::Make(*plan, device);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  const auto resident = LoadLtxModel(options, device);
  const auto streaming = LoadLtxModel(options, device, Values::kStored, *fitted);
  ASSERT_TRUE(resident.ok() && streaming.ok());
  const TestRun test{PlanSource::kKernels};
  const Ops ops(test.run);
  RecordCounts counts;
  VelocityGraphs graphs((*streaming)->transformer,
                        std::make_unique<RerunRecorder>(test.run.stream, counts));
  const auto inputs = [&](uint64_t seed) {
    const Transformer& transformer = (*resident)->transformer;
    const LatentShape shape = {2, 3, 5};
    VelocityInputs made;
    made.x = Draw(seed, {2, shape.tokens(), 8}).to(device);
    made.time = transformer.Times(ops, (Draw(seed + 1, {2}).abs() * 500).to(device));
    made.rope = MakeRopeTable(PlainCoordinates(shape, 25), 32).To(device);
    made.text = transformer.Prepare(ops, Draw(seed + 2, {2, 6, 32}).to(device),
                                    at::ones({2, 6}, at::kLong).to(device));
    return made;
  };
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const VelocityInputs call = inputs(seed);
    EXPECT_TRUE(graphs(ops, call).equal((*resident)->transformer.Velocity(ops, call))) << seed;
  }
  EXPECT_EQ(counts.recorded, 1);
  EXPECT_EQ(counts.replays, 3);
}

}  // namespace
}  // namespace reel::model::ltx
