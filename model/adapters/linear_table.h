// SPDX-License-Identifier: Apache-2.0
// The linear layers of a model under every name that files of adapters have for them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reel::model {

struct LinearLayer {
  std::string name;  // as in a folder of diffusers; those of connectors behind "connectors."
  int64_t out = 0, in = 0;

  friend bool operator==(const LinearLayer&, const LinearLayer&) = default;
};

// The name of a layer in Lightricks' files, for LTX-Video and LTX-2 alike.
std::string OriginalLinearName(absl::string_view name);

// Immutable; may be read from any thread.
class LinearTable {
 public:
  // FAILED_PRECONDITION: two layers have one name, plain or flattened.
  static absl::StatusOr<LinearTable> Of(const std::vector<LinearLayer>& layers);

  // By the original's name or a folder's; null: there is none.
  const LinearLayer* Find(std::string_view name) const;
  // The same where each '.' of the name has become a '_'.
  const LinearLayer* FindFlat(std::string_view name) const;

 private:
  using Names = std::map<std::string, LinearLayer, std::less<>>;
  static absl::Status Add(Names& names, const std::string& name, const LinearLayer& layer);

  Names names_, flat_names_;
};

}  // namespace reel::model
