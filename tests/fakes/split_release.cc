// SPDX-License-Identifier: Apache-2.0
#include "tests/fakes/split_release.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "model/weights/json_file.h"
#include "tests/fakes/small_file.h"

namespace reel::model::ltx2 {
namespace {

using nlohmann::json;

constexpr char kTransformer[] = "model.diffusion_model.";

// All names of a released file, from the golden of 2.3, and the name that 2.5 adds.
json ReleasedShapes() {
  const json golden = *ReadJsonFile(
      absl::StrCat(std::getenv("REEL_SOURCE"), "/tests/golden/ltx2/single_file/2.3.json"));
  json shapes = golden["shapes"];
  const std::string first = absl::StrCat(kTransformer, "transformer_blocks.0.");
  for (const auto& [name, shape] : golden["shapes"].items()) {
    if (!name.starts_with(first)) continue;
    for (int block = 1; block < 4; ++block) {
      shapes[absl::StrCat(kTransformer, "transformer_blocks.", block, ".",
                          name.substr(first.size()))] = shape;
    }
  }
  shapes[absl::StrCat(kTransformer, "keyframes_abs_pos_embedding")] = {1, 4096};
  return shapes;
}

TypedTensor Typed(const std::string& name, const StoredTensor& tensor) {
  const auto bytes = tensor.bytes();
  return {name,
          std::string(NameOf(tensor.entry->type)),
          tensor.entry->shape,
          {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}

std::vector<TypedTensor> Beginning(const WeightSet& file,
                                   const std::vector<std::string>& prefixes) {
  std::vector<TypedTensor> tensors;
  for (const auto& [name, tensor] : file.tensors()) {
    for (const std::string& prefix : prefixes) {
      if (name.starts_with(prefix)) tensors.push_back(Typed(name, tensor));
    }
  }
  return tensors;
}

}  // namespace

SplitRelease::SplitRelease(const TinyFolder& folder)
    : whole_(*WeightSet::OpenFile(scratch_.Write("whole", SmallFile(folder, ReleasedShapes())))),
      text_config_(*ReadJsonFile(folder.path() + "/text_encoder/config.json")),
      config_(*ParseJson(whole_.Metadata("config"), "config")),
      text_(Beginning(whole_, {"text_embedding_projection."})) {
  const std::string in_folder = "model.language_model.";
  const WeightSet encoder = *WeightSet::OpenFolder(folder.path() + "/text_encoder", "model");
  for (const auto& [name, tensor] : encoder.tensors()) {
    text_.push_back(Typed("model." + name.substr(in_folder.size()), tensor));
  }
  std::ifstream file(folder.path() + "/tokenizer/tokenizer.json");
  const std::string tokenizer{std::istreambuf_iterator<char>(file), {}};
  text_.push_back({"tokenizer_json", "U8", {static_cast<int64_t>(tokenizer.size())}, tokenizer});
}

std::string SplitRelease::TextEncoder() const {
  return scratch_.Write("text", SafetensorsOfTypes(text_, {{"gemma_config", text_config_.dump()}}));
}

std::string SplitRelease::Write(const std::string& name, const std::vector<std::string>& prefixes,
                                const std::vector<std::string>& configs) const {
  json own;
  for (const std::string& key : configs) own[key] = config_[key];
  return scratch_.Write(name,
                        SafetensorsOfTypes(Beginning(whole_, prefixes),
                                           {{"config", own.dump()}, {"model_version", "2.5"}}));
}

}  // namespace reel::model::ltx2
