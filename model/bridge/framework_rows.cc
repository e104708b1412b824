// SPDX-License-Identifier: Apache-2.0
#include "model/bridge/framework_rows.h"

#include <array>
#include <string>

namespace reel::model {
namespace {

constexpr std::array<std::string_view, 13> kOps = {
    "activation",        "adaln_layer_norm", "adaln_rms_norm", "attention",
    "channel_norm_silu", "frame_convert",    "gate_residual",  "gate_residual_adaln",
    "gated_activation",  "layer_norm",       "linear_gelu",    "qk_norm_rope",
    "rms_norm"};

constexpr std::string_view kLinearGelu = "linear_gelu";

}  // namespace

// On a CPU the built-in rows run on one thread, and libtorch's on all that the process has.
bool AtenComesFirst(std::string_view, kernels::DeviceStream stream) { return stream.device < 0; }

void AddFrameworkRows(kernels::KernelCatalog& catalog) {
  const kernels::DeviceStream stream = {.device = catalog.capability().device, .handle = nullptr};
  for (const std::string_view op : kOps) {
    kernels::OpListing listing = {.op = std::string(op),
                                  .variants = {{.name = std::string(kAtenVariant),
                                                .origin = "framework",
                                                .runs = true,
                                                .is_auto = false,
                                                .reason = ""}}};
    if (op == kLinearGelu) {
      const bool on_device = stream.device >= 0;
      listing.variants.insert(listing.variants.begin(),
                              {.name = std::string(kEpilogueVariant),
                               .origin = "framework",
                               .runs = on_device,
                               .is_auto = false,
                               .reason = on_device ? "" : "it needs a CUDA device"});
    }
    if (AtenComesFirst(op, stream)) {
      catalog.AddFirst(std::move(listing));
    } else {
      catalog.Add(std::move(listing));
    }
  }
}

}  // namespace reel::model
