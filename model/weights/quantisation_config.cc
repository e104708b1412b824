// SPDX-License-Identifier: Apache-2.0
#include "model/weights/quantisation_config.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

// As transformers and diffusers call the layouts.
absl::string_view MethodOf(ScaledLayout layout) {
  switch (layout) {
    case ScaledLayout::kModelopt:
      return "modelopt";
    case ScaledLayout::kQuanto:
      return "quanto";
    case ScaledLayout::kBitsandbytes8:
      return "bitsandbytes";
    default:
      return "";
  }
}

}  // namespace

absl::Status TakeQuantisationConfig(nlohmann::json& config, const std::string& source,
                                    ScaledLayout layout) {
  const auto found = config.find("quantization_config");
  if (found == config.end()) return absl::OkStatus();
  const std::string method =
      found->is_object() && found->contains("quant_method") && (*found)["quant_method"].is_string()
          ? (*found)["quant_method"].get<std::string>()
          : "";
  config.erase(found);
  if (!method.empty() && method == MethodOf(layout)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "bad configuration: ", source, ": quantization_config.quant_method is \"",
      method.substr(0, 40), "\", which is not what the folder's weights are stored as"));
}

}  // namespace reel::model
