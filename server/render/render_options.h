// SPDX-License-Identifier: Apache-2.0
// Options of reel-render.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/program/condition_file.h"
#include "model/generation_spec.h"
#include "model/registry.h"

namespace reel::render {

struct RenderOptions {
  std::string model_path;   // empty: the test card
  std::string text_folder;  // for a single-file model; empty: beside it
  std::vector<model::PartFile> parts;
  std::vector<model::FixedAdapter> adapters;
  int adapter_ranks = 0;  // above 0: the adapters are beside the weights, as requests have them
  std::vector<model::RequestAdapter> request_adapters = {};  // the same as they are then
  std::string manifest_file;
  std::optional<uint64_t> random_weights;  // the seed of values in place of stored ones
  std::vector<ConditionFile> conditions;
  std::string refined_clip;                // a file that the second pass refines; empty: none
  std::optional<ConditionFile> reference;  // that an adapter wants
  std::optional<double> reference_attention;
  std::string sound;          // a file that the video has the sound of; empty: none
  std::string dtype;          // empty: best for the device
  int64_t device_memory = 0;  // 0: all of a GPU's, and no bound on a CPU
  model::Offload offload = {};
  model::WeightsForm weights_form = model::WeightsForm::k16;
  model::WeightsForm text_form = model::WeightsForm::k16;
  std::string decoder;  // "diffusion"; empty: the autoencoder's own
  std::string device = "auto";
  std::vector<int> peers = {};   // the other members of that device, where it is a group
  bool computes_in_bf16 = true;  // that device
  model::GenerationSpec spec;
  // The state of a video that this one goes on from, and how; empty: from none. Of a promotion the
  // request is its draft's.
  std::string source_file;
  model::Source source;
  std::string state;  // the file for the video's own state; empty: none is kept
  std::string output;
  bool exact = false;  // .safetensors instead of .mp4
  bool timings = false;
  bool check = false;  // check the model and render nothing: then without prompt and output
  bool json = false;   // print the check as JSON
  int encoder_threads = 0;
};

// The model to load.
model::LoadOptions LoadOptionsOf(const RenderOptions& options);

// The exit codes of this program.
enum ExitCode { kSuccess = 0, kUsage = 2, kInvalid = 3, kFailed = 7, kInterrupted = 130 };

// Reads the command line; flags take '-' or '_'. Without --model it takes the bundled model in
// `models_folder`, else the test card. Returns nothing if it has printed help or an error; then
// `exit_code` is set.
std::optional<RenderOptions> ParseRenderOptions(std::vector<std::string> arguments,
                                                const std::string& models_folder, int& exit_code);

}  // namespace reel::render
