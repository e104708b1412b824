// SPDX-License-Identifier: Apache-2.0
// A tiny LTX-2.5 with one file for each part, as it is released: a folder's values under the files'
// names. The text encoder's file includes its configuration and tokenizer. Needs no torch.
#pragma once

#include <string>
#include <vector>

#include "model/weights/weight_set.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/temp_folder.h"
#include "tests/fakes/tiny_ltx2.h"
#include "tests/unit/model/weights/weight_file.h"

namespace reel::model::ltx2 {

class SplitRelease {
 public:
  // A folder of "2.5".
  explicit SplitRelease(const TinyFolder& folder);

  // Tensors of all parts, which tests may change before a file is written.
  nlohmann::json& config() { return config_; }
  std::vector<TypedTensor>& text() { return text_; }

  // Each function writes a file and returns its path. The transformer's file has the tensors with
  // these prefixes; its name says whether it is distilled.
  std::string Transformer(const std::vector<std::string>& prefixes = {"model."},
                          const std::string& name = "ltx-dev.safetensors") const {
    return Write(name, prefixes, {"transformer"});
  }
  std::string Vae() const { return Write("vae", {"vae."}, {"vae"}); }
  // Includes the vocoder.
  std::string AudioVae() const {
    return Write("sound", {"audio_vae.", "vocoder."}, {"audio_vae", "vocoder"});
  }
  std::string TextEncoder() const;

 private:
  std::string Write(const std::string& name, const std::vector<std::string>& prefixes,
                    const std::vector<std::string>& configs) const;

  const reel::testing::TempFolder scratch_;
  const WeightSet whole_;
  const nlohmann::json text_config_;
  nlohmann::json config_;
  std::vector<TypedTensor> text_;
};

}  // namespace reel::model::ltx2
