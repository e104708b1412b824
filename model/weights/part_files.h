// SPDX-License-Identifier: Apache-2.0
// Parts of a model whose weights lie in files of their own.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/load_options.h"
#include "model/weights/manifest.h"
#include "model/weights/weight_set.h"

namespace reel::model {

// The file that the options name for the part; null: none.
const std::string* FileOf(const LoadOptions& options, ModelPart part);

// The part's weights, under the names of their file: of the file that is named for it, else of
// `folder` (WeightSet::OpenFolder). FAILED_PRECONDITION: both have them.
absl::StatusOr<WeightSet> OpenPart(const LoadOptions& options, ModelPart part,
                                   const std::string& folder, const std::string& stem);

// FAILED_PRECONDITION: the folder has weights of the part that `file` brings.
absl::Status CheckHasNone(const std::string& folder, const std::string& stem, ModelPart part,
                          const std::string& file);

// FAILED_PRECONDITION: a part is named twice, one that a family has not (`known`), or together with
// random weights, which read no files.
absl::Status CheckPartsOf(const LoadOptions& options, std::initializer_list<ModelPart> known);

// FAILED_PRECONDITION: a file brings a part that another one has.
absl::Status BroughtTwice(ModelPart part, const std::string& one, const std::string& other);

// FAILED_PRECONDITION: GGUF's general.architecture is another than those. Files without one, as all
// of safetensors, are let through.
absl::Status CheckArchitecture(const WeightSet& file,
                               std::initializer_list<std::string_view> expected);

// The same for what GGUF's converters call LTX-Video and LTX-2 alike.
absl::Status CheckIsLtx(const WeightSet& file);

// For a manifest: each by its file name.
std::vector<ListedFile> PartFilesOf(const LoadOptions& options);

}  // namespace reel::model
