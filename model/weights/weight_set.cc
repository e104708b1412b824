// SPDX-License-Identifier: Apache-2.0
#include "model/weights/weight_set.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/weights/shard_index.h"
#include "model/weights/weight_file.h"

namespace reel::model {
namespace {

absl::StatusOr<std::shared_ptr<const WeightFile>> Share(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(WeightFile file, WeightFile::Open(path));
  return std::make_shared<const WeightFile>(std::move(file));
}

}  // namespace

absl::StatusOr<WeightSet> WeightSet::OpenFile(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const auto file, Share(path));
  WeightSet set(path);
  for (const TensorEntry& entry : file->header().tensors) set.tensors_[entry.name] = {file, &entry};
  set.metadata_ = file->header().metadata;
  REEL_ASSIGN_OR_RETURN(set.layout_,
                        JoinScales(set.tensors_, set.Metadata(kLayerFormats), set.source_));
  return set;
}

absl::StatusOr<WeightSet> WeightSet::OpenFolder(const std::string& folder, const std::string& stem,
                                                std::optional<uint64_t> random_seed) {
  if (random_seed.has_value()) {
    WeightSet set(folder);
    set.random_seed_ = random_seed;
    return set;
  }
  const std::string index_path = absl::StrCat(folder, "/", stem, ".safetensors.index.json");
  absl::StatusOr<ShardIndex> index = ReadShardIndex(index_path);
  if (absl::IsNotFound(index.status())) {
    return OpenFile(absl::StrCat(folder, "/", stem, ".safetensors"));
  }
  REEL_RETURN_IF_ERROR(index.status());

  WeightSet set(index_path);
  std::map<std::string, std::map<std::string, StoredTensor>> by_file;
  for (const auto& [name, file_name] : *index) {
    auto [tensors, is_new] = by_file.try_emplace(file_name);
    if (is_new) {
      REEL_ASSIGN_OR_RETURN(const auto file, Share(absl::StrCat(folder, "/", file_name)));
      for (const TensorEntry& entry : file->header().tensors) {
        tensors->second[entry.name] = {file, &entry};
      }
    }
    const auto found = tensors->second.find(name);
    if (found == tensors->second.end()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the index names a tensor that is not in its file: ", index_path, ": ", name,
                       " in ", file_name));
    }
    set.tensors_[name] = found->second;
  }
  REEL_ASSIGN_OR_RETURN(set.layout_, JoinScales(set.tensors_, "", set.source_));
  return set;
}

absl::StatusOr<WeightSet> WeightSet::Renamed(
    const std::function<std::optional<std::string>(const std::string&)>& rename) const {
  WeightSet renamed(source_);
  renamed.metadata_ = metadata_;
  renamed.layout_ = layout_;
  renamed.random_seed_ = random_seed_;
  for (const auto& [name, tensor] : tensors_) {
    std::optional<std::string> new_name = rename(name);
    if (!new_name.has_value()) continue;
    const auto [place, is_new] = renamed.tensors_.try_emplace(*std::move(new_name), tensor);
    if (!is_new) {
      return absl::FailedPreconditionError(
          absl::StrCat("two tensors of the file have the same meaning: ", source_, ": ",
                       place->first, ": ", name, " and ", place->second.entry->name));
    }
  }
  return renamed;
}

absl::StatusOr<WeightSet> WeightSet::With(const WeightSet& more) const {
  WeightSet both = *this;
  for (const auto& [name, tensor] : more.tensors_) {
    if (both.tensors_.try_emplace(name, tensor).second) continue;
    return absl::FailedPreconditionError(absl::StrCat("two files have the same tensor: ", source_,
                                                      " and ", more.source_, ": ", name));
  }
  return both;
}

WeightSet WeightSet::WithAdded(
    const std::map<std::string, std::vector<LowRankProduct>>& products) const {
  WeightSet changed = *this;
  for (const auto& [name, added] : products) {
    std::vector<LowRankProduct>& all = changed.tensors_.at(name).added;
    all.insert(all.end(), added.begin(), added.end());
  }
  return changed;
}

const StoredTensor* WeightSet::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

std::string WeightSet::Metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  return found == metadata_.end() ? std::string() : found->second;
}

}  // namespace reel::model
