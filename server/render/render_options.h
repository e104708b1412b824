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
  std::string text_folder;  // of a single-file model; empty: beside it
  std::string manifest_file;
  std::optional<uint64_t> random_weights;  // the seed of values in place of stored ones
  std::vector<ConditionFile> conditions;
  std::string dtype;  // empty: best for the device
  std::string device = "auto";
  std::vector<int> peers = {};   // the other members of that device, where it is a group
  bool computes_in_bf16 = true;  // that device
  model::GenerationSpec spec;
  std::string output;
  bool exact = false;  // .safetensors instead of .mp4
  bool timings = false;
  bool check = false;  // look at the model, and render nothing: no prompt and no output then
  bool json = false;   // of the check
  int encoder_threads = 0;
};

// What to load.
model::LoadOptions LoadOptionsOf(const RenderOptions& options);

// The ways for this program to end.
enum ExitCode { kSuccess = 0, kUsage = 2, kInvalid = 3, kFailed = 7, kInterrupted = 130 };

// Reads the command line; flags are spelt with '-' or '_' alike. Without --model it takes the model
// that came along in `models_folder`, else the test card. Without a value it has printed what there
// is to say (help, or what is wrong), and `exit_code` is set.
std::optional<RenderOptions> ParseRenderOptions(std::vector<std::string> arguments,
                                                const std::string& models_folder, int& exit_code);

}  // namespace reel::render
