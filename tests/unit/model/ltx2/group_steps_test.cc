// SPDX-License-Identifier: Apache-2.0
// Compares steps that two, three and four ranks divide with those of one device. Covers all
// forms of guidance, pinned tokens, several clips, steps that stop and go on, small clips, and a
// rank that fails.
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/ltx2/denoise_step.h"
#include "model/ltx2/encode_stage.h"
#include "model/ltx2/ltx2_card.h"
#include "model/ltx2/ltx2_model.h"
#include "model/weights/weight_set.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx2/film.h"
#include "tests/unit/model/ltx2/group_devices.h"
#include "tests/unit/model/ltx2/tiny_ltx2.h"

namespace reel::model::ltx2 {
namespace {

// Where ranks divide tokens, matrices have fewer rows and attentions fewer queries. Libraries add
// in another order by size and place in memory: the same sums in fp32, but for their last bits.
double MostError() { return OnCpus() ? 5e-6 : ltx::kLatentBound; }

struct GroupCase {
  const char* variant;
  int ranks;
};
void PrintTo(const GroupCase& one, std::ostream* out) {
  *out << one.variant << " on " << one.ranks;
}

GenerationSpec Spec(uint64_t seed = 1) {
  GenerationSpec spec = TinySpec();
  spec.seed = seed;
  spec.stg_blocks = {1};
  return spec;
}
GenerationSpec OfAllGuidance(uint64_t seed = 1) {
  GenerationSpec spec = Spec(seed);
  spec.guidance_scale = 3;
  spec.guidance_rescale = 0.7;
  spec.stg_scale = 1;
  spec.modality_scale = 2;
  return spec;
}

Condition PictureAt(const GenerationSpec& spec, int frame, double strength) {
  ConditionPixels pixels = {spec.width, spec.height, 1, {}};
  pixels.rgb.assign(static_cast<size_t>(spec.width * spec.height * 3), 90);
  Condition condition;
  condition.frame_index = frame;
  condition.strength = strength;
  condition.pixels = std::make_shared<const ConditionPixels>(std::move(pixels));
  return condition;
}
GenerationSpec WithPictures(GenerationSpec spec, const std::vector<int>& frames) {
  double strength = 1;
  for (const int frame : frames) {
    spec.conditions.push_back(PictureAt(spec, frame, strength));
    strength *= 0.7;
  }
  return spec;
}

class Ltx2GroupSteps : public ::testing::TestWithParam<GroupCase> {
 protected:
  static int ranks() { return GetParam().ranks; }

  void SetUp() override {
    if (!DeviceUnderTest().ok()) GTEST_SKIP() << "SKIPPED: " << DeviceUnderTest().status();
    const auto peers = PeersOf(ranks());
    if (!peers) GTEST_SKIP() << "SKIPPED: REEL_TEST_DEVICE is no group of " << ranks();
    const auto device = TorchDeviceOf(DeviceUnderTest()->stream);
    ASSERT_TRUE(device.ok()) << device.status();
    scope_.emplace(*device);
    LoadOptions options;
    options.path = folder_.path();
    options.dtype = "fp32";
    options.peers = *peers;
    auto loaded = LoadLtx2Model(options, *device);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    model_ = *std::move(loaded);
    card_ = CardOf(*model_, "tiny");
  }

  TransformerRanks Divided(int64_t least = 0) const {
    return {*model_->crew, TransformersOf<Transformer>(*model_), least};
  }

  DenoiseState StateFor(const GenerationSpec& spec) {
    const EncodeStage stage(*model_, card_);
    auto planned = stage.Plan(spec);
    EXPECT_TRUE(planned.ok()) << planned.status();
    auto& mine = static_cast<Ltx2Generation&>(**planned);
    while (!mine.ready) EXPECT_TRUE(stage.Next(mine, ops_).ok());
    return mine.state;
  }

  void ExpectNear(const DenoiseState& made, const DenoiseState& expected, const std::string& what) {
    const auto error = [&](const at::Tensor& x, const at::Tensor& y, const char* stream) {
      return RelativeError(what + ", " + stream, x.cpu(), y.cpu());
    };
    EXPECT_EQ(made.step, expected.step);
    EXPECT_LT(error(made.latents.video, expected.latents.video, "video"), MostError());
    EXPECT_LT(error(made.latents.audio, expected.latents.audio, "audio"), MostError());
  }

