// SPDX-License-Identifier: Apache-2.0
// Compares steps divided between two, three and four ranks with those of one device. Covers all
// forms of guidance, clips of few tokens, tokens of several times, shared steps, and a rank that
// fails.
#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/bridge/torch_guard.h"
#include "model/ltx/denoiser.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/bridge/cpu_link.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/tiny_folder.h"

namespace reel::model::ltx {
namespace {

// Where ranks divide tokens, matrices have fewer rows, an attention fewer queries, and both begin
// at other places in memory. Libraries add in another order by size and, as MKL does, by alignment:
// the same sums in fp32, but for their last bits. Of the deviation, after six guided steps;
// measured: 1.5e-6. By MKL_CBWR=AVX2,STRICT clips of 30 tokens are the same bit for bit.
constexpr double kLastBits = 5e-6;

// Of a clip in these tests.
struct SteppedClip {
  uint64_t seed = 1;
  std::vector<GuidancePoint> points = {{}};  // a step each
  LatentShape shape = {2, 3, 5};
  bool pinned = false;  // some of its tokens, so that times differ
};

GuidancePoint Guided(double scale) { return {scale, 0.7, 0, {}}; }

class GroupSteps : public ::testing::TestWithParam<int> {
 protected:
  static int ranks() { return GetParam(); }

  static std::vector<at::Device> Devices() {
    return std::vector<at::Device>(static_cast<size_t>(ranks()), at::kCPU);
  }

  // With what is in `shared` in place of its weights.
  Transformer Loaded(TensorsByName* shared = nullptr) const {
    const std::string part = folder_.path() + "/transformer";
    const auto stored = WeightSet::OpenFolder(part, "diffusion_pytorch_model");
    const auto config = ReadTransformerConfig(*ReadJsonFile(part + "/config.json"), "");
    return *Transformer::Load(*stored, *config, at::kFloat, at::kCPU, {.shared = shared});
  }

  std::vector<const Transformer*> All() const {
    return std::vector<const Transformer*>(static_cast<size_t>(ranks()), &transformer_);
  }

  DenoiseState Make(const SteppedClip& clip, bool star = false) const {
    const auto steps = static_cast<int>(std::max<size_t>(clip.points.size(), 6));
    const int64_t tokens = clip.shape.tokens();
    DenoiseState state;
    state.mode = clip.pinned ? Mode::kCondition : Mode::kText;
    state.shape = clip.shape;
    state.tokens.x = Draw(clip.seed, {1, tokens, 8});
    if (clip.pinned) {
      state.tokens.mask = at::linspace(0, 1, tokens).unsqueeze(0);
      state.tokens.initial = state.tokens.x;
      state.condition_noise = 0.15;
      state.generator = at::detail::createCPUGenerator(clip.seed);
    }
    state.tokens.coordinates = PlainCoordinates(state.shape, 25);
    state.rope = MakeRopeTable(state.tokens.coordinates, 32);
    state.schedule = *SpacedSchedule({}, steps, 30);
    state.guidance.points = clip.points;
    for (size_t i = 0; clip.points.size() > 1 && i < clip.points.size(); ++i) {
      state.guidance.from.push_back(static_cast<float>(state.schedule.sigmas[i]));
    }
    state.guidance.star = star;
    const bool perturbs = state.guidance.uses_perturbed();
    state.text_has_negative = state.guidance.uses_negative();
    const int64_t rows = (state.text_has_negative ? 1 : 0) + 1 + (perturbs ? 1 : 0);
    const at::Tensor text = Draw(clip.seed + 1, {rows, 6, 32});
    if (perturbs) text[rows - 1].copy_(text[rows - 2]);
    state.text = transformer_.Prepare(ops_, text, at::ones({rows, 6}));
    return state;
  }

