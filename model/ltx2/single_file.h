// SPDX-License-Identifier: Apache-2.0
// A release of LTX-2 in one file: its parts under the names, and with the configurations, that they
// have in a folder of diffusers. The text encoder is not in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "model/sampler/schedule.h"
#include "model/weights/weight_set.h"
#include "nlohmann/json_fwd.hpp"

namespace reel::model::ltx2 {

// Whether it has LTX-2's transformer, with or without the prefix that a released file has before
// its names.
bool IsLtx2File(const WeightSet& file);

// The parts of a file.
enum class FilePart { kTransformer, kConnectors, kVae, kAudioVae, kVocoder };

// Its folder, and what messages call it.
struct PartNames {
  const char* folder;
  const char* words;
};
PartNames NamesOf(FilePart part);

// What a tensor is called in the part's folder; nullopt: it belongs to another part, or is one that
// diffusers drops. `last_encoder_block` is the last of the video encoder's flat list.
std::optional<std::string> NameInFolder(FilePart part, const std::string& original,
                                        int last_encoder_block);

// Whether a file of parts has the names of a released file (true) or those of a folder.
bool HasReleasedNames(const WeightSet& file, FilePart part);
// Puts the prefix of a released file before the names that lack it: a file of one part may leave it
// out. Names of a folder stay.
absl::StatusOr<WeightSet> WithPrefixes(const WeightSet& file, FilePart part);

// FAILED_PRECONDITION: the part is missing.
absl::StatusOr<WeightSet> WeightsOfFile(const WeightSet& file, FilePart part);

// `config` is the file's own, of which the keys below are read; the folder's keys come out.
// FAILED_PRECONDITION names a key and its rule.
absl::StatusOr<nlohmann::json> ConfigOfFile(const WeightSet& file, const nlohmann::json& config,
                                            FilePart part);
// Of the file's metadata.
absl::StatusOr<nlohmann::json> ReadFileConfig(const WeightSet& file);

// No file says which scheduler its weights are for, but distilled ones are named so.
SchedulerConfig SchedulerOfFile(std::string_view path);

}  // namespace reel::model::ltx2
