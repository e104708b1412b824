// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/tiny_ltx2.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "model/bridge/aten.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

namespace fs = std::filesystem;

constexpr char kDiffusersFile[] = "/diffusion_pytorch_model.safetensors";
constexpr uint64_t kTransformerSeed = 0, kVaeSeed = 1, kConnectorsSeed = 2, kGemmaSeed = 5,
                   kUpsamplerSeed = 6, kDiffusionDecoderSeed = 7;

std::string GoldenFile(const std::string& name) {
  return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/" + name;
}

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// One tensor by golden_ltx2.fill's rule.
at::Tensor Drawn(const std::string& name, const std::vector<int64_t>& shape, double norm,
                 at::Generator& generator) {
  const at::Tensor r = at::randn(shape, generator, at::TensorOptions(at::kFloat));
  if (Contains(name, "table") || Contains(name, "abs_pos")) return 0.1 * r;
  if (name == "latents_std" || name.ends_with("layer_scalar")) return 1 + 0.1 * r;
  if (shape.size() == 1) return Contains(name, "norm") ? norm + 0.1 * r : 0.1 * r;
  return r / std::sqrt(static_cast<double>(r[0].numel()));
}

nlohmann::json SchedulerConfigOf(Scheduler scheduler) {
  const bool is_dynamic = scheduler == Scheduler::kDynamic;
  nlohmann::json config = {{"_class_name", "FlowMatchEulerDiscreteScheduler"},
                           {"num_train_timesteps", 1000},
                           {"shift", 1.0},
                           {"use_dynamic_shifting", is_dynamic},
                           {"base_shift", 0.95},
                           {"max_shift", 2.05},
                           {"base_image_seq_len", 1024},
                           {"max_image_seq_len", 4096}};
  if (is_dynamic) config["shift_terminal"] = 0.1;
  return config;
}

}  // namespace

std::string DrawnWeights(const nlohmann::json& shapes, uint64_t seed, double norm,
                         const nlohmann::json& metadata) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  nlohmann::json header;
  if (!metadata.is_null()) header["__metadata__"] = metadata;
  std::string data;
  for (const auto& [name, sizes] : shapes.items()) {  // in the order of bytes
    const auto shape = sizes.get<std::vector<int64_t>>();
    const at::Tensor tensor = Drawn(name, shape, norm, generator).contiguous();
    const size_t begin = data.size();
    data.append(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  }
  return SafetensorsBytes(header.dump(), data);
}

TinyFolder::TinyFolder(const std::string& variant, Scheduler scheduler) {
  at::set_num_threads(1);  // tensors this small are only slowed down by more
  // The networks of 2.5 but for the transformer and the text encoder are those of 2.3.
  const bool has_gemma4 = variant == "2.5";
  const std::string of_others = has_gemma4 ? "2.3" : variant;
  const auto add = [&](const std::string& part, const std::string& of, uint64_t seed) {
    const std::string source = GoldenFile("ltx2/" + part + "/" + of);
    fs::create_directory(path() + "/" + part);
    fs::copy(source + "/config.json", path() + "/" + part);
    scratch_.Write(part + kDiffusersFile,
                   DrawnWeights(*ReadJsonFile(source + "/shapes.json"), seed));
  };
  add("transformer", variant, kTransformerSeed);
  add("vae", of_others, kVaeSeed);
  add("connectors", of_others, kConnectorsSeed);
  fs::copy(GoldenFile("ltx2_sound/audio_vae"), path() + "/audio_vae");
  fs::copy(GoldenFile(variant == "2.0" ? "ltx2_sound/vocoder" : "ltx2_sound/vocoder_extended"),
           path() + "/vocoder");
  for (const char* folder : {"text_encoder", "tokenizer", "scheduler"}) {
    fs::create_directory(path() + "/" + folder);
  }
  const nlohmann::json text = *ReadJsonFile(
      GoldenFile(has_gemma4 ? "ltx2/films/text_encoder-2.5.json" : "ltx2/films/text_encoder.json"));
  scratch_.Write("text_encoder/config.json", text["config"].dump());
  // Gemma 3 adds 1 to the weights of its norms.
  const double norm = has_gemma4 ? 1 : 0;
  scratch_.Write("text_encoder/model.safetensors", DrawnWeights(text["shapes"], kGemmaSeed, norm));
  const std::string begins = has_gemma4 ? "without_bos" : "with_bos";
  fs::copy(GoldenFile("bpe_tokenizer/" + begins + "/tokenizer.json"), path() + "/tokenizer");
  scratch_.Write("scheduler/scheduler_config.json", SchedulerConfigOf(scheduler).dump());
  scratch_.Write("model_index.json", R"({"_class_name": "LTX2Pipeline"})");
}

void TinyFolder::Set(const std::string& part, const std::string& key,
                     const nlohmann::json& value) const {
  const std::string file = part + "/config.json";
  nlohmann::json config = *ReadJsonFile(scratch_.File(file));
  config[key] = value;
  scratch_.Write(file, config.dump());
}

void TinyFolder::Remove(const std::string& part) const { fs::remove_all(scratch_.File(part)); }

void TinyFolder::AddUpsampler(const std::string& name) const {
  const std::string source = GoldenFile("ltx2/latent_upsampler/" + name);
  fs::create_directory(scratch_.File("latent_upsampler"));
  fs::copy(source + "/config.json", scratch_.File("latent_upsampler"));
  scratch_.Write(std::string("latent_upsampler") + kDiffusersFile,
                 DrawnWeights(*ReadJsonFile(source + "/shapes.json"), kUpsamplerSeed));
}

void TinyFolder::AddDiffusionDecoder() const {
  const std::string source = GoldenFile("ltx2/diffusion_decoder/2.5");
  fs::create_directory(scratch_.File("diffusion_decoder"));
  fs::copy(source + "/config.json", scratch_.File("diffusion_decoder"));
  scratch_.Write(std::string("diffusion_decoder") + kDiffusersFile,
                 DrawnWeights(*ReadJsonFile(source + "/shapes.json"), kDiffusionDecoderSeed));
}

void TinyFolder::AddUpsamplerFile(const std::string& name, const nlohmann::json& config) const {
  const std::string shapes = GoldenFile("ltx2/latent_upsampler/" + name + "/shapes.json");
  scratch_.Write("latent_upsampler.safetensors", DrawnWeights(*ReadJsonFile(shapes), kUpsamplerSeed,
                                                              1, {{"config", config.dump()}}));
}

}  // namespace reel::model::ltx2
