// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model/ltx/four_blocks.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx {
namespace {

// The tiny model's weights, with copies of its two blocks behind them.
std::string WithFourBlocks(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof(size));
  nlohmann::json header = nlohmann::json::parse(bytes.substr(sizeof(size), size));
  std::string data = bytes.substr(sizeof(size) + size);
  const nlohmann::json stored = header;
  for (const auto& [name, tensor] : stored.items()) {
    const std::string prefix = "transformer_blocks.";
    if (name.rfind(prefix, 0) != 0) continue;
    std::string copy = name;
    copy[prefix.size()] += 2;
    const size_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
    header[copy] = tensor;
    header[copy]["data_offsets"] = {data.size(), data.size() + end - begin};
    data += data.substr(begin, end - begin);
  }
  return SafetensorsBytes(header.dump(), data);
}

WeightSet Stored(const TinyFolder& folder) {
  const testing::TempFolder scratch;
  scratch.Write("blocks.safetensors", WithFourBlocks(folder.path() + "/transformer/" +
                                                     "diffusion_pytorch_model.safetensors"));
  return *WeightSet::OpenFile(scratch.path() + "/blocks.safetensors");
}

}  // namespace

FourBlocks::FourBlocks(const TinyFolder& folder)
    : stored(Stored(folder)),
      config(*ReadTransformerConfig(*ReadJsonFile(folder.path() + "/transformer/config.json"),
                                    "config.json")) {
  config.num_layers = 4;
}

Transformer FourBlocks::Load(at::ScalarType dtype) const {
  return *Transformer::Load(stored, config, dtype, at::kCPU);
}

}  // namespace reel::model::ltx
