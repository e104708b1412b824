// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/model_parts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/ltx2/split_files.h"
#include "model/text/text_folder.h"
#include "model/weights/checkpoint.h"
#include "model/weights/json_file.h"
#include "model/weights/part_files.h"
#include "model/weights/quantisation_config.h"

namespace reel::model::ltx2 {
namespace {

absl::StatusOr<nlohmann::json> ReadConfig(const char* name, const std::string& file) {
  if (IsFile(file)) return ReadJsonFile(file);
  return absl::NotFoundError(absl::StrCat("the model has no ", name, ": ", file));
}

constexpr char kDiffusersStem[] = "diffusion_pytorch_model";

ModelPart ModelPartOf(FilePart part) {
  switch (part) {
    case FilePart::kTransformer:
      return ModelPart::kTransformer;
    case FilePart::kConnectors:
      return ModelPart::kConnectors;
    case FilePart::kVae:
      return ModelPart::kVae;
    case FilePart::kAudioVae:
    case FilePart::kVocoder:
      break;
  }
  return ModelPart::kAudioVae;
}

// Whether the options name `path` for the part.
bool IsNamed(const LoadOptions& options, FilePart part, const std::string& path) {
  return std::any_of(options.parts.begin(), options.parts.end(), [&](const PartFile& file) {
    return file.part == ModelPartOf(part) && file.path == path;
  });
}

// What a file has of parts that it is not named for would be read by nobody.
absl::Status CheckOthers(const LoadOptions& options, const WeightSet& file,
                         const std::string& path) {
  for (const FilePart other : {FilePart::kTransformer, FilePart::kConnectors, FilePart::kVae,
                               FilePart::kAudioVae, FilePart::kVocoder}) {
    if (!HasReleasedNames(file, other) || IsNamed(options, other, path)) continue;
    const std::string name(NameOf(ModelPartOf(other)));
    return absl::FailedPreconditionError(
        absl::StrCat("the file also has the part ", name, ", for which it is not named: ", path));
  }
  return absl::OkStatus();
}

// A folder's configuration with the weights that `open` finds for it.
template <typename Open>
absl::StatusOr<StoredPart> WithConfig(const std::string& folder, const char* name,
                                      const Open& open) {
  const std::string file = folder + "/config.json";
  REEL_ASSIGN_OR_RETURN(nlohmann::json config, ReadConfig(name, file));
  REEL_ASSIGN_OR_RETURN(WeightSet weights, open());
  REEL_RETURN_IF_ERROR(TakeQuantisationConfig(config, file, weights.layout()));
  return StoredPart{file, std::move(config), std::move(weights)};
}

}  // namespace

absl::StatusOr<ModelParts> ModelParts::Open(const LoadOptions& options) {
  ModelParts parts(options);
  if (!IsFile(options.path)) return parts;
  REEL_ASSIGN_OR_RETURN(parts.file_, WeightSet::OpenFile(options.path));
  if (!parts.file_->Metadata("general.architecture").empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "a GGUF file of LTX-2 has no configuration: name it as the part transformer of a folder "
        "that has (--part): ",
        options.path));
  }
  REEL_ASSIGN_OR_RETURN(parts.file_config_, ReadFileConfig(*parts.file_));
  if (const std::string* const path = FileOf(options, ModelPart::kTextEncoder)) {
    REEL_ASSIGN_OR_RETURN(WeightSet text_file, WeightSet::OpenFile(*path));
    if (IsTextEncoderFile(text_file)) {
      REEL_ASSIGN_OR_RETURN(parts.file_, WithTextProjections(*parts.file_, text_file));
      parts.text_file_ = std::move(text_file);
      return parts;
    }
  }
  const std::string text = TextFolderOf(options) + "/text_encoder/config.json";
  if (!IsFile(text)) {
    return absl::NotFoundError(absl::StrCat(
        "a single file of LTX-2 has no text encoder: give the folder that has Gemma 3 as "
        "text_encoder/ and tokenizer/ (--text-folder), or LTX-2.5's own file of its text encoder "
        "as the part text_encoder (--part); there is no ",
        text));
  }
  return parts;
}

absl::StatusOr<const std::string*> ModelParts::PartFileOf(FilePart part) const {
  const std::string* const path = FileOf(*options_, ModelPartOf(part));
  if (path == nullptr || part != FilePart::kVocoder) return path;
  REEL_ASSIGN_OR_RETURN(const WeightSet file, WeightSet::OpenFile(*path));
  return HasReleasedNames(file, part) ? path : nullptr;
}

