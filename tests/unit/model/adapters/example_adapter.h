// SPDX-License-Identifier: Apache-2.0
// An adapter for two layers of a model, in any spelling, and that model.
#pragma once

#include <string>
#include <vector>

#include "model/adapters/adapter_file.h"
#include "model/adapters/linear_table.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model {

inline constexpr char kQuery[] = "transformer_blocks.0.attn1.to_q";
inline constexpr int64_t kOut = 6, kIn = 4, kRank = 2;

inline LinearTable ExampleModel() {
  return *LinearTable::Of({{kQuery, kOut, kIn},
                           {"transformer_blocks.0.attn1.to_out.0", kOut, kIn},
                           {"proj_in", kOut, kIn},
                           {"connectors.text_proj_in", kOut, kIn}});
}

// Values that differ from one another by `seed`.
inline std::string SomeFloats(int64_t count, float seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(seed + 0.25f * static_cast<float>(i));
  return BytesOfFloats(values);
}

inline TypedTensor DownOf(const std::string& name, float seed = 1) {
  return {name, "F32", {kRank, kIn}, SomeFloats(kRank * kIn, seed)};
}
inline TypedTensor UpOf(const std::string& name, float seed = -3) {
  return {name, "F32", {kOut, kRank}, SomeFloats(kOut * kRank, seed)};
}
// Of the first spelling.
inline std::vector<TypedTensor> PairOf(const std::string& layer) {
  return {DownOf(layer + ".lora_A.weight"), UpOf(layer + ".lora_B.weight")};
}

// Files in a folder of their own.
class AdapterFolder {
 public:
  absl::StatusOr<AdapterFile> Open(const std::vector<TypedTensor>& tensors,
                                   const nlohmann::json& metadata = nullptr) const {
    return AdapterFile::Open(
        folder_.Write("adapter.safetensors", SafetensorsOfTypes(tensors, metadata)));
  }
  const reel::testing::TempFolder& folder() const { return folder_; }

 private:
  const reel::testing::TempFolder folder_;
};

}  // namespace reel::model
