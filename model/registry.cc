// SPDX-License-Identifier: Apache-2.0
#include "model/registry.h"

#include "absl/strings/str_cat.h"
#include "model/testcard/test_card.h"

namespace reel::model {

absl::StatusOr<std::unique_ptr<Pipeline>> LoadPipeline(const LoadOptions& options,
                                                       kernels::DeviceStream) {
  if (options.path.empty()) {
    return MakeTestCard(options.name.empty() ? "testcard" : options.name, options.test_card);
  }
  // Families that read weights are listed here, each asked whether the path is one of its own.
  return absl::FailedPreconditionError(
      absl::StrCat("This build has no model that reads weights, only the test card, which takes no "
                   "path; model ",
                   options.name));
}

}  // namespace reel::model
