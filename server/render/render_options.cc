// SPDX-License-Identifier: Apache-2.0
#include "server/render/render_options.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kernels/base/program/adapter_word.h"
#include "kernels/base/program/byte_size.h"
#include "kernels/base/program/flag_checks.h"
#include "kernels/base/program/flag_spelling.h"
#include "kernels/base/program/nearest_name.h"
#include "kernels/base/program/nearest_path.h"
#include "model/bundled_model.h"
#include "server/render/adapter_flag.h"
#include "server/render/condition_files.h"
#include "server/render/source_flags.h"
#include <CLI/CLI.hpp>

namespace reel::render {
namespace {

constexpr char kTestCard[] = "testcard";

// Flags whose values have a syntax of their own.
struct Texts {
  std::vector<std::string> conditions;
  std::string image;
  std::string kernels;
};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void AddSpecFlags(CLI::App& app, model::GenerationSpec& spec, bool renders) {
  app.add_option("--prompt", spec.prompt, "Text that describes the video")->required(renders);
  app.add_option("--negative-prompt", spec.negative_prompt,
                 "What the video should not show; \"\": nothing, if the model has a default");
  app.add_option("--preset", spec.preset, "A named set of the model's values")->check(WhyEmpty);
  app.add_option("--stop-after-pass", spec.stop_after_pass,
                 "A draft: makes only so many passes of the preset, at their size");
  app.add_option("--width", spec.width, "Pixels")->check(WhyNotAboveZero);
  app.add_option("--height", spec.height, "Pixels")->check(WhyNotAboveZero);
  app.add_option("--num-frames", spec.num_frames, "Length of the clip")->check(WhyNotAboveZero);
  app.add_option("--frame-rate", spec.frame_rate, "Frames per second")->check(WhyNotAboveZero);
  app.add_option("--steps", spec.num_inference_steps, "Denoising steps")->check(WhyNotAboveZero);
  app.add_option("--timesteps", spec.timesteps, "Own descending schedule, 0..1000")->delimiter(',');
  app.add_option("--guidance-scale", spec.guidance_scale,
                 "Guidance scale; 1 or less turns guidance off");
  app.add_option("--guidance-rescale", spec.guidance_rescale, "0..1");
  app.add_option("--audio-guidance-scale", spec.audio_guidance_scale,
                 "Guidance scale of the sound; 0: as the video's");
  app.add_option("--audio-guidance-rescale", spec.audio_guidance_rescale, "0..1");
  app.add_option("--stg-scale", spec.stg_scale,
                 "Guidance away from perturbed blocks; 0 turns it off");
  app.add_option("--audio-stg-scale", spec.audio_stg_scale,
                 "--stg-scale of the sound; 0: as the video's");
  app.add_option("--stg-blocks", spec.stg_blocks, "Perturbed blocks, from 0")->delimiter(',');
  app.add_option("--modality-scale", spec.modality_scale,
                 "Guidance away from pictures and sound that do not know of each other; at most 1 "
                 "turns it off");
  app.add_option("--audio-modality-scale", spec.audio_modality_scale,
                 "--modality-scale of the sound; 0: as the video's");
  app.add_option("--image-crf", spec.condition_crf,
                 "0..51: compression of pictures before they are encoded; 0: none");
  app.add_option("--decode-timestep", spec.decode_timestep, "0..1");
  app.add_option("--decode-noise-scale", spec.decode_noise_scale,
                 "0..1; unset without a preset: the decode timestep");
  app.add_option("--denoise-strength", spec.denoise_strength,
                 "0..1, how much of the schedule runs over given latents; with --refine how much "
                 "noise the clip gets");
  app.add_option("--image-condition-noise-scale", spec.image_condition_noise_scale,
                 "0..1, noise on fully pinned frames while they are denoised");
  app.add_option("--cache-threshold", spec.cache.threshold,
                 "0..1, with --kernels cache: steps whose first block changes less reuse the last");
  app.add_option("--cache-most-reused", spec.cache.most_reused,
                 "0..16, most steps in a row that reuse the last");
  app.add_option("--max-text-tokens", spec.max_text_tokens, "Most tokens of a text")
      ->check(WhyNotAboveZero);
  app.add_option("--seed", spec.seed, "Same seed, same video; default 0")->check(WhyNotSeed);
  app.add_flag_callback(
      "--no-sound", [&spec] { spec.sound = false; }, "Leave out the sound of a model that has it");
  app.add_option("--normalise-loudness", spec.normalise_loudness,
                 "LUFS that the sound is brought to (EBU R 128), such as -23 or -14");
  app.add_option("--crf", spec.encoding.crf, "0 (lossless) to 51; default 18");
}

void AddOriginFlag(CLI::App& app, model::GenerationSpec& spec) {
  const std::map<std::string, model::Origin> origins = {{"none", model::Origin::kNone},
                                                        {"mark", model::Origin::kMark},
                                                        {"spec", model::Origin::kSpec}};
  app.add_option_function<std::string>(
         "--origin",
         [&spec, origins](const std::string& name) { spec.encoding.origin = origins.at(name); },
         "What the file says of how it was made: mark (default), spec (all that `reel again` "
         "needs, the prompt too), none")
      ->check(CLI::IsMember({"none", "mark", "spec"}));
}

// What a video is made from beside its prompt.
void AddConditionFlags(CLI::App& app, Texts& texts, RenderOptions& options) {
  app.add_option("--image", texts.image, "A PNG, JPEG or WebP that the video starts from");
  app.add_option("--condition", texts.conditions,
                 "FILE@FRAME:STRENGTH, a picture or an MP4 clip; may come several times");
  app.add_option("--refine", options.refined_clip,
                 "An MP4 of any origin that the second pass of a preset of two refines, in place "
                 "of the first; --denoise-strength: how much of it is made anew");
  AddReferenceFlags(app, options);
  app.add_option("--sound", options.sound,
                 "A WAV, FLAC, MP3 or MP4 whose sound the video has and its pictures follow");
}

// The flags that were added behind the first `first`.
std::vector<const CLI::Option*> FlagsFrom(size_t first, const CLI::App& app) {
  std::vector<const CLI::Option*> flags = app.get_options();
  flags.erase(flags.begin(), flags.begin() + static_cast<std::ptrdiff_t>(first));
  return flags;
}

// Empty if the flags go together. `of_the_video`: those that say what to render.
std::string Refusal(const RenderOptions& options,
                    const std::vector<const CLI::Option*>& of_the_video) {
  if (options.json && !options.check) return "--json needs --check";
  if (options.adapter_ranks == 0 && HaveFurtherScales(options.request_adapters)) {
    return "scales of parts and passes in --adapter need --adapter-ranks";
  }
  if (options.check) return "";
  if (std::string wrong = WhyNotBesideSource(options, of_the_video); !wrong.empty()) return wrong;
  if (!options.state.empty() && options.state == options.output) {
    return "--keep-state and --output name the same file";
  }
  if (!EndsWith(options.output, ".mp4") && !EndsWith(options.output, ".safetensors")) {
    return "--output must end in .mp4 or .safetensors";
  }
  return "";
}

// "PART=FILE"; nullopt: it is not.
std::optional<model::PartFile> PartOf(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals + 1 == word.size()) return std::nullopt;
  const auto part = model::PartNamed(std::string_view(word).substr(0, equals));
  if (!part.has_value()) return std::nullopt;
  return model::PartFile{*part, word.substr(equals + 1)};
}

std::string PartProblem(const std::string& word) {
  if (PartOf(word).has_value()) return "";
  return absl::StrCat("\"", word, "\" is not PART=FILE with a PART of ", model::PartNames());
}

std::vector<model::PartFile> PartsOf(const std::vector<std::string>& words) {
  std::vector<model::PartFile> files;
  for (const std::string& word : words) files.push_back(*PartOf(word));
  return files;
}

// Where and how weights are held.
void AddFitFlags(CLI::App& app, RenderOptions& options) {
  app.add_option_function<std::string>(
         "--device-memory",
         [&options](const std::string& size) { options.device_memory = *ParseByteSize(size); },
         "What may be taken of the device's memory, such as 24GB; weights that do not fit stay on "
         "the host and are copied when they are needed")
      ->check(WhyNotByteSize);
  app.add_option_function<std::string>(
         "--weights-form",
         [&options](const std::string& form) {
           options.weights_form = model::WeightsFormNamed(form);
         },
         "16 (default), or e4m3: the linear layers of the transformer's blocks are held as 8-bit "
         "floats alone, which the kernels fp8 multiply")
      ->check(CLI::IsMember({"16", "e4m3"}));
  app.add_option_function<std::string>(
         "--text-form",
         [&options](const std::string& form) { options.text_form = model::WeightsFormNamed(form); },
         "16 (default), or e4m3: the linear layers of the text encoder are held as 8-bit floats "
         "alone, and widened at each use")
      ->check(CLI::IsMember({"16", "e4m3"}));
  app.add_option(
         "--decoder", options.decoder,
         "diffusion: pictures are made by the folder's diffusion decoder, of noise from the "
         "seed; default: the autoencoder's own decoder")
      ->check(CLI::IsMember({model::kDiffusionDecoder}));
  app.add_option_function<std::string>(
         "--text-place",
         [&options](const std::string& place) {
           options.offload.text = place == "host" ? model::Place::kHost : model::Place::kDevice;
         },
         "device or host: where the text encoder is; default: by --device-memory")
      ->check(CLI::IsMember({"device", "host"}));
  app.add_option("--resident-blocks", options.offload.resident_blocks,
                 "Blocks of the transformer that stay on the device; the others are copied in each "
                 "step; default: by --device-memory")
      ->check(CLI::NonNegativeNumber);
}

void AddModelFlags(CLI::App& app, std::string& model, RenderOptions& options) {
  app.add_option(
      "--model", model,
      "A folder or file of weights, ltx2-demo, or testcard; default: ltx-demo, if it is installed");
  app.add_option("--dtype", options.dtype, "Type of the weights")
      ->check(CLI::IsMember({"bf16", "fp16", "fp32"}));
  app.add_option("--device", options.device,
                 "auto (default: the first GPU, else cpu), cpu, cuda:N, a UUID, or two to four: "
                 "cuda:0+cuda:1");
  AddFitFlags(app, options);
  app.add_option("--text-folder", options.text_folder,
                 "Folder with text_encoder/ and tokenizer/, for a model in a single file");
  app.add_option_function<std::vector<std::string>>(
         "--part",
         [&options](const std::vector<std::string>& words) { options.parts = PartsOf(words); },
         absl::StrCat("PART=FILE: a part's weights in a file of its own, GGUF or safetensors; of ",
                      model::PartNames()))
      ->check(PartProblem)
      ->allow_extra_args(false);
  app.add_option_function<std::vector<std::string>>(
         "--adapter",
         [&options](const std::vector<std::string>& words) {
           options.adapters = AdaptersOfFlags(words);
           options.request_adapters = RequestAdaptersOf(words);
         },
         absl::StrCat("FILE", kAdapterScales,
                      ": an adapter (LoRA) that is added to the weights; up to 8 times. Scales of "
                      "parts and passes need --adapter-ranks"))
      ->check(AdapterProblem)
      ->allow_extra_args(false);
  app.add_option("--adapter-ranks", options.adapter_ranks,
                 "Keep the adapters beside the weights, as a server does with those of requests: "
                 "room for ranks of so many together, a multiple of 32 up to 256");
  app.add_option("--manifest", options.manifest_file, "Lines \"sha256  file\" that must match");
  app.add_option("--random-weights", options.random_weights,
                 "Seed of random weights, for benchmarks with a folder that has only "
                 "configurations and a tokenizer");
  app.add_flag("--check", options.check,
               "Check whether the model can be loaded, and render nothing");
  app.add_flag("--json", options.json, "With --check: one line of JSON");
}

// Empty if there is a model to load. Flags about the weights override what is known of the bundled
// model.
std::string ChooseModel(const std::string& wanted, const std::string& models_folder,
                        RenderOptions& options) {
  if (wanted == kTestCard) return "";
  const auto models = model::FindBundledModels(models_folder);
  const auto bundled = wanted.empty()
                           ? models.begin()
                           : std::ranges::find(models, wanted, &model::BundledModel::name);
  if (bundled != models.end()) {
    options.model_path = bundled->path;
    if (options.dtype.empty()) options.dtype = bundled->dtype;
    if (options.manifest_file.empty() && !options.random_weights) {
      options.manifest_file = bundled->manifest_file;
    }
    return "";
  }
  options.model_path = wanted;
  std::error_code ignored;
  // A check prints its own message for a missing path.
  if (options.check || wanted.empty() || std::filesystem::exists(wanted, ignored)) return "";
  std::vector<std::string> known = {kTestCard};
  known.insert(known.end(), std::begin(model::kBundledModels), std::end(model::kBundledModels));
  std::string nearest = NearestName(wanted, known);
  if (nearest.empty()) nearest = NearestPath(wanted);
  return absl::StrCat(
      "--model: neither testcard, nor ltx-demo, nor ltx2-demo, nor a folder or file: '", wanted,
      "'", nearest.empty() ? "" : absl::StrCat("; the nearest is '", nearest, "'"));
}

// "PROFILE" or "PROFILE+operator=variant,operator=variant".
bool ReadKernels(const std::string& text, model::KernelSelection& kernels) {
  const size_t plus = text.find('+');
  kernels.profile = text.substr(0, plus);
  if (plus == std::string::npos) return true;
  for (const absl::string_view choice : absl::StrSplit(text.substr(plus + 1), ',')) {
    const std::pair<std::string, std::string> pair =
        absl::StrSplit(choice, absl::MaxSplits('=', 1));
    if (pair.first.empty() || pair.second.empty()) return false;
    kernels.variants[pair.first] = pair.second;
  }
  return true;
}

// Empty if all could be read.
std::string ReadTexts(const Texts& texts, RenderOptions& options) {
  if (!texts.image.empty() && !texts.conditions.empty()) {
    return "--image and --condition exclude each other; write the image as --condition FILE@0:1";
  }
  if (!texts.image.empty()) {
    options.conditions.push_back({texts.image, 0, 1});
    options.spec.condition_pipeline = model::ConditionPipeline::kImage;
  }
  for (const std::string& text : texts.conditions) {
    const auto condition = ParseConditionFile(text);
    if (!condition) return "--condition is FILE@FRAME:STRENGTH, e.g. end.png@48:0.8; not " + text;
    options.conditions.push_back(*condition);
    options.spec.condition_pipeline = model::ConditionPipeline::kCondition;
  }
  if (!ReadKernels(texts.kernels, options.spec.kernels)) {
    return "--kernels is PROFILE or PROFILE+operator=variant,...; not " + texts.kernels;
  }
  return "";
}

// As in the reference's calls, which use the timestep if no noise is given.
void FillNoise(model::GenerationSpec& spec) {
  if (spec.preset.empty() && !spec.decode_noise_scale)
    spec.decode_noise_scale = spec.decode_timestep;
}

}  // namespace

