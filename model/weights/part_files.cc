// SPDX-License-Identifier: Apache-2.0
#include "model/weights/part_files.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/base/status_macros.h"
#include "model/utf8.h"
#include "model/weights/checkpoint.h"

namespace reel::model {

const std::string* FileOf(const LoadOptions& options, ModelPart part) {
  for (const PartFile& file : options.parts) {
    if (file.part == part) return &file.path;
  }
  return nullptr;
}

absl::Status BroughtTwice(ModelPart part, const std::string& one, const std::string& other) {
  const std::string name(NameOf(part));
  return absl::FailedPreconditionError(
      absl::StrCat("two files bring the part ", name, ": ", one, " and ", other));
}

absl::StatusOr<WeightSet> OpenPart(const LoadOptions& options, ModelPart part,
                                   const std::string& folder, const std::string& stem) {
  const std::string* const file = FileOf(options, part);
  if (file == nullptr) return WeightSet::OpenFolder(folder, stem, options.random_weights);
  REEL_RETURN_IF_ERROR(CheckHasNone(folder, stem, part, *file));
  return WeightSet::OpenFile(*file);
}

absl::Status CheckHasNone(const std::string& folder, const std::string& stem, ModelPart part,
                          const std::string& file) {
  for (const char* ending : {".safetensors", ".safetensors.index.json"}) {
    const std::string own = absl::StrCat(folder, "/", stem, ending);
    if (IsFile(own)) return BroughtTwice(part, own, file);
  }
  return absl::OkStatus();
}

absl::Status CheckPartsOf(const LoadOptions& options, std::initializer_list<ModelPart> known) {
  if (options.random_weights.has_value() && !options.parts.empty()) {
    return absl::FailedPreconditionError("random weights read no files: give no parts");
  }
  for (const PartFile& file : options.parts) {
    const std::string name(NameOf(file.part));
    if (std::find(known.begin(), known.end(), file.part) == known.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the model has no part ", name, ": ", file.path));
    }
    const std::string* const first = FileOf(options, file.part);
    if (first != &file.path) return BroughtTwice(file.part, *first, file.path);
  }
  return absl::OkStatus();
}

absl::Status CheckArchitecture(const WeightSet& file,
                               std::initializer_list<std::string_view> expected) {
  const std::string own = file.Metadata("general.architecture");
  if (own.empty() || std::find(expected.begin(), expected.end(), own) != expected.end()) {
    return absl::OkStatus();
  }
  const auto add = [](std::string* out, std::string_view name) { out->append(name); };
  return absl::FailedPreconditionError(
      absl::StrCat("the GGUF file is of another model: ", file.source(),
                   ": general.architecture is ", Quoted(own), own == "clip" ? " (mmproj)" : "",
                   ", expected ", absl::StrJoin(expected, " or ", add)));
}

absl::Status CheckIsLtx(const WeightSet& file) {
  return CheckArchitecture(file, {"ltxv", "pig", "cow"});
}

std::vector<ListedFile> PartFilesOf(const LoadOptions& options) {
  std::vector<ListedFile> files;
  for (const PartFile& file : options.parts) {
    files.push_back({std::filesystem::path(file.path).filename().string(), file.path});
  }
  return files;
}

}  // namespace reel::model
