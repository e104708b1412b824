// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/tiny_ltx.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "model/bridge/aten.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx {
namespace {

namespace fs = std::filesystem;

std::string GoldenFolder() { return std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/"; }

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// One tensor by golden_models.fill's rule.
at::Tensor Fill(const std::string& name, const std::vector<int64_t>& shape,
                at::Generator& generator) {
  if (name == "decoder.timestep_scale_multiplier") return at::full(shape, 1000.0);
  const at::Tensor r = at::randn(shape, generator, at::TensorOptions(at::kFloat));
  if (name == "latents_std") return 1 + 0.1 * r;
  if (name == "latents_mean" || Contains(name, "per_channel_scale") ||
      Contains(name, "scale_shift_table")) {
    return 0.1 * r;
  }
  if (shape.size() == 1) return Contains(name, "norm") ? 1 + 0.1 * r : 0.1 * r;
  if (name == "shared.weight") return r;
  return r / std::sqrt(static_cast<double>(r[0].numel()));
}

std::string WeightsOf(const nlohmann::json& shapes, uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  nlohmann::json header;
  std::string data;
  for (const auto& [name, sizes] : shapes.items()) {  // in the order of bytes
    const auto shape = sizes.get<std::vector<int64_t>>();
    const at::Tensor tensor = Fill(name, shape, generator).contiguous();
    const size_t begin = data.size();
    data.append(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  }
  return SafetensorsBytes(header.dump(), data);
}

}  // namespace

TinyFolder::TinyFolder(const std::string& version) {
  at::set_num_threads(1);  // tensors this small are only slowed down by more
  const std::string source = GoldenFolder() + "models/" + version + "/";
  for (const char* part : {"transformer", "text_encoder", "vae", "scheduler"}) {
    fs::copy(source + part, path() + "/" + part);
  }
  fs::copy(source + "model_index.json", path());
  fs::create_directory(path() + "/tokenizer");
  for (const char* file : {"spiece.model", "tokenizer_config.json"}) {
    fs::copy(GoldenFolder() + "tokenizer/" + file, path() + "/tokenizer");
  }
  const nlohmann::json shapes = *ReadJsonFile(source + "shapes.json");
  scratch_.Write("transformer/diffusion_pytorch_model.safetensors",
                 WeightsOf(shapes["transformer"], 0));
  scratch_.Write("vae/diffusion_pytorch_model.safetensors", WeightsOf(shapes["vae"], 1));
  scratch_.Write("text_encoder/model.safetensors", WeightsOf(shapes["text_encoder"], 2));
}

void TinyFolder::AddUpsampler(const std::string& name) const {
  const std::string source = GoldenFolder() + "upsampler/" + name + "/";
  fs::create_directory(path() + "/latent_upsampler");
  fs::copy(source + "config.json", path() + "/latent_upsampler");
  scratch_.Write("latent_upsampler/diffusion_pytorch_model.safetensors",
                 WeightsOf(*ReadJsonFile(source + "shapes.json"), 3));
}

void TinyFolder::SetLayers(int count) const {
  for (const char* part : {"transformer", "text_encoder"}) {
    nlohmann::json config = *ReadJsonFile(path() + "/" + part + "/config.json");
    config["num_layers"] = count;
    scratch_.Write(std::string(part) + "/config.json", config.dump());
  }
}

void TinyFolder::TakeSchedulerOf(const std::string& version) const {
  const std::string file = "/scheduler/scheduler_config.json";
  fs::copy_file(GoldenFolder() + "models/" + version + file, path() + file,
                fs::copy_options::overwrite_existing);
}

}  // namespace reel::model::ltx