model::LoadOptions LoadOptionsOf(const RenderOptions& options) {
  model::LoadOptions load;
  load.path = options.model_path;
  load.dtype = options.dtype;
  load.text_folder = options.text_folder;
  load.parts = options.parts;
  load.adapter_ranks = options.adapter_ranks;
  if (options.adapter_ranks == 0) load.adapters = options.adapters;
  load.manifest_file = options.manifest_file;
  load.random_weights = options.random_weights;
  load.device_memory = options.device_memory;
  load.offload = options.offload;
  load.weights_form = options.weights_form;
  load.text_form = options.text_form;
  load.decoder = options.decoder;
  load.computes_in_bf16 = options.computes_in_bf16;
  load.peers = options.peers;
  return load;
}

std::optional<RenderOptions> ParseRenderOptions(std::vector<std::string> arguments,
                                                const std::string& models_folder, int& exit_code) {
  RenderOptions options;
  Texts texts;
  std::string model;
  const bool renders = std::ranges::find(arguments, "--check") == arguments.end();
  const bool goes_on = std::ranges::any_of(arguments, NamesASource);
  CLI::App app("Renders a video without a server.", "reel-render");
  app.set_version_flag("--version", "reel-render " REEL_VERSION);
  AddModelFlags(app, model, options);
  const size_t of_the_model = app.get_options().size();
  AddSpecFlags(app, options.spec, renders && !goes_on);
  AddOriginFlag(app, options.spec);
  AddConditionFlags(app, texts, options);
  app.add_option(
      "--kernels", texts.kernels,
      "auto, reference, batch_invariant, or a lossy one: int8 or fp8 (linear layers in 8 "
      "bits, int8 the nearer), fp8_attention (attention in 8 bits), int8_all, fp8_all "
      "(both), routed (fp8_all, and later passes attend to a share of the tokens), cache "
      "(steps that change little are not full); +operator=variant,... on top");
  const std::vector<const CLI::Option*> of_the_video = FlagsFrom(of_the_model, app);
  AddSourceFlags(app, options);
  app.add_option("--encoder-threads", options.encoder_threads,
                 "The file is the same with any number; default: the cores, up to 16")
      ->check(CLI::Range(1, 16));
  app.add_flag("--timings", options.timings, "Print what each stage took");
  app.add_option("--output", options.output,
                 "The file to write: .mp4, or .safetensors with the exact frames")
      ->required(renders);

  arguments = WithFlagsSpelt('-', std::move(arguments));
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error, std::cout, std::cerr) == 0 ? kSuccess : kUsage;
    return std::nullopt;
  }
  std::string refusal = Refusal(options, of_the_video);
  if (refusal.empty()) refusal = ReadTexts(texts, options);
  if (refusal.empty()) refusal = ChooseModel(model, models_folder, options);
  if (!refusal.empty()) {
    std::fprintf(stderr, "reel-render: %s\n", refusal.c_str());
    exit_code = kUsage;
    return std::nullopt;
  }
  if (!options.state.empty()) options.spec.keep_state = true;
  if (!options.spec.seed) options.spec.seed = 0;
  FillNoise(options.spec);
  if (options.adapter_ranks > 0) options.spec.adapters = options.request_adapters;
  options.exact = EndsWith(options.output, ".safetensors");
  return options;
}

}  // namespace reel::render