  // All steps of the clip's points on one device and on the group, whose ranks exchange by copies,
  // and then by a link what has come before.
  void ExpectTheSame(const SteppedClip& clip, bool star, const std::string& what) {
    RankCrew crew(Devices()), linked(Devices(), std::make_unique<CpuLink>(ranks()));
    Denoiser one(transformer_), group(All(), nullptr, crew);
    Denoiser by_link(All(), nullptr, linked);
    for (int turn = 0; turn < 2; ++turn) {
      DenoiseState expected = Make(clip, star);
      DenoiseState made = expected, made_by_link = expected;
      for (size_t i = 0; i < clip.points.size(); ++i) {
        one.Step(ops_, {&expected});
        group.Step(ops_, {&made});
        by_link.Step(ops_, {&made_by_link});
        const std::string step = what + ", step " + std::to_string(i + 1);
        EXPECT_LT(Compare(step, made.tokens.x, expected.tokens.x).relative, kLastBits) << step;
        EXPECT_TRUE(made_by_link.tokens.x.equal(made.tokens.x)) << step << " by a link";
      }
    }
  }

  const c10::InferenceMode no_gradients_;
  const TinyFolder folder_{"0.9.5"};
  const TestRun test_;
  const Ops ops_{test_.run};
  Transformer transformer_ = Loaded();
};

// As a two-pass preset has it: one row, three, two of which one is perturbed, and from the first
// block on.
std::vector<GuidancePoint> EveryForm() {
  return {{1, 0, 0, {}}, {3, 0.7, 1.5, {1}}, {1, 0, 1, {0, 1}},
          {4, 0, 0, {}}, {2, 0.3, 0.5, {0}}, {1, 0.7, 2, {1}}};
}

TEST_P(GroupSteps, OfEveryFormAreTheSame) {
  for (const bool star : {false, true}) {
    ExpectTheSame({.seed = 3, .points = EveryForm()}, star, star ? "CFG*" : "every form");
  }
}

// That cannot be divided evenly, or not among so many.
TEST_P(GroupSteps, OfAnyNumberOfTokensAreTheSame) {
  for (const LatentShape& shape :
       std::vector<LatentShape>{{1, 1, 31}, {7, 1, 1}, {1, 1, 3}, {1, 2, 1}, {1, 1, 1}}) {
    ExpectTheSame({.seed = 5, .points = EveryForm(), .shape = shape}, false,
                  std::to_string(shape.tokens()) + " tokens");
  }
}

TEST_P(GroupSteps, OfTokensOfSeveralTimesAreTheSame) {
  ExpectTheSame({.seed = 7, .points = EveryForm(), .shape = {1, 1, 31}, .pinned = true}, false,
                "pinned");
}

// Two ranks have whole rows of guided steps: the same calls as one device's, row by row.
TEST_P(GroupSteps, OfWholeRowsAreTheSameBits) {
  if (ranks() != 2) GTEST_SKIP() << "others divide tokens";
  RankCrew crew(Devices());
  Denoiser one(transformer_), group(All(), nullptr, crew);
  std::vector<GuidancePoint> points = EveryForm();
  std::erase_if(points, [](const GuidancePoint& point) { return point.rows() == 1; });
  DenoiseState expected = Make({.seed = 3, .points = points});
  DenoiseState made = expected;
  for (size_t i = 0; i < points.size(); ++i) {
    one.Step(ops_, {&expected});
    group.Step(ops_, {&made});
    EXPECT_TRUE(made.tokens.x.equal(expected.tokens.x)) << "step " << i + 1;
  }
}

// Each rank adds its own number to all that it says: which tokens and rows were whose is seen in
// what comes together.
TEST_P(GroupSteps, HaveOfEachRankItsOwnTokensAndRows) {
  const std::string name = "proj_out.bias";
  TensorsByName shared;
  const Transformer first = Loaded(&shared);
  const at::Tensor bias = shared.at(name);
  const auto number = [](int rank) { return 1000.0 * (rank + 1); };
  std::vector<Transformer> all;
  for (int rank = 0; rank < ranks(); ++rank) {
    shared.at(name) = bias + number(rank);
    all.push_back(Loaded(&shared));
  }
  std::vector<const Transformer*> of_ranks;
  for (const Transformer& transformer : all) of_ranks.push_back(&transformer);
  RankCrew crew(Devices());
  Denoiser one(first), group(of_ranks, nullptr, crew);
  constexpr double kScale = 3;
  for (const bool guided : {false, true}) {
    DenoiseState plain = Make({.points = {{guided ? kScale : 1, 0, 0, {}}}});
    DenoiseState told = plain;
    one.Step(ops_, {&plain});
    group.Step(ops_, {&told});
    const double moved = plain.schedule.sigmas[1] - plain.schedule.sigmas[0];
    const at::Tensor numbers =
        ((told.tokens.x - plain.tokens.x) / moved).mean(2).flatten().to(at::kDouble);
    const bool in_halves = guided && ranks() % 2 == 0;
    const std::vector<RankTokens> parts = RankTokens::OfCrew(crew, in_halves, 30);
    for (int rank = 0; rank < (in_halves ? ranks() / 2 : ranks()); ++rank) {
      const TokenRange own = parts[static_cast<size_t>(rank)].own();
      // Of the prompt's row, and of the negative one's.
      const double asked = number(rank);
      const double other = in_halves ? number(rank + ranks() / 2) : asked;
      const double expected = guided ? other + kScale * (asked - other) : asked;
      const at::Tensor of_rank = numbers.slice(0, own.first, own.first + own.count);
      EXPECT_LT((of_rank - expected).abs().max().item<double>(), 1) << "rank " << rank;
    }
  }
}

// Memory for it is held until it is to be forgotten, and grows with what comes.
TEST_P(GroupSteps, ExchangeByALinkFromTheSecondOfAKindOn) {
  auto made = std::make_unique<CpuLink>(ranks());
  CpuLink& link = *made;
  RankCrew crew(Devices(), std::move(made));
  Denoiser group(All(), nullptr, crew);
  const auto exchanges_of = [&](const SteppedClip& clip) {
    DenoiseState state = Make(clip);
    const int before = link.exchanges();
    group.Step(ops_, {&state});
    return link.exchanges() - before;
  };
  const SteppedClip clip{.shape = {1, 1, 16}}, larger{.shape = {1, 1, 31}};
  EXPECT_EQ(exchanges_of(clip), 0);
  const int exchanges = exchanges_of(clip);
  EXPECT_GT(exchanges, 0);
  const int64_t bytes = group.kept_bytes();
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(exchanges_of(larger), 0);
  EXPECT_EQ(group.kept_bytes(), bytes);
  EXPECT_EQ(exchanges_of(larger), exchanges);
  EXPECT_GT(group.kept_bytes(), bytes);
  EXPECT_EQ(exchanges_of(clip), exchanges);
  group.ForgetKept();
  EXPECT_EQ(group.kept_bytes(), 0);
  EXPECT_EQ(exchanges_of(clip), exchanges);
}

TEST_P(GroupSteps, AreCountedAtEveryRank) {
  RankCrew crew(Devices());
  Denoiser one(transformer_), group(All(), nullptr, crew);
  const auto attentions = [&](Denoiser& denoiser, const GuidancePoint& point) {
    kernels::KernelCounters counters;
    const kernels::Execution run{test_.plan, counters, nullptr, {}};
    DenoiseState state = Make({.points = {point}});
    denoiser.Step(Ops(run), {&state});
    int64_t calls = 0;
    for (const auto& use : counters.Uses()) calls += use.op == "attention" ? use.calls : 0;
    return calls;
  };
  for (const GuidancePoint& point : {GuidancePoint(), Guided(3)}) {
    const int64_t of_one = attentions(one, point);
    EXPECT_GT(of_one, 0);
    EXPECT_EQ(attentions(group, point), ranks() * of_one);
  }
}

// As on GPUs, which are asked for such a call kernel by kernel: small ones stay whole.
TEST_P(GroupSteps, OfFewRowsStayWithOneRankOfEachHalf) {
  RankCrew crew(Devices());
  Denoiser one(transformer_);
  const auto attentions = [&](Denoiser& denoiser, DenoiseState& state) {
    kernels::KernelCounters counters;
    const kernels::Execution run{test_.plan, counters, nullptr, {}};
    denoiser.Step(Ops(run), {&state});
    int64_t calls = 0;
    for (const auto& use : counters.Uses()) calls += use.op == "attention" ? use.calls : 0;
    return calls;
  };
  for (const int64_t least : {30, 31, 61}) {
    Denoiser group(All(), nullptr, crew, least);
    for (const GuidancePoint& point : {GuidancePoint(), Guided(3)}) {
      DenoiseState expected = Make({.points = {point}});
      DenoiseState made = expected;
      const int64_t of_one = attentions(one, expected);
      const bool in_halves = point.rows() > 1 && ranks() % 2 == 0;
      const bool divides = 30 * point.rows() / (in_halves ? 2 : 1) >= least;
      EXPECT_EQ(attentions(group, made), of_one * (divides ? ranks() : in_halves ? 2 : 1));
      EXPECT_LT(Compare("few rows", made.tokens.x, expected.tokens.x).relative, kLastBits);
    }
  }
}

// What a rank cannot do is the step's error, has changed nothing, and leaves nobody waiting for it.
TEST_P(GroupSteps, FailByAFailedRankAndTheNextOneIsWhole) {
  const auto plan = DeviceUnderTest()->catalog.Plan("fp8", {});
  ASSERT_TRUE(plan.ok()) << plan.status();
  kernels::KernelCounters counters;
  const kernels::Execution run{*plan, counters, nullptr, {}};
  for (int failing = 0; failing < ranks(); ++failing) {
    std::vector<Transformer> all;
    for (int rank = 0; rank < ranks(); ++rank) {
      all.push_back(Loaded());
      if (rank == failing) continue;
      ASSERT_TRUE(all.back().MakeLayersIn(RowForm::kE4m3).ok());
    }
    std::vector<const Transformer*> of_ranks;
    for (const Transformer& transformer : all) of_ranks.push_back(&transformer);
    RankCrew crew(Devices(), std::make_unique<CpuLink>(ranks()));
    Denoiser group(of_ranks, nullptr, crew);
    for (const GuidancePoint& point : {GuidancePoint(), Guided(3), GuidancePoint(), Guided(3)}) {
      DenoiseState state = Make({.points = {point}});
      DenoiseState expected = state;
      const at::Tensor before = state.tokens.x;
      const absl::Status failed = TorchGuard([&] {
        group.Step(Ops(run), {&state});
        return absl::OkStatus();
      });
      EXPECT_EQ(failed.code(), absl::StatusCode::kFailedPrecondition) << failed;
      EXPECT_TRUE(state.tokens.x.is_same(before));
      EXPECT_EQ(state.step, 0);
      Denoiser(transformer_).Step(ops_, {&expected});
      group.Step(ops_, {&state});
      EXPECT_LT(Compare("after rank " + std::to_string(failing), state.tokens.x, expected.tokens.x)
                    .relative,
                kLastBits);
    }
  }
}

TEST_P(GroupSteps, SharedAreNearEachOnesOwn) {
  for (const bool pinned : {false, true}) {
    const auto clip = [&](uint64_t seed, GuidancePoint point) {
      return Make({.seed = seed, .points = {std::move(point)}, .pinned = pinned});
    };
    std::vector<DenoiseState> alone = {clip(1, Guided(3)), clip(5, {}), clip(9, Guided(6)),
                                       clip(13, {})};
    RankCrew crew(Devices());
    Denoiser one(transformer_), group(All(), nullptr, crew);
    std::vector<DenoiseState> together = alone;
    for (DenoiseState& state : alone) {
      for (int i = 0; i < 3; ++i) one.Step(ops_, {&state});
    }
    const std::vector<std::vector<size_t>> batches = {{0, 1, 2, 3}, {1, 2, 0}, {2, 0}, {3, 1}, {3}};
    for (const std::vector<size_t>& batch : batches) {
      std::vector<DenoiseState*> states;
      for (const size_t i : batch) states.push_back(&together[i]);
      group.Step(ops_, states);
    }
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together[i].step, 3);
      const std::string what = "video " + std::to_string(i);
      EXPECT_LT(Compare(what, together[i].tokens.x, alone[i].tokens.x).relative, 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, GroupSteps, ::testing::Values(2, 3, 4));

}  // namespace
}  // namespace reel::model::ltx
