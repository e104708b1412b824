// SPDX-License-Identifier: Apache-2.0
// From a name and a folder to a loaded model. The families are one explicit list in registry.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/dispatch/execution.h"
#include "kernels/dispatch/kernel_catalog.h"
#include "model/pipeline.h"

namespace reel::model {

// Something that the test card does wrong, on request: "hang", "exit", "nan", "oom" or "sticky".
struct TestCardFault {
  std::string kind;
  int step = 0;                 // at this step
  std::string prompt_contains;  // of jobs whose prompt contains this
  int times = 0;                // how often; 0: always
};

// Settable costs of the model without weights.
struct TestCardOptions {
  absl::Duration step_time = absl::Milliseconds(20);
  absl::Duration step_time_per_extra_job = absl::Milliseconds(5);
  absl::Duration decode_time_per_frame = absl::Milliseconds(1);
  absl::Duration load_time;
  std::vector<TestCardFault> faults;
};

struct LoadOptions {
  std::string name;   // what requests call it
  std::string path;   // folder or single file; empty: the test card
  std::string dtype;  // "bf16", "fp16", "fp32"; empty: best for the device
  TestCardOptions test_card;
  // The folder with text_encoder/ and tokenizer/; empty: the model's own, of a single file the one
  // that it lies in.
  std::string text_folder = {};
  // Lines "sha256  file", with files as seen from the model's folder. When set, every weight file
  // that is read must be in it and match.
  std::string manifest_file = {};
};

// Loads a model for the device of `stream`. Blocks for as long as that takes.
absl::StatusOr<std::unique_ptr<Pipeline>> LoadPipeline(const LoadOptions& options,
                                                       kernels::DeviceStream stream);

// The variants of operators that the families of this build bring along, beside the built-in ones.
void AddModelVariants(kernels::KernelCatalog& catalog);

}  // namespace reel::model
