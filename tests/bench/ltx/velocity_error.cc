// SPDX-License-Identifier: Apache-2.0
// Measures the error of lossy profiles in the velocity. On the same latents at every step of one
// video: the reference in fp32, "auto" and each profile in --dtype. One JSON line for each.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/status_macros.h"
#include "kernels/dispatch/kernel_counters.h"
#include "kernels/open_device.h"
#include "model/bridge/torch_device.h"
#include "model/bridge/torch_guard.h"
#include "model/ltx/ltx_model.h"
#include "model/ltx/rope.h"
#include "model/registry.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include <CLI/CLI.hpp>

namespace reel::model::ltx {
namespace {

constexpr int kTextTokens = 128;

struct Options {
  LoadOptions load;
  std::string device = "auto", library = kernels::CudaLibraryPath();
  std::string prompt = "a red fox walks through a snowy forest";
  std::vector<std::string> profiles = {"fp8"};
  LatentShape shape = {7, 16, 24};
  int steps = 10, seed = 0;
  double guidance = 3;
};

// Of one profile against the bf16 of "auto", and of both against fp32.
struct Errors {
  std::vector<double> to_auto, cosine, to_fp32;
};

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).norm() / expected.norm()).item<double>();
}

double Cosine(const at::Tensor& a, const at::Tensor& b) {
  return ((a * b).sum() / (a.norm() * b.norm())).item<double>();
}

nlohmann::json Summary(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return {{"mean", sum / static_cast<double>(values.size())},
          {"least", *std::min_element(values.begin(), values.end())},
          {"most", *std::max_element(values.begin(), values.end())}};
}

class Teacher {
 public:
  Teacher(const Options& options, kernels::OpenedDevice& device)
      : options_(options), device_(device) {}

  absl::StatusOr<std::vector<Errors>> Run() {
    const c10::InferenceMode no_gradients;
    REEL_ASSIGN_OR_RETURN(const at::Device place, TorchDeviceOf(device_.stream));
    LoadOptions wide_options = options_.load;
    wide_options.dtype = "fp32";
    REEL_ASSIGN_OR_RETURN(const auto model, LoadLtxModel(options_.load, place));
    REEL_ASSIGN_OR_RETURN(const auto wide, LoadLtxModel(wide_options, place));
    REEL_ASSIGN_OR_RETURN(Inputs inputs, Begin(*model, *wide, place));
    REEL_ASSIGN_OR_RETURN(const Schedule schedule, SpacedSchedule(model->scheduler, options_.steps,
                                                                  options_.shape.tokens()));
    std::vector<Errors> errors(options_.profiles.size());
    for (int i = 0; i < schedule.steps(); ++i) {
      const auto at = static_cast<size_t>(i);
      inputs.times = at::full({1}, schedule.timesteps[at], at::kFloat).to(place);
      REEL_ASSIGN_OR_RETURN(const at::Tensor exact,
                            Velocity(*wide, inputs, inputs.wide_text, "reference"));
      REEL_ASSIGN_OR_RETURN(const at::Tensor plain, Velocity(*model, inputs, inputs.text, "auto"));
      for (size_t p = 0; p < errors.size(); ++p) {
        REEL_ASSIGN_OR_RETURN(const at::Tensor lossy,
                              Velocity(*model, inputs, inputs.text, options_.profiles[p]));
        errors[p].to_auto.push_back(RelativeError(lossy, plain));
        errors[p].cosine.push_back(Cosine(lossy, plain));
        errors[p].to_fp32.push_back(RelativeError(lossy, exact));
      }
      auto_to_fp32_.push_back(RelativeError(plain, exact));
      const at::Tensor guided = plain[0] + options_.guidance * (plain[1] - plain[0]);
      inputs.x = inputs.x + (schedule.sigmas[at + 1] - schedule.sigmas[at]) * guided.unsqueeze(0);
    }
    return errors;
  }

  const std::vector<double>& auto_to_fp32() const { return auto_to_fp32_; }

 private:
  struct Inputs {
    at::Tensor x, times;  // [1, S, C] fp64; [1]
    RopeTable rope;
    TextContext text, wide_text;
  };

  absl::StatusOr<TextContext> TextOf(LtxModel& model, const Ops& ops) {
    std::vector<at::Tensor> embeddings, masks;
    REEL_ASSIGN_OR_RETURN(
        const std::vector<Prompt> prompts,
        model.prompts.Encode(ops, {std::string(), options_.prompt}, kTextTokens, false));
    for (const Prompt& prompt : prompts) {
      embeddings.push_back(prompt.embeddings);
      masks.push_back(prompt.mask);
    }
    return model.transformer.Prepare(ops, at::cat(embeddings), at::cat(masks));
  }

