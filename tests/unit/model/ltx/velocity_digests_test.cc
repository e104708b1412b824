// SPDX-License-Identifier: Apache-2.0
// Bits of velocities and steps over many layouts of rows, against digests that were stored once.
// They are those of a plain x86-64 processor, which libraries imitate by the environment that
// CMakeLists.txt sets. REEL_STORE_DIGESTS names a file to store new ones in.
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/base/digest/sha256.h"
#include "model/ltx/denoiser.h"
#include "tests/unit/model/bridge/cpu_link.h"
#include "tests/unit/model/bridge/test_run.h"
#include "tests/unit/model/ltx/four_blocks.h"

namespace reel::model::ltx {
namespace {

constexpr LatentShape kShape = {2, 3, 5};

// Without qk_norm_rope=rows: GCC 12 fuses its products with sums (vfmaddsub) on processors that
// can, whatever -ffp-contract=off says.
kernels::KernelPlan PlanOf(const std::string& profile) {
  return *DeviceUnderTest()->catalog.Plan(profile, {{"qk_norm_rope", "loops"}});
}

std::string FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string DigestOf(const at::Tensor& x) {
  const at::Tensor whole = x.contiguous();
  return Sha256Hex({static_cast<const char*>(whole.data_ptr()), whole.nbytes()}).substr(0, 16);
}

std::string Joined(const std::vector<int64_t>& values) {
  std::string joined;
  for (const int64_t value : values) joined += (joined.empty() ? "" : ",") + std::to_string(value);
  return joined;
}

// Rows of a group of videos. It says how many each has, which have a text of one key ('1') or of
// many, which blocks are perturbed, and whether tokens have their own times.
struct Layout {
  std::vector<int64_t> rows;
  std::string keys;
  std::vector<int64_t> perturbed = {};
  bool has_token_times = false;
  LatentShape shape = kShape;
  int64_t text_tokens = 6;

  std::string name() const {
    return "rows " + Joined(rows) + " keys " + keys + " perturbed " + Joined(perturbed) +
           (has_token_times ? " token times" : "") + " tokens " + std::to_string(shape.tokens());
  }
};

const std::vector<Layout>& OneSize() {
  static const std::vector<Layout> layouts = {{{1}, "m"},
                                              {{1}, "1"},
                                              {{2}, "mm"},
                                              {{2}, "1m"},
                                              {{2}, "m1"},
                                              {{2}, "11"},
                                              {{3}, "1mm"},
                                              {{1, 1}, "mm"},
                                              {{1, 1}, "1m"},
                                              {{2, 2}, "1m1m"},
                                              {{2, 2}, "1m11"},
                                              {{2, 2}, "m11m"},
                                              {{1, 2}, "m1m"},
                                              {{2, 1, 2}, "1mm1m"},
                                              {{2, 2, 2, 1}, "1m1m1m1"},
                                              {{3, 3}, "m1m1mm"},
                                              {{}, "mm"},
                                              {{}, "m1"},
                                              {{1}, "m", {0}},
                                              {{2}, "mm", {0}},
                                              {{2}, "mm", {2}},
                                              {{2}, "11", {1}},
                                              {{3}, "1mm", {0}},
                                              {{3}, "1mm", {1}},
                                              {{3}, "1mm", {3}},
                                              {{3}, "mmm", {0, 1, 2}},
                                              {{3}, "m11", {2}},
                                              {{}, "mmm", {1}},
                                              {{}, "1mm", {0, 3}},
                                              {{1}, "m", {}, true},
                                              {{2}, "1m", {}, true},
                                              {{2, 1}, "1mm", {}, true},
                                              {{2, 2}, "1m1m", {}, true},
                                              {{3}, "1mm", {1}, true}};
  return layouts;
}

const std::vector<std::vector<Layout>>& SeveralSizes() {
  static const std::vector<std::vector<Layout>> calls = {
      {{.rows = {1}, .keys = "m", .shape = {1, 2, 2}}, {.rows = {1}, .keys = "m"}},
      {{.rows = {2}, .keys = "1m", .shape = {1, 2, 2}, .text_tokens = 9}, {{2, 1}, "1m1"}},
      {{.rows = {1}, .keys = "1", .shape = {1, 1, 4}},
       {.rows = {2, 2}, .keys = "1m1m", .shape = {2, 2, 2}},
       {{2}, "mm", {}, true}},
      {{.rows = {1}, .keys = "1", .shape = {1, 1, 4}}, {.rows = {2}, .keys = "11"}}};
  return calls;
}

class VelocityDigests : public ::testing::Test {
 protected:
  void SetUp() override {
    if (FromEnvironment("MKL_CBWR") != "COMPATIBLE") {
      GTEST_SKIP() << "SKIPPED: run by ctest, which makes every processor round alike";
    }
    std::ifstream in(FromEnvironment("REEL_SOURCE") + "/tests/golden/velocity_digests.txt");
    for (std::string digest, name; in >> digest && std::getline(in >> std::ws, name);) {
      stored_[name] = digest;
    }
  }

