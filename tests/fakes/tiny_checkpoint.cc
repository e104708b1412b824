// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/tiny_checkpoint.h"

#include <cstring>
#include <utility>
#include <vector>

#include "model/bridge/aten.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/scaled_codes.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx {
namespace {

using Names = std::vector<std::string>;

// By index of the original's flat list of blocks.
Names DecoderBlocks(const std::string& version) {
  if (version == "0.9.0") {
    return {"mid_block",   "up_blocks.0",         "up_blocks.1.upsamplers.0",
            "up_blocks.1", "up_blocks.2.conv_in", "up_blocks.2.upsamplers.0",
            "up_blocks.2", "up_blocks.3.conv_in", "up_blocks.3.upsamplers.0",
            "up_blocks.3"};
  }
  return {"mid_block",   "up_blocks.0.upsamplers.0", "up_blocks.0", "up_blocks.1.upsamplers.0",
          "up_blocks.1", "up_blocks.2.upsamplers.0", "up_blocks.2"};
}

Names EncoderBlocks(const std::string& version) {
  Names names;
  for (int i = 0; i < 4; ++i) {
    const std::string block = "down_blocks." + std::to_string(i);
    names.push_back(block);
    if (version == "0.9.5") {
      names.push_back(block + ".downsamplers.0");
    } else if (i < 3) {
      names.push_back(block + ".downsamplers.0");
      if (i < 2) names.push_back(block + ".conv_out");
    }
  }
  names.push_back("mid_block");
  return names;
}

void Replace(std::string& text, const std::string& from, const std::string& to) {
  if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

// "encoder.down_blocks.0.resnets..." to "encoder.down_blocks.<index>.resnets...".
void NumberBlock(std::string& name, const std::string& side, const std::string& list,
                 const Names& blocks) {
  size_t best = blocks.size();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool fits = name.rfind(side + blocks[i] + ".", 0) == 0;
    if (fits && (best == blocks.size() || blocks[i].size() > blocks[best].size())) best = i;
  }
  if (best == blocks.size()) return;
  name.replace(side.size(), blocks[best].size(), list + "." + std::to_string(best));
}

// A file that grows tensor by tensor.
class Writer {
 public:
  explicit Writer(const CheckpointForm& form) : form_(form) {
    if (!form.metadata) return;
    const nlohmann::json config = {
        {"transformer", {{"_class_name", "Transformer3DModel"}, {"num_attention_heads", 4}}},
        {"vae", {{"_class_name", "CausalVideoAutoencoder"}}}};
    header_["__metadata__"] = {{"config", config.dump()}};
  }

  void Add(const std::string& name, const StoredTensor& stored) {
    if (form_.keep && !form_.keep(name)) return;
    at::Tensor tensor = at::empty(stored.entry->shape, at::kFloat);
    std::memcpy(tensor.data_ptr(), stored.bytes().data(), stored.bytes().size());
    const bool linear = tensor.dim() == 2 &&
                        name.find(".transformer_blocks.") != std::string::npos &&
                        name.find("scale_shift_table") == std::string::npos;
    using enum CheckpointForm::Linears;
    if (linear && form_.linears == kScaledF8) return AddScaled(name, tensor);
    if (linear && form_.linears == kF32RoundedToScaledF8) tensor = ScaledCodesOf(tensor).values;
    const bool cast = form_.linears == kF8 || form_.linears == kF32RoundedToF8;
    if (linear && cast) tensor = tensor.to(at::kFloat8_e4m3fn);
    if (linear && form_.linears == kF32RoundedToF8) tensor = tensor.to(at::kFloat);
    const bool is_f8 = tensor.scalar_type() == at::kFloat8_e4m3fn;
    Append(name, is_f8 ? "F8_E4M3" : "F32", stored.entry->shape,
           {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()});
  }

  std::string Finish() {
    if (!form_.extra.empty()) Append(form_.extra, "F32", {1}, std::string(4, '\0'));
    return SafetensorsBytes(header_.dump(), data_);
  }

 private:
  void Append(const std::string& name, const char* type, const std::vector<int64_t>& shape,
              const std::string& bytes) {
    const size_t begin = data_.size();
    data_ += bytes;
    header_[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {begin, data_.size()}}};
  }

  void AddScaled(const std::string& name, const at::Tensor& tensor) {
    const ScaledCodes scaled = ScaledCodesOf(tensor);
    Append(name, "F8_E4M3", tensor.sizes().vec(), scaled.codes);
    const std::string layer = name.substr(0, name.size() - std::string("weight").size());
    Append(name + "_scale", "F32", {}, BytesOfFloats({scaled.scale}));
    Append(layer + "input_scale", "F32", {}, BytesOfFloats({0.25f}));
  }

  const CheckpointForm& form_;
  nlohmann::json header_;
  std::string data_;
};

}  // namespace

std::string OriginalVaeName(std::string name, const std::string& version) {
  if (name == "latents_mean") return "vae.per_channel_statistics.mean-of-means";
  if (name == "latents_std") return "vae.per_channel_statistics.std-of-means";
  Replace(name, "decoder.time_embedder", "decoder.last_time_embedder");
  Replace(name, "decoder.scale_shift_table", "decoder.last_scale_shift_table");
  NumberBlock(name, "decoder.", "up_blocks", DecoderBlocks(version));
  NumberBlock(name, "encoder.", "down_blocks", EncoderBlocks(version));
  Replace(name, "conv_shortcut.conv", "conv_shortcut");
  Replace(name, "resnets", "res_blocks");
  Replace(name, "norm3", "norm3.norm");
  return "vae." + name;
}

std::string OriginalTransformerName(std::string name) {
  Replace(name, "proj_in", "patchify_proj");
  Replace(name, "time_embed", "adaln_single");
  Replace(name, "norm_q", "q_norm");
  Replace(name, "norm_k", "k_norm");
  return "model.diffusion_model." + name;
}

std::string CheckpointOf(const std::string& path, const std::string& version,
                         const CheckpointForm& form) {
  const auto part = [&](const char* name) {
    return *WeightSet::OpenFolder(path + "/" + name, "diffusion_pytorch_model");
  };
  Writer writer(form);
  const WeightSet transformer = part("transformer"), vae = part("vae");
  for (const auto& [name, stored] : transformer.tensors()) {
    writer.Add(OriginalTransformerName(name), stored);
  }
  for (const auto& [name, stored] : vae.tensors()) {
    writer.Add(OriginalVaeName(name, version), stored);
  }
  return writer.Finish();
}

}  // namespace reel::model::ltx
