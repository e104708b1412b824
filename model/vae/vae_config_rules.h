// SPDX-License-Identifier: Apache-2.0
// Rules that families share when they read the layout of a video autoencoder.
#pragma once

#include <optional>
#include <string>

#include "model/vae/vae_config.h"
#include "model/weights/config_reader.h"

namespace reel::model {

// A list of the configuration, after a check that it is long enough.
template <typename List>
List AtLeast(ConfigReader& reader, const char* key, List list, size_t size) {
  if (list.size() < size) {
    reader.Fail(key, "must have at least " + std::to_string(size) + " items");
    list.resize(size);
  }
  return list;
}

// Item `i` from the latent on, of a decoder's list, which runs from the pictures to the latent.
template <typename List>
auto FromLatent(const List& list, size_t i) {
  return list[list.size() - 1 - i];
}

struct FoldStrides {
  int64_t t = 1, s = 1;
};
// The strides of "spatial", "temporal" and "spatiotemporal"; nullopt for other words.
std::optional<FoldStrides> FoldOf(const std::string& type);

// That the channels of a folded stage come out even.
void CheckFold(ConfigReader& reader, const DownStage& stage);

}  // namespace reel::model