  void Expect(const std::string& name, const at::Tensor& x) {
    const std::string digest = DigestOf(x);
    if (const std::string file = FromEnvironment("REEL_STORE_DIGESTS"); !file.empty()) {
      std::ofstream(file, std::ios::app) << digest << " " << name << "\n";
      return;
    }
    EXPECT_EQ(stored_[name], digest) << name;
  }

  // All of it drawn from `seed`.
  static VelocityInputs Inputs(const Ops& ops, const Transformer& model, const Layout& layout,
                               uint64_t seed = 21) {
    const auto all = static_cast<int64_t>(layout.keys.size());
    const auto videos = layout.rows.empty() ? all : static_cast<int64_t>(layout.rows.size());
    const int64_t tokens = layout.shape.tokens();
    at::Tensor texts = Draw(seed + 1, {all, layout.text_tokens, 32});
    if (!layout.perturbed.empty() && all > 1) texts[all - 1].copy_(texts[all - 2]);
    at::Tensor mask = at::zeros({all, layout.text_tokens});
    for (int64_t row = 0; row < all; ++row) {
      mask[row].slice(0, 0, layout.keys[static_cast<size_t>(row)] == '1' ? 1 : 4).fill_(1);
    }
    VelocityInputs inputs;
    inputs.x = Draw(seed, {videos, tokens, 8}).to(model.dtype());
    if (layout.has_token_times) {
      inputs.time = model.Times(ops, Draw(seed + 2, {2 * videos}).abs() * 500);
      inputs.time_of = at::where(at::arange(videos * tokens) % 7 < 3, 0, 1).view({videos, tokens}) +
                       2 * at::arange(videos).unsqueeze(1);
    } else {
      inputs.time = model.Times(ops, Draw(seed + 2, {videos}).abs() * 500);
    }
    inputs.rope = MakeRopeTable(PlainCoordinates(layout.shape, 25), 32);
    inputs.text = model.Prepare(ops, texts, mask);
    inputs.rows = layout.rows;
    inputs.perturbed = layout.perturbed;
    return inputs;
  }

  void ExpectOfAllLayouts(const std::string& what, const Ops& ops, const Transformer& model) {
    for (const Layout& layout : OneSize()) {
      Expect(what + " " + layout.name(), model.Velocity(ops, Inputs(ops, model, layout)));
    }
    for (const std::vector<Layout>& call : SeveralSizes()) {
      std::vector<VelocityInputs> groups;
      for (const Layout& layout : call) {
        groups.push_back(Inputs(ops, model, layout, 30 + 3 * groups.size()));
      }
      const std::vector<at::Tensor> made = model.Velocities(ops, groups);
      for (size_t i = 0; i < call.size(); ++i) {
        Expect(what + " of " + std::to_string(call.size()) + " sizes: " + call[i].name(), made[i]);
      }
    }
  }

