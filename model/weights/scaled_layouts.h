// SPDX-License-Identifier: Apache-2.0
// Weight files whose 8-bit codes have scales of their own: which tensor is whose scale. The one
// place that knows the names of scales, for models of all families.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "model/weights/stored_tensor.h"

namespace reel::model {

enum class ScaledLayout {
  kNone,           // no scales: 16 or 32 bits, or plain casts to 8
  kModelopt,       // .weight_scale: Lightricks' -fp8 files, modelopt
  kComfyMarked,    // .scale_weight and a tensor scaled_fp8: older files of ComfyUI
  kComfyByLayer,   // .comfy_quant of each layer, or their list in the metadata
  kQuanto,         // .weight._data and .weight._scale
  kBitsandbytes8,  // .SCB
};

// The key of a file's metadata that lists the formats of its layers.
inline constexpr char kLayerFormats[] = "_quantization_metadata";

// Gives each tensor of codes its scales and takes those, with all else that only describes codes,
// out of `tensors`. `layer_formats` is the metadata's text, empty where there is none.
// FAILED_PRECONDITION names `source`, the tensor and the rule. Refused is a scale that is not a
// positive number or has no weight. So are codes without a scale, and a file of two layouts or one
// that Reel cannot read.
absl::StatusOr<ScaledLayout> JoinScales(StoredTensors& tensors, const std::string& layer_formats,
                                        const std::string& source);

}  // namespace reel::model