  // All steps on the first device alone and on the group.
  void ExpectTheSame(DenoiseState state, const std::string& what) {
    DenoiseState expected = state, made = std::move(state);
    while (!expected.is_done()) {
      DenoiseStep(model_->transformer, expected).Finish(ops_);
      DenoiseStep(Divided(), made).Finish(ops_);
      ExpectNear(made, expected, what + ", step " + std::to_string(expected.step));
    }
  }

  // Self attentions of a step, of all ranks.
  int64_t AttentionsOf(const TransformerRanks& by, DenoiseState state) const {
    kernels::KernelCounters counters;
    const kernels::Execution run{test_.plan, counters, nullptr, test_.run.stream};
    DenoiseStep(by, state).Finish(Ops(run));
    int64_t calls = 0;
    for (const auto& use : counters.Uses()) calls += use.op == "attention" ? use.calls : 0;
    return calls;
  }

  std::optional<ModelScope> scope_;
  const TinyFolder folder_{GetParam().variant};
  const TestRun test_;
  const Ops ops_{test_.run};
  std::unique_ptr<Ltx2Model> model_;
  ModelCard card_;
};

TEST_P(Ltx2GroupSteps, OfEveryGuidanceAreTheSame) {
  GenerationSpec text = Spec(), perturbed = Spec(), isolated = Spec();
  text.guidance_scale = 4;
  perturbed.stg_scale = 1;
  perturbed.stg_blocks = {0, 1};
  isolated.modality_scale = 3;
  ExpectTheSame(StateFor(Spec()), "plain");
  ExpectTheSame(StateFor(text), "text");
  ExpectTheSame(StateFor(perturbed), "perturbed");
  ExpectTheSame(StateFor(isolated), "isolated");
  ExpectTheSame(StateFor(OfAllGuidance()), "all guidance");
}

// Few, and not evenly.
TEST_P(Ltx2GroupSteps, OfAnyNumberOfTokensAreTheSame) {
  for (const int width : {64, 96, 160}) {
    for (const int frames : {1, 9}) {
      GenerationSpec spec = OfAllGuidance();
      spec.width = width;
      spec.num_frames = frames;
      spec.frame_rate = frames == 1 ? 4 : 24;  // long enough for sound
      ExpectTheSame(StateFor(spec), std::to_string(width) + " wide, " + std::to_string(frames));
    }
  }
}

// Of a condition at the beginning, and of one whose tokens stand behind the video's own.
TEST_P(Ltx2GroupSteps, OfPinnedTokensAreTheSame) {
  ExpectTheSame(StateFor(WithPictures(OfAllGuidance(), {0})), "first picture");
  ExpectTheSame(StateFor(WithPictures(Spec(), {0, 9})), "pictures inside");
}

TEST_P(Ltx2GroupSteps, OfTheSamplersAreTheSame) {
  for (const Sampler sampler : {Sampler::kAncestralEuler, Sampler::kRes2s}) {
    DenoiseState state = StateFor(Spec());
    state.sampler = sampler;
    state.step_generator = at::detail::createCPUGenerator(5);
    state.middle_generator = at::detail::createCPUGenerator(6);
    if (sampler == Sampler::kRes2s) state.schedule = WithoutStepToZero(state.schedule);
    ExpectTheSame(std::move(state), sampler == Sampler::kRes2s ? "res_2s" : "ancestral");
  }
}

// As they are joined on GPUs: of several guidances, and with pinned tokens.
TEST_P(Ltx2GroupSteps, OfSeveralClipsAreNearEachOnesOwn) {
  std::vector<DenoiseState> alone = {StateFor(OfAllGuidance(1)), StateFor(Spec(2)),
                                     StateFor(WithPictures(OfAllGuidance(3), {0}))};
  std::vector<DenoiseState> together = alone;
  std::vector<DenoiseState*> all;
  for (DenoiseState& state : together) all.push_back(&state);
  for (int step = 0; step < 2; ++step) {
    DenoiseStep(Divided(), all).Finish(ops_);
    for (DenoiseState& state : alone) DenoiseStep(model_->transformer, state).Finish(ops_);
  }
  for (size_t i = 0; i < alone.size(); ++i) {
    ExpectNear(together[i], alone[i], "clip " + std::to_string(i));
  }
}

// Two films take turns block by block, as where one makes way.
TEST_P(Ltx2GroupSteps, ThatStopBehindEachBlockAreTheWholeToTheBit) {
  DenoiseState whole = StateFor(OfAllGuidance(1)), stopped = whole;
  DenoiseState whole_other = StateFor(WithPictures(OfAllGuidance(2), {0})), other = whole_other;
  DenoiseStep(Divided(), whole).Finish(ops_);
  DenoiseStep(Divided(), whole_other).Finish(ops_);
  DenoiseStep one(Divided(), stopped), two(Divided(), other);
  for (bool done = false, other_done = false; !done || !other_done;) {
    if (!done) done = one.Next(ops_, 1);
    EXPECT_EQ(stopped.step, done ? 1 : 0);
    if (!other_done) other_done = two.Next(ops_, 1);
  }
  EXPECT_TRUE(stopped.latents.video.equal(whole.latents.video));
  EXPECT_TRUE(stopped.latents.audio.equal(whole.latents.audio));
  EXPECT_TRUE(other.latents.video.equal(whole_other.latents.video));
  EXPECT_TRUE(other.latents.audio.equal(whole_other.latents.audio));
}

TEST_P(Ltx2GroupSteps, DroppedBetweenBlocksHaveChangedNothing) {
  DenoiseState state = StateFor(OfAllGuidance()), expected = state;
  const at::Tensor before = state.latents.video;
  for (const size_t blocks : {1, 2, 3, 4}) {
    DenoiseStep(Divided(), state).Next(ops_, blocks);
    if (state.step > 0) break;
    EXPECT_TRUE(state.latents.video.is_same(before));
  }
  state = expected;
  DenoiseStep(Divided(), expected).Finish(ops_);
  DenoiseStep(Divided(), state).Finish(ops_);
  EXPECT_TRUE(state.latents.video.equal(expected.latents.video));
}

TEST_P(Ltx2GroupSteps, AreCountedAtEveryRank) {
  for (const GenerationSpec& spec : {Spec(), OfAllGuidance()}) {
    const int64_t of_one = AttentionsOf(model_->transformer, StateFor(spec));
    EXPECT_GT(of_one, 0);
    EXPECT_EQ(AttentionsOf(Divided(), StateFor(spec)), ranks() * of_one);
  }
}

// 18 tokens a row. Rows of a guided step are for either half of the ranks, as far as they are even.
TEST_P(Ltx2GroupSteps, OfFewRowsOfTokensStayWithTheFirstRankOfEachHalf) {
  GenerationSpec guided = Spec();
  guided.guidance_scale = 3;
  const DenoiseState plain = StateFor(Spec()), of_two_rows = StateFor(guided);
  const int64_t of_one = AttentionsOf(model_->transformer, plain);
  EXPECT_EQ(AttentionsOf(Divided(18), plain), ranks() * of_one);
  EXPECT_EQ(AttentionsOf(Divided(19), plain), of_one);
  const bool in_halves = ranks() % 2 == 0;
  EXPECT_EQ(AttentionsOf(Divided(in_halves ? 18 : 36), of_two_rows), ranks() * of_one);
  EXPECT_EQ(AttentionsOf(Divided(in_halves ? 19 : 37), of_two_rows), (in_halves ? 2 : 1) * of_one);
  const bool divides = OnCpus();  // others launch each kernel, which takes its time
  EXPECT_EQ(AttentionsOf(model_->ranks(), plain), (divides ? ranks() : 1) * of_one);
  DenoiseState expected = of_two_rows, made = of_two_rows;
  DenoiseStep(model_->transformer, expected).Finish(ops_);
  DenoiseStep(Divided(1000), made).Finish(ops_);
  ExpectNear(made, expected, "few rows");
}

// A transformer, and the tensors that it is made of.
struct LooseTransformer {
  TensorsByName tensors;
  std::unique_ptr<Transformer> transformer;

