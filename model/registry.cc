// SPDX-License-Identifier: Apache-2.0
#include "model/registry.h"

#include "absl/strings/str_cat.h"
#include "model/testcard/test_card.h"
#ifdef REEL_HAS_LTX
#include "model/bridge/framework_variants.h"
#include "model/ltx/ltx_pipeline.h"
#endif

namespace reel::model {

absl::StatusOr<std::unique_ptr<Pipeline>> LoadPipeline(
    const LoadOptions& options, [[maybe_unused]] kernels::DeviceStream stream) {
  if (options.path.empty()) {
    return MakeTestCard(options.name.empty() ? "testcard" : options.name, options.test_card);
  }
  // Families that read weights are listed here, each asked whether the path is one of its own.
#ifdef REEL_HAS_LTX
  if (ltx::IsLtxModel(options.path)) return ltx::LoadLtxPipeline(options, stream);
  return absl::FailedPreconditionError(
      absl::StrCat("No family of models knows this path; LTX-Video is a folder with "
                   "model_index.json or a .safetensors "
                   "file; model ",
                   options.name));
#else
  return absl::FailedPreconditionError(
      absl::StrCat("This build has no model that reads weights, only the test card, which takes no "
                   "path; model ",
                   options.name));
#endif
}

void AddModelVariants([[maybe_unused]] kernels::KernelCatalog& catalog) {
#ifdef REEL_HAS_LTX
  AddFrameworkVariants(catalog);
#endif
}

}  // namespace reel::model