  absl::StatusOr<Inputs> Begin(LtxModel& model, LtxModel& wide, at::Device place) {
    REEL_ASSIGN_OR_RETURN(const kernels::KernelPlan plan, device_.catalog.Plan("auto", {}));
    kernels::KernelCounters counters;
    const kernels::Execution run{plan, counters, nullptr, device_.stream};
    const Ops ops(run);
    REEL_RETURN_IF_ERROR(model.transformer.MakeLayersIn(RowForm::kE4m3));
    REEL_RETURN_IF_ERROR(model.transformer.MakeLayersIn(RowForm::kInt8));
    REEL_ASSIGN_OR_RETURN(TextContext text, TextOf(model, ops));
    REEL_ASSIGN_OR_RETURN(TextContext wide_text, TextOf(wide, ops));
    const TransformerConfig& config = model.transformer.config();
    const at::Tensor noise =
        at::randn({1, options_.shape.tokens(), config.in_channels},
                  at::detail::createCPUGenerator(static_cast<uint64_t>(options_.seed)),
                  at::TensorOptions(at::kFloat));
    return Inputs{
        .x = noise.to(at::kDouble).to(place),
        .times = {},
        .rope = MakeRopeTable(PlainCoordinates(options_.shape, 25), config.width()).To(place),
        .text = std::move(text),
        .wide_text = std::move(wide_text)};
  }

  // In fp64, [2, S, C].
  absl::StatusOr<at::Tensor> Velocity(const LtxModel& model, const Inputs& inputs,
                                      const TextContext& text, const std::string& profile) {
    REEL_ASSIGN_OR_RETURN(const kernels::KernelPlan plan, device_.catalog.Plan(profile, {}));
    kernels::KernelCounters counters;
    const kernels::Execution run{plan, counters, nullptr, device_.stream};
    const Ops ops(run);
    return model.transformer
        .Velocity(ops, {.x = inputs.x.to(model.dtype),
                        .time = model.transformer.Times(ops, inputs.times),
                        .rope = inputs.rope,
                        .text = text,
                        .rows = {2}})
        .to(at::kDouble);
  }

  const Options& options_;
  kernels::OpenedDevice& device_;
  std::vector<double> auto_to_fp32_;
};

int Main(const Options& options) {
  auto opened = kernels::OpenDevice(options.device, options.library);
  if (!opened.ok()) {
    std::cerr << opened.status() << std::endl;
    return 1;
  }
  AddModelVariants(opened->catalog);
  Teacher teacher(options, *opened);
  const auto errors = TorchGuard([&] { return teacher.Run(); });
  if (!errors.ok()) {
    std::cerr << errors.status() << std::endl;
    return 1;
  }
  std::cout << nlohmann::json{{"profile", "auto"}, {"to_fp32", Summary(teacher.auto_to_fp32())}}
            << std::endl;
  for (size_t p = 0; p < errors->size(); ++p) {
    const Errors& of = (*errors)[p];
    std::cout << nlohmann::json{{"profile", options.profiles[p]},
                                {"steps", options.steps},
                                {"to_auto", Summary(of.to_auto)},
                                {"cosine", Summary(of.cosine)},
                                {"to_fp32", Summary(of.to_fp32)}}
              << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace reel::model::ltx

int main(int argc, char** argv) {
  reel::model::ltx::Options options;
  options.load.name = "bench";
  CLI::App app("What lossy profiles do to the velocity", "velocity_error");
  app.add_option("--model", options.load.path, "Folder of the model")->required();
  app.add_option("--dtype", options.load.dtype, "fp32, bf16 or fp16");
  app.add_option("--device", options.device, "cpu, cuda:N or auto");
  app.add_option("--library", options.library, "libreel_cuda.so");
  app.add_option("--prompt", options.prompt);
  app.add_option("--latent-frames", options.shape.frames);
  app.add_option("--latent-height", options.shape.height);
  app.add_option("--latent-width", options.shape.width);
  app.add_option("--steps", options.steps);
  app.add_option("--seed", options.seed);
  app.add_option("--guidance-scale", options.guidance);
  app.add_option("--profiles", options.profiles)->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  return reel::model::ltx::Main(options);
}
