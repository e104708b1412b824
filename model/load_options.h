// SPDX-License-Identifier: Apache-2.0
// Options for loading a model, as configurations set them, for every family.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "model/fit_plan.h"
#include "model/fixed_adapter.h"
#include "model/model_part.h"

namespace reel::model {

// A fault of the test card: "hang", "exit", "nan", "oom", "sticky" or "lost".
struct TestCardFault {
  std::string kind;
  int step = 0;                 // at this step
  std::string prompt_contains;  // only for jobs whose prompt contains this
  int times = 0;                // how often; 0: always

  friend bool operator==(const TestCardFault&, const TestCardFault&) = default;
};

// Bytes of counted memory that the test card charges; see worker.proto. All but `untold_per_token`
// is in its card.
struct TestCardMemory {
  int64_t weights = 0;
  int64_t per_token = 0;          // for a video in progress
  int64_t per_step_row = 0;       // during a step
  int64_t per_decoded_pixel = 0;  // of the clip, during its decode
  int64_t untold_per_token = 0;   // during a step
  int64_t kept_per_video = 0;     // from its beginning on, until memory is short

  friend bool operator==(const TestCardMemory&, const TestCardMemory&) = default;
};

// Settable costs of the model without weights.
struct TestCardOptions {
  absl::Duration step_time = absl::Milliseconds(20);
  absl::Duration step_time_per_extra_job = absl::Milliseconds(5);
  absl::Duration decode_time_per_frame = absl::Milliseconds(1);
  absl::Duration load_time;
  std::vector<TestCardFault> faults;
  TestCardMemory memory = {};
  bool sound = false;     // its videos have sound
  bool pictures = false;  // it takes conditions

  friend bool operator==(const TestCardOptions&, const TestCardOptions&) = default;
};

// Zeros: the model's default.
struct WarmUpSize {
  int width = 0;
  int height = 0;
  int num_frames = 0;

  friend bool operator==(const WarmUpSize&, const WarmUpSize&) = default;
};

// What a model renders before it serves, so that no request pays for setting up.
struct WarmUp {
  bool off = false;
  std::vector<WarmUpSize>
      sizes;  // none: on a GPU the usual sizes (warm_up_sizes.h), on a CPU nothing

  friend bool operator==(const WarmUp&, const WarmUp&) = default;
};

// A value of `decoder`: the small diffusion model that LTX-2.5's folders have beside the
// autoencoder's decoder.
inline constexpr char kDiffusionDecoder[] = "diffusion";

struct LoadOptions {
  std::string name;   // its name in requests
  std::string path;   // folder or single file; empty: the test card
  std::string dtype;  // "bf16", "fp16", "fp32"; empty: best for the device
  TestCardOptions test_card;
  // The folder with text_encoder/ and tokenizer/; empty: the model's own folder, or the one that
  // contains a single file.
  std::string text_folder = {};
  // Parts whose weights lie elsewhere than at `path`, which then has none of them; their
  // configurations are where they would be without.
  std::vector<PartFile> parts = {};
  // Added to its weights.
  std::vector<FixedAdapter> adapters = {};
  // Columns that are kept free for the adapters of requests, a multiple of kAdapterSlot
  // (request_adapter.h); 0: requests can have none, which costs nothing.
  int adapter_ranks = 0;
  // Lines "sha256  file", with paths relative to the model's folder. If set, every weight file that
  // is read must be listed and match.
  std::string manifest_file = {};
  // Values that this seed gives instead of stored ones: of a folder's weights only the
  // configurations are read, and its tokenizer.
  std::optional<uint64_t> random_weights = {};
  WarmUp warm_up = {};
  // What weights and videos may take of the device's memory, in bytes. 0: no size is known, and all
  // weights stay on the device unless `offload` says otherwise.
  int64_t device_memory = 0;
  Offload offload = {};
  WeightsForm weights_form = WeightsForm::k16;
  WeightsForm text_form = WeightsForm::k16;
  std::string decoder = {};  // kDiffusionDecoder; empty: the autoencoder's own
  bool on_demand = false;    // checked when a worker starts, but not loaded
  // Whether the device computes in bf16, as GPUs do from sm_80 on; set by the worker, not by a
  // configuration.
  bool computes_in_bf16 = true;
  // The other devices that may share its work, -1 for a CPU each; set by the worker, not by a
  // configuration (kernels/dispatch/device_name.h).
  std::vector<int> peers = {};

  friend bool operator==(const LoadOptions&, const LoadOptions&) = default;
};

}  // namespace reel::model