  LooseTransformer(const TinyFolder& folder, const TransformerConfig& config, at::Device device) {
    const auto stored =
        WeightSet::OpenFolder(folder.path() + "/transformer", "diffusion_pytorch_model");
    auto loaded = Transformer::Load(*stored, config, at::kFloat, device, {}, {.shared = &tensors});
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    if (loaded.ok()) transformer = std::make_unique<Transformer>(*std::move(loaded));
  }
};

// Each rank adds its own number to all that it says of pictures and of sound. Of the pictures each
// says what its tokens and rows are, of the sound the first one of its rows' ranks.
TEST_P(Ltx2GroupSteps, HaveOfEachRankItsTokensAndRows) {
  std::vector<std::unique_ptr<LooseTransformer>> loose;
  std::vector<const Transformer*> all;
  const auto number = [](int rank) { return 1000.0 * (rank + 1); };
  for (int rank = 0; rank < ranks(); ++rank) {
    loose.push_back(std::make_unique<LooseTransformer>(folder_, model_->transformer.config(),
                                                       model_->crew->device(rank)));
    for (const char* name : {"proj_out.bias", "audio_proj_out.bias"}) {
      loose.back()->tensors.at(name).add_(number(rank));
    }
    all.push_back(loose.back()->transformer.get());
  }
  constexpr double kScale = 3;
  for (const bool guided : {false, true}) {
    GenerationSpec spec = Spec();
    if (guided) spec.guidance_scale = kScale;
    DenoiseState plain = StateFor(spec), told = plain;
    DenoiseStep(model_->transformer, plain).Finish(ops_);
    DenoiseStep(TransformerRanks(*model_->crew, all, 0), told).Finish(ops_);
    const double moved = plain.schedule.sigmas[1] - plain.schedule.sigmas[0];
    const auto numbers = [&](const at::Tensor& x, const at::Tensor& y) {
      return ((x - y) / moved).mean(2).flatten().cpu().to(at::kDouble);
    };
    // Of the negative prompt's row in the first half, and of the prompt's in the second.
    const bool in_halves = guided && ranks() % 2 == 0;
    const auto expected = [&](int rank) {
      if (!in_halves) return number(rank);
      const double negative = number(rank), prompt = number(rank + ranks() / 2);
      return negative + kScale * (prompt - negative);
    };
    const at::Tensor video = numbers(told.latents.video, plain.latents.video);
    for (const RankTokens& part : RankTokens::OfCrew(*model_->crew, in_halves, video.size(0))) {
      if (part.first_rank > 0) break;  // the same tokens again
      const TokenRange own = part.own();
      const at::Tensor of_rank = video.slice(0, own.first, own.first + own.count);
      EXPECT_LT((of_rank - expected(part.rank)).abs().max().item<double>(), 1) << part.rank;
    }
    const at::Tensor audio = numbers(told.latents.audio, plain.latents.audio);
    EXPECT_LT((audio - expected(0)).abs().max().item<double>(), 1);
  }
}

// In the last block, where others wait for its keys. What a rank cannot do is the step's error, has
// changed nothing, and leaves nobody waiting for it.
TEST_P(Ltx2GroupSteps, FailByAFailedRankAndTheNextOneIsWhole) {
  if (!OnCpus()) GTEST_SKIP() << "SKIPPED: a GPU may not say what is broken here";
  DenoiseState expected = StateFor(OfAllGuidance());
  const DenoiseState begun = expected;
  DenoiseStep(model_->transformer, expected).Finish(ops_);
  for (int failing = 0; failing < ranks(); ++failing) {
    LooseTransformer broken(folder_, model_->transformer.config(), at::kCPU);
    broken.tensors.at("transformer_blocks.1.attn1.norm_k.weight").resize_({0});
    std::vector<const Transformer*> all = TransformersOf<Transformer>(*model_);
    all[static_cast<size_t>(failing)] = broken.transformer.get();
    DenoiseState state = begun;
    const absl::Status failed = TorchGuard([&] {
      DenoiseStep(TransformerRanks(*model_->crew, all), state).Finish(ops_);
      return absl::OkStatus();
    });
    EXPECT_EQ(failed.code(), absl::StatusCode::kInternal) << failed;
    EXPECT_TRUE(state.latents.video.is_same(begun.latents.video));
    EXPECT_TRUE(state.latents.audio.is_same(begun.latents.audio));
    EXPECT_EQ(state.step, 0);
    DenoiseStep(Divided(), state).Finish(ops_);
    ExpectNear(state, expected, "after rank " + std::to_string(failing));
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, Ltx2GroupSteps,
                         ::testing::Values(GroupCase{"2.0", 2}, GroupCase{"2.0", 3},
                                           GroupCase{"2.3", 2}, GroupCase{"2.3", 3},
                                           GroupCase{"2.3", 4}, GroupCase{"2.5", 2},
                                           GroupCase{"2.5", 4}));

}  // namespace
}  // namespace reel::model::ltx2