  // A clip of so many pinned tokens, on its way by those guidance points, a step each.
  static DenoiseState State(const Ops& ops, const Transformer& model, uint64_t seed,
                            std::vector<GuidancePoint> points, LatentShape shape = kShape,
                            bool pinned = false) {
    const int64_t tokens = shape.tokens();
    DenoiseState state;
    state.mode = pinned ? Mode::kCondition : Mode::kText;
    state.shape = shape;
    state.tokens.x = Draw(seed, {1, tokens, 8});
    if (pinned) {
      state.tokens.mask = at::linspace(0, 1, tokens).unsqueeze(0);
      state.tokens.initial = state.tokens.x;
      state.generator = at::detail::createCPUGenerator(seed);
    }
    state.tokens.coordinates = PlainCoordinates(shape, 25);
    state.rope = MakeRopeTable(state.tokens.coordinates, 32);
    state.schedule = *SpacedSchedule({}, static_cast<int>(points.size()), 30);
    state.guidance.points = std::move(points);
    for (size_t i = 0; i < state.guidance.points.size(); ++i) {
      state.guidance.from.push_back(static_cast<float>(state.schedule.sigmas[i]));
    }
    state.text_has_negative = state.guidance.uses_negative();
    const bool perturbs = state.guidance.uses_perturbed();
    const int64_t rows = 1 + (state.text_has_negative ? 1 : 0) + (perturbs ? 1 : 0);
    const at::Tensor text = Draw(seed + 1, {rows, 6, 32});
    if (perturbs) text[rows - 1].copy_(text[rows - 2]);
    at::Tensor mask = at::ones({rows, 6});
    if (state.text_has_negative) mask[0].slice(0, 1).fill_(0);
    state.text = model.Prepare(ops, text, mask);
    return state;
  }

  static std::vector<GuidancePoint> EveryForm() {
    return {{1, 0, 0, {}}, {3, 0.7, 1.5, {1}}, {1, 0, 1, {0, 1}},
            {4, 0, 0, {}}, {2, 0.3, 0.5, {0}}, {1, 0.7, 2, {3}}};
  }

