// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/framework_rows.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace reel::model {
namespace {

constexpr std::array<std::string_view, 15> kOps = {
    "activation",        "adaln_layer_norm",    "adaln_rms_norm",   "attention",
    "channel_norm_silu", "cross_attention",     "depth_to_space",   "frame_convert",
    "gate_residual",     "gate_residual_adaln", "gated_activation", "layer_norm",
    "linear_gelu",       "qk_norm_rope",        "rms_norm"};

kernels::VariantListing Row(std::string_view name, const std::string& reason) {
  return {.name = std::string(name),
          .origin = "framework",
          .runs = reason.empty(),
          .is_auto = false,
          .reason = reason};
}

bool IsAttention(std::string_view op) { return op == "attention" || op == "cross_attention"; }

// Best first.
std::vector<kernels::VariantListing> RowsOf(std::string_view op,
                                            const kernels::DeviceCapability& capability) {
  const std::string needs_device = capability.device >= 0 ? "" : "it needs a CUDA device";
  if (op == "linear_gelu") return {Row(kEpilogueVariant, needs_device), Row(kAtenVariant, "")};
  if (!IsAttention(op)) return {Row(kAtenVariant, "")};
  const std::string needs_sm80 =
      capability.device >= 0 && capability.sm < 80 ? "it needs sm_80 or later" : "";
  return {Row(kCudnnVariant, needs_device.empty() ? needs_sm80 : needs_device),
          Row(kFlashVariant, needs_sm80), Row(kMemEfficientVariant, needs_device),
          Row(kMathVariant, ""), Row(kAtenVariant, "")};
}

}  // namespace

// On a CPU the built-in rows run on one thread, and libtorch's on all that the process has. Of
// attention the built-in row that takes every call is far behind libtorch's.
bool AtenComesFirst(std::string_view op, kernels::DeviceStream stream) {
  return stream.device < 0 || IsAttention(op);
}

void AddFrameworkRows(kernels::KernelCatalog& catalog) {
  const kernels::DeviceStream stream = {.device = catalog.capability().device, .handle = nullptr};
  for (const std::string_view op : kOps) {
    kernels::OpListing listing = {.op = std::string(op),
                                  .variants = RowsOf(op, catalog.capability())};
    if (AtenComesFirst(op, stream)) {
      catalog.AddFirst(std::move(listing));
    } else {
      catalog.Add(std::move(listing));
    }
  }
}

}  // namespace reel::model
