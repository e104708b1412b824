// SPDX-License-Identifier: Apache-2.0
// A tiny model as one file under the names of the original repository: the inverse of what Reel's
// loader does, written down on its own. Free of torch.
#pragma once

#include <functional>
#include <string>

namespace reel::model::ltx {

struct CheckpointForm {
  // kScaledF8: with a scale for each, as Lightricks writes them.
  enum class Linears { kF32, kF8, kF32RoundedToF8, kScaledF8, kF32RoundedToScaledF8 };
  // How the weights of the transformer's blocks are stored.
  Linears linears = Linears::kF32;
  bool metadata = true;                                        // how many heads there are
  std::function<bool(const std::string& original)> keep = {};  // false leaves a tensor out
  std::string extra = {};                                      // name of one more tensor
};

// The bytes of a checkpoint with the transformer and the autoencoder of the folder `path` of a
// generation ("0.9.0", "0.9.1", "0.9.5").
std::string CheckpointOf(const std::string& path, const std::string& version,
                         const CheckpointForm& form = {});

// What the original repository calls a tensor of a diffusers folder.
std::string OriginalTransformerName(std::string name);
std::string OriginalVaeName(std::string name, const std::string& version);

}  // namespace reel::model::ltx