absl::StatusOr<StoredPart> ModelParts::GetPartFile(const std::string& path, FilePart part) const {
  REEL_ASSIGN_OR_RETURN(const WeightSet own, WeightSet::OpenFile(path));
  REEL_RETURN_IF_ERROR(CheckIsLtx(own));
  REEL_ASSIGN_OR_RETURN(const WeightSet file, WithPrefixes(own, part));
  REEL_RETURN_IF_ERROR(CheckOthers(*options_, file, path));
  const bool released = HasReleasedNames(file, part);
  REEL_ASSIGN_OR_RETURN(WeightSet weights,
                        released ? WeightsOfFile(file, part) : absl::StatusOr<WeightSet>(file));
  if (file_.has_value()) {
    if (WeightsOfFile(*file_, part).ok()) {
      return BroughtTwice(ModelPartOf(part), options_->path, path);
    }
    REEL_ASSIGN_OR_RETURN(const nlohmann::json known, ConfigBeside(file, file_config_));
    REEL_ASSIGN_OR_RETURN(nlohmann::json config, ConfigOfFile(file, known, part));
    return StoredPart{path, std::move(config), std::move(weights)};
  }
  const std::string folder = FolderOf(part);
  REEL_RETURN_IF_ERROR(CheckHasNone(folder, kDiffusersStem, ModelPartOf(part), path));
  return WithConfig(folder, NamesOf(part).folder,
                    [&] { return absl::StatusOr<WeightSet>(std::move(weights)); });
}

std::string ModelParts::FolderOf(FilePart part) const {
  return absl::StrCat(options_->path, "/", NamesOf(part).folder);
}

absl::StatusOr<StoredPart> ModelParts::Get(FilePart part) const {
  REEL_ASSIGN_OR_RETURN(const std::string* const path, PartFileOf(part));
  if (path != nullptr) return GetPartFile(*path, part);
  if (!file_.has_value()) {
    const std::string folder = FolderOf(part);
    return WithConfig(folder, NamesOf(part).folder, [&] {
      return WeightSet::OpenFolder(folder, kDiffusersStem, options_->random_weights);
    });
  }
  REEL_ASSIGN_OR_RETURN(WeightSet weights, WeightsOfFile(*file_, part));
  REEL_ASSIGN_OR_RETURN(nlohmann::json config, ConfigOfFile(*file_, file_config_, part));
  return StoredPart{options_->path, std::move(config), std::move(weights)};
}

absl::StatusOr<BpeTokenizer> ModelParts::Tokenizer() const {
  if (text_file_.has_value()) return TokenizerOfFile(*text_file_);
  return BpeTokenizer::Load(TextFolderOf(*options_) + "/tokenizer");
}

absl::StatusOr<StoredPart> ModelParts::TextEncoder() const {
  if (text_file_.has_value()) {
    REEL_ASSIGN_OR_RETURN(nlohmann::json config, TextConfigOfFile(*text_file_));
    REEL_RETURN_IF_ERROR(CheckGemmaVersion(file_config_, config, text_file_->source()));
    return StoredPart{text_file_->source(), std::move(config), *text_file_};
  }
  const std::string folder = TextFolderOf(*options_) + "/text_encoder";
  return WithConfig(folder, "text_encoder",
                    [&] { return OpenPart(*options_, ModelPart::kTextEncoder, folder, "model"); });
}

std::string DiffusionDecoderRoot(const LoadOptions& options) {
  const std::filesystem::path path = options.path;
  const std::string root = (IsFile(options.path) ? path.parent_path() : path).string();
  return root.empty() ? "." : root;
}

absl::StatusOr<StoredPart> ModelParts::DiffusionDecoder() const {
  const std::string folder =
      absl::StrCat(DiffusionDecoderRoot(*options_), "/", kDiffusionDecoderFolder);
  return WithConfig(folder, "diffusion decoder, which its configuration names (decoder)", [&] {
    return WeightSet::OpenFolder(folder, kDiffusersStem, options_->random_weights);
  });
}

absl::StatusOr<SchedulerConfig> ModelParts::Scheduler() const {
  if (file_.has_value()) return SchedulerOfFile(options_->path);
  const std::string folder = options_->path + "/scheduler";
  const std::string file = folder + "/scheduler_config.json";
  REEL_RETURN_IF_ERROR(ReadConfig("scheduler", file).status());
  REEL_ASSIGN_OR_RETURN(SchedulerConfig config, LoadSchedulerConfig(folder));
  if (!config.stochastic_sampling) return config;
  return absl::FailedPreconditionError(
      absl::StrCat("bad configuration: ", file, ": stochastic_sampling must be false"));
}

}  // namespace reel::model::ltx2
