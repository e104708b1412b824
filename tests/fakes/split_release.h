// SPDX-License-Identifier: Apache-2.0
// A tiny LTX-2.5 in a file for each part, as it is released: the values of a folder under the names
// of files. The text encoder's file has its configuration and its tokenizer in it. Free of torch.
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

  // Of all parts, for changes before a file is written.
  nlohmann::json& config() { return config_; }
  std::vector<TypedTensor>& text() { return text_; }

  // Each writes its file and returns its path. The transformer's has all that begins so; its name
  // says whether it is distilled.
  std::string Transformer(const std::vector<std::string>& prefixes = {"model."},
                          const std::string& name = "ltx-dev.safetensors") const {
    return Write(name, prefixes, {"transformer"});
  }
  std::string Vae() const { return Write("vae", {"vae."}, {"vae"}); }
  // With the vocoder.
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
