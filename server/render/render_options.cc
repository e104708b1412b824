// SPDX-License-Identifier: Apache-2.0
#include "server/render/render_options.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include <CLI/CLI.hpp>

namespace reel::server {
namespace {

constexpr char kTestCard[] = "testcard";

// What a flag may be and is not yet, each with why.
struct Unsupported {
  std::vector<std::string> conditions;
  std::string device = "auto";
  std::string image;
};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// "--num_frames=9" is "--num-frames=9"; values stay as they are.
std::string SpelledWithDashes(std::string argument) {
  if (argument.rfind("--", 0) != 0) return argument;
  const auto end =
      argument.begin() + static_cast<std::ptrdiff_t>(std::min(argument.find('='), argument.size()));
  std::replace(argument.begin(), end, '_', '-');
  return argument;
}

void AddSpecFlags(CLI::App& app, model::GenerationSpec& spec) {
  app.add_option("--prompt", spec.prompt, "What to show")->required();
  app.add_option("--negative-prompt", spec.negative_prompt, "What to steer away from");
  app.add_option("--preset", spec.preset, "A named set of the model's values");
  app.add_option("--width", spec.width, "Pixels");
  app.add_option("--height", spec.height, "Pixels");
  app.add_option("--num-frames", spec.num_frames, "Length of the clip");
  app.add_option("--frame-rate", spec.frame_rate, "Frames per second");
  app.add_option("--steps", spec.num_inference_steps, "Denoising steps");
  app.add_option("--timesteps", spec.timesteps, "Own descending schedule, 0..1000")->delimiter(',');
  app.add_option("--guidance-scale", spec.guidance_scale, "At most 1 turns guidance off");
  app.add_option("--guidance-rescale", spec.guidance_rescale, "0..1");
  app.add_option("--decode-timestep", spec.decode_timestep, "0..1");
  app.add_option("--decode-noise-scale", spec.decode_noise_scale, "0..1");
  app.add_option("--max-text-tokens", spec.max_text_tokens, "Longest text");
  app.add_option("--seed", spec.seed, "Same seed, same video; default 0");
  app.add_option("--kernels", spec.kernels.profile, "auto, reference or batch_invariant");
  app.add_option("--crf", spec.encoding.crf, "0 (lossless) to 51; default 18");
}

// Empty when everything that was asked for exists.
std::string Refusal(const Unsupported& asked, const RenderOptions& options) {
  if (!asked.image.empty() || !asked.conditions.empty()) {
    return "--image and --condition need a model that takes pictures; this build has none";
  }
  if (asked.device != "auto" && asked.device != "cpu") {
    return "--device: this build renders on cpu only (or auto)";
  }
  if (!EndsWith(options.output, ".mp4") && !EndsWith(options.output, ".safetensors")) {
    return "--output ends in .mp4 or .safetensors";
  }
  return "";
}

}  // namespace

std::optional<RenderOptions> ParseRenderOptions(std::vector<std::string> arguments,
                                                int& exit_code) {
  RenderOptions options;
  Unsupported asked;
  std::string model = kTestCard;
  CLI::App app("Renders a video without a server.", "reel-render");
  app.set_version_flag("--version", REEL_VERSION);
  app.add_option("--model", model, "testcard (default), or a folder or file of weights");
  AddSpecFlags(app, options.spec);
  app.add_option("--dtype", options.dtype, "Of the weights")
      ->check(CLI::IsMember({"bf16", "fp16", "fp32"}));
  app.add_option("--device", asked.device, "auto (default) or cpu");
  app.add_option("--image", asked.image, "A picture that the video starts from");
  app.add_option("--condition", asked.conditions, "FILE@FRAME:STRENGTH, a picture or a clip");
  app.add_option("--encoder-threads", options.encoder_threads, "Same number, same file; default 2")
      ->check(CLI::Range(1, 16));
  app.add_flag("--timings", options.timings, "Print what each stage took");
  app.add_option("--output", options.output,
                 "The file to write: .mp4, or .safetensors with the exact frames")
      ->required();

  std::transform(arguments.begin(), arguments.end(), arguments.begin(), SpelledWithDashes);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error, std::cout, std::cerr) == 0 ? kSuccess : kUsage;
    return std::nullopt;
  }
  if (const std::string refusal = Refusal(asked, options); !refusal.empty()) {
    std::fprintf(stderr, "reel-render: %s\n", refusal.c_str());
    exit_code = kUsage;
    return std::nullopt;
  }
  if (!options.spec.seed) options.spec.seed = 0;
  if (model != kTestCard) options.model_path = model;
  options.exact = EndsWith(options.output, ".safetensors");
  return options;
}

}  // namespace reel::server