  const c10::InferenceMode no_gradients_;
  const FourBlocks four_;
  std::map<std::string, std::string> stored_;
};

TEST_F(VelocityDigests, OfEveryLayoutAreTheStoredOnes) {
  for (const PlanSource source : {PlanSource::kLibtorch, PlanSource::kKernels}) {
    const TestRun test(source);
    const bool is_ours = source == PlanSource::kKernels;
    ExpectOfAllLayouts(is_ours ? "kernels" : "reference", Ops(test.run), four_.Load());
    if (is_ours) ExpectOfAllLayouts("bf16", Ops(test.run), four_.Load(at::kBFloat16));
  }
}

TEST_F(VelocityDigests, InEightBitsAreTheStoredOnes) {
  for (const RowForm form : {RowForm::kE4m3, RowForm::kInt8}) {
    const std::string profile = form == RowForm::kInt8 ? "int8" : "fp8";
    Transformer model = four_.Load();
    if (!model.MakeLayersIn(form).ok()) continue;
    const kernels::KernelPlan plan = PlanOf(profile);
    kernels::KernelCounters counters;
    const kernels::Execution run{plan, counters, nullptr, DeviceUnderTest()->stream};
    ExpectOfAllLayouts(profile, Ops(run), model);
  }
}

TEST_F(VelocityDigests, OfThePartsOfACallAreTheStoredOnes) {
  const TestRun test;
  const Ops ops(test.run);
  const Transformer model = four_.Load();
  for (const Layout& layout : OneSize()) {
    if (layout.rows.empty()) continue;
    VelocityInputs inputs = Inputs(ops, model, layout), first_inputs = inputs;
    first_inputs.text = inputs.text.OfFirstBlock();
    const FirstBlock first = model.First(ops, first_inputs);
    Expect("first x " + layout.name(), first.x);
    Expect("first added " + layout.name(), first.added);
    inputs.x = first.x;
    const at::Tensor others = model.Others(ops, inputs);
    Expect("others " + layout.name(), others);
    Expect("all rows " + layout.name(), Transformer::AllRows(inputs, first.x));
    Expect("head " + layout.name(), model.Head(ops, inputs, others));
  }
}

TEST_F(VelocityDigests, OfSharedStepsAreTheStoredOnes) {
  const TestRun test(PlanSource::kKernels);
  const Ops ops(test.run);
  const Transformer model = four_.Load();
  const GuidancePoint guided{3, 0.7, 0, {}};
  const std::vector<GuidancePoint> plain(4), led(4, guided);
  std::vector<DenoiseState> all = {
      State(ops, model, 1, led), State(ops, model, 5, plain, {1, 2, 3}),
      State(ops, model, 9, led, {2, 2, 2}, true), State(ops, model, 13, plain),
      State(ops, model, 17, led, {2, 2, 2}, true)};
  Denoiser denoiser(model);
  int step = 0;
  for (const std::vector<size_t>& batch :
       std::vector<std::vector<size_t>>{{0, 1, 2, 3, 4}, {0, 3}, {4, 2}, {1, 0}, {2}, {3, 4}}) {
    std::vector<DenoiseState*> states;
    for (const size_t i : batch) states.push_back(&all[i]);
    const std::unique_ptr<Denoiser::Walk> walk = denoiser.Begin(ops, states);
    while (!walk->Next(ops, 1)) {
    }
    for (const size_t i : batch) {
      Expect("company " + std::to_string(step) + " of " + std::to_string(i), all[i].tokens.x);
    }
    ++step;
  }
}

TEST_F(VelocityDigests, OfStepsThatReuseAreTheStoredOnes) {
  const Transformer model = four_.Load();
  const kernels::KernelPlan plan = PlanOf("cache");
  kernels::KernelCounters counters;
  const kernels::Execution run{plan, counters, nullptr, DeviceUnderTest()->stream};
  const Ops ops(run);
  for (const double threshold : {1e-9, 1.0}) {
    std::vector<DenoiseState> all = {
        State(ops, model, 1, std::vector<GuidancePoint>(6, {3, 0.7, 0, {}})),
        State(ops, model, 5, std::vector<GuidancePoint>(6))};
    DenoiseState perturbed = State(ops, model, 7, std::vector<GuidancePoint>(6, {3, 0, 1, {1}}));
    for (DenoiseState* const state : {&all[0], &all[1], &perturbed}) {
      state->cache = StepCache({.threshold = threshold, .most_reused = 2});
    }
    Denoiser denoiser(model);
    for (int step = 0; step < 6; ++step) {
      if (step == 2) denoiser.Step(ops, {&all[1]});
      if (all[1].step < 6) denoiser.Step(ops, {&all[0], &all[1]});
      denoiser.Step(ops, {&perturbed});
      const std::string what = "cache " + std::to_string(threshold) + " " + std::to_string(step);
      Expect(what + " of 0", all[0].tokens.x);
      Expect(what + " of 1", all[1].tokens.x);
      Expect(what + " perturbed", perturbed.tokens.x);
    }
  }
}

TEST_F(VelocityDigests, OfStepsOnAGroupAreTheStoredOnes) {
  const TestRun test;
  const Ops ops(test.run);
  const Transformer model = four_.Load();
  for (const int ranks : {2, 3, 4}) {
    const std::vector<at::Device> cpus(static_cast<size_t>(ranks), at::kCPU);
    RankCrew copies(cpus), linked(cpus, std::make_unique<CpuLink>(ranks));
    const std::vector<const Transformer*> all(cpus.size(), &model);
    for (RankCrew* const crew : {&copies, &linked}) {
      Denoiser denoiser(all, nullptr, *crew);
      for (const bool pinned : {false, true}) {
        DenoiseState state = State(ops, model, 3, EveryForm(), {1, 1, 31}, pinned);
        DenoiseState other = State(ops, model, 8, std::vector<GuidancePoint>(4, {3, 0.7, 0, {}}));
        DenoiseState third = State(ops, model, 11, std::vector<GuidancePoint>(4));
        const std::string what = std::to_string(ranks) + (crew == &linked ? " linked" : " ranks") +
                                 (pinned ? " pinned " : " ");
        for (int step = 0; step < 6; ++step) {
          denoiser.Step(ops, {&state});
          Expect(what + std::to_string(step), state.tokens.x);
          if (step >= 4) continue;
          denoiser.Step(ops, {&other, &third});
          Expect(what + std::to_string(step) + " first of two", other.tokens.x);
          Expect(what + std::to_string(step) + " second of two", third.tokens.x);
        }
      }
    }
  }
}

}  // namespace
}  // namespace reel::model::ltx
