// SPDX-License-Identifier: Apache-2.0
// The parts of a model as they are stored, unread: in a diffusers folder, or in one file.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "model/load_options.h"
#include "model/ltx2/single_file.h"
#include "model/sampler/schedule.h"
#include "model/tokenizer/bpe_tokenizer.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {

inline constexpr char kDiffusionDecoderFolder[] = "diffusion_decoder";

struct StoredPart {
  std::string source;  // of the configuration, for messages
  nlohmann::json config;
  WeightSet weights;
};

// The folder that diffusion_decoder/ is looked for in.
std::string DiffusionDecoderRoot(const LoadOptions& options);

class ModelParts {
 public:
  // Borrows the options.
  static absl::StatusOr<ModelParts> Open(const LoadOptions& options);

  // NOT_FOUND names the file that is missing.
  absl::StatusOr<StoredPart> Get(FilePart part) const;
  // The text encoder is beside a single file, or a part of its own; the tokenizer beside it, or in
  // such a part.
  absl::StatusOr<StoredPart> TextEncoder() const;
  absl::StatusOr<BpeTokenizer> Tokenizer() const;
  // diffusion_decoder/ of the model's folder, or of the one that a single file lies in.
  absl::StatusOr<StoredPart> DiffusionDecoder() const;
  absl::StatusOr<SchedulerConfig> Scheduler() const;

 private:
  std::string FolderOf(FilePart part) const;
  absl::StatusOr<StoredPart> GetPartFile(const std::string& path, FilePart part) const;
  // The vocoder comes with the audio autoencoder, or is where it would be without parts.
  absl::StatusOr<const std::string*> PartFileOf(FilePart part) const;

  explicit ModelParts(const LoadOptions& options) : options_(&options) {}

  const LoadOptions* options_;
  std::optional<WeightSet> file_;       // with the text projections of the file below
  std::optional<WeightSet> text_file_;  // that has configuration and tokenizer (split_files.h)
  nlohmann::json file_config_;
};

}  // namespace reel::model::ltx2
