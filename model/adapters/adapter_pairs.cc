// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/adapter_pairs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "kernels/base/status_macros.h"
#include "model/adapters/adapter_error.h"
#include "model/adapters/adapter_values.h"
#include "model/adapters/peft_config.h"
#include "model/weights/checkpoint.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr char kSettings[] = "lora_adapter_metadata";
constexpr char kPeftFile[] = "adapter_model.safetensors";
constexpr char kConnectors[] = "connectors.";

// The tensors of one stem.
struct Halves {
  const TensorEntry* down = nullptr;
  const TensorEntry* up = nullptr;
  const TensorEntry* alpha = nullptr;

  const TensorEntry*& Of(AdapterHalf half) {
    return half == AdapterHalf::kDown ? down : half == AdapterHalf::kUp ? up : alpha;
  }
  const TensorEntry& any() const { return down != nullptr ? *down : up != nullptr ? *up : *alpha; }
};

// A matrix, or the weight of a convolution over single places.
bool IsMatrix(const std::vector<int64_t>& shape) {
  return shape.size() == 2 || (shape.size() == 4 && shape[2] == 1 && shape[3] == 1);
}

class PairReader {
 public:
  explicit PairReader(const std::shared_ptr<const WeightFile>& file) : file_(file) {}

  absl::StatusOr<std::vector<AdapterPair>> Read();

 private:
  absl::Status Error(const TensorEntry& entry, absl::string_view rule) const {
    return AdapterError(file_->path(), entry.name, rule);
  }
  absl::Status ReadSettings();
  absl::Status AddSettings(const nlohmann::json& json, const std::string& source);
  absl::Status AddTensor(const TensorEntry& entry);
  absl::Status CheckPrefix(const AdapterStem& stem, const TensorEntry& entry);
  absl::Status CheckHalves(const Halves& halves) const;
  absl::StatusOr<double> ScaleOf(const AdapterStem& stem, const Halves& halves) const;
  absl::StatusOr<double> AlphaScale(const TensorEntry& alpha, int64_t rank, bool by_root) const;

  const std::shared_ptr<const WeightFile>& file_;
  std::optional<PeftConfig> transformer_, connectors_;
  std::map<std::string, Halves> halves_;  // by stem
  std::optional<std::string> prefix_, adapter_;
};

absl::Status PairReader::AddSettings(const nlohmann::json& json, const std::string& source) {
  REEL_ASSIGN_OR_RETURN(transformer_, PeftConfig::Read(json, "transformer", source));
  REEL_ASSIGN_OR_RETURN(connectors_, PeftConfig::Read(json, "connectors", source));
  return absl::OkStatus();
}

absl::Status PairReader::ReadSettings() {
  const auto& metadata = file_->header().metadata;
  if (const auto found = metadata.find(kSettings); found != metadata.end()) {
    const std::string source = absl::StrCat(file_->path(), ": ", kSettings);
    REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(found->second, source));
    return AddSettings(json, source);
  }
  const std::filesystem::path path = file_->path();
  const std::string beside = (path.parent_path() / "adapter_config.json").string();
  if (path.filename() != kPeftFile || !IsFile(beside)) return absl::OkStatus();
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonFile(beside));
  return AddSettings(json, beside);
}

absl::Status PairReader::CheckPrefix(const AdapterStem& stem, const TensorEntry& entry) {
  if (stem.is_shared) return absl::OkStatus();
  if (!prefix_.has_value()) prefix_ = stem.prefix;
  if (*prefix_ == stem.prefix) return absl::OkStatus();
  return Error(entry, absl::StrCat("its prefix is \"", stem.prefix, "\", that of keys before it \"",
                                   *prefix_, "\""));
}

absl::Status PairReader::AddTensor(const TensorEntry& entry) {
  const absl::StatusOr<AdapterKey> key = ParseAdapterKey(entry.name);
  if (!key.ok()) return Error(entry, key.status().message());
  const absl::StatusOr<AdapterStem> stem = SplitStem(key->stem);
  if (!stem.ok()) return Error(entry, stem.status().message());
  REEL_RETURN_IF_ERROR(CheckPrefix(*stem, entry));
  if (key->half != AdapterHalf::kAlpha) {
    if (!adapter_.has_value()) adapter_ = key->adapter;
    if (*adapter_ != key->adapter) return Error(entry, "the file has adapters of two names");
  }
  const TensorEntry*& place = halves_[key->stem].Of(key->half);
  if (place != nullptr) return Error(entry, absl::StrCat("it is the same as ", place->name));
  place = &entry;
  return absl::OkStatus();
}

absl::Status PairReader::CheckHalves(const Halves& halves) const {
  if (halves.down == nullptr || halves.up == nullptr) {
    return Error(halves.any(), halves.down != nullptr ? "the other matrix, up (B), is missing"
                               : halves.up != nullptr ? "the other matrix, down (A), is missing"
                                                      : "an alpha without its matrices");
  }
  for (const TensorEntry* entry : {halves.down, halves.up}) {
    if (!IsAdapterType(entry->type)) {
      const std::string_view type = NameOf(entry->type);
      return Error(*entry, absl::StrCat("its type is ", std::string(type),
                                        "; adapters are F32, F16 or BF16"));
    }
    if (!IsMatrix(entry->shape)) {
      return Error(*entry, absl::StrCat("its shape is [", absl::StrJoin(entry->shape, ","),
                                        "], not that of a matrix"));
    }
  }
  const int64_t rank = halves.down->shape[0];
  if (halves.up->shape[1] != rank) {
    return Error(*halves.down, absl::StrCat("its rank is ", rank, ", that of its other matrix ",
                                            halves.up->shape[1]));
  }
  if (rank < 1 || rank > kMostAdapterRank) {
    return Error(*halves.down, absl::StrCat("its rank is ", rank, ", not 1 to ", kMostAdapterRank));
  }
  return absl::OkStatus();
}

double ScaleBy(double alpha, int64_t rank, bool by_root) {
  const auto of = static_cast<double>(rank);
  return alpha / (by_root ? std::sqrt(of) : of);
}

absl::StatusOr<double> PairReader::AlphaScale(const TensorEntry& alpha, int64_t rank,
                                              bool by_root) const {
  const std::optional<double> value = OnlyValue(file_->Bytes(alpha), alpha.type);
  if (!value.has_value()) return Error(alpha, "must be one number of F32, F16, BF16 or I64");
  if (!std::isfinite(*value)) return Error(alpha, "must be finite");
  return ScaleBy(*value, rank, by_root);
}

absl::StatusOr<double> PairReader::ScaleOf(const AdapterStem& stem, const Halves& halves) const {
  const int64_t rank = halves.down->shape[0];
  absl::string_view layer = stem.layer;
  const bool is_connectors = absl::ConsumePrefix(&layer, kConnectors);
  const std::optional<PeftConfig>& settings = is_connectors ? connectors_ : transformer_;
  const bool by_root = settings.has_value() && settings->divides_by_root();
  std::optional<double> alpha;
  if (settings.has_value()) {
    REEL_ASSIGN_OR_RETURN(const std::optional<double> wanted, settings->PatternRankOf(layer));
    if (wanted.has_value() && *wanted != static_cast<double>(rank)) {
      return Error(*halves.down,
                   absl::StrCat("its rank is ", rank, ", rank_pattern says ", *wanted));
    }
    REEL_ASSIGN_OR_RETURN(alpha, settings->AlphaOf(layer));
  }
  if (halves.alpha != nullptr) return AlphaScale(*halves.alpha, rank, by_root);
  return alpha.has_value() ? ScaleBy(*alpha, rank, by_root) : 1.0;
}

absl::StatusOr<std::vector<AdapterPair>> PairReader::Read() {
  const std::vector<TensorEntry>& tensors = file_->header().tensors;
  if (!tensors.empty() && tensors.back().end > kMostAdapterBytes) {
    return AdapterError(file_->path(), "", "the file has more than 16 GiB");
  }
  for (const TensorEntry& entry : tensors) REEL_RETURN_IF_ERROR(AddTensor(entry));
  REEL_RETURN_IF_ERROR(ReadSettings());
  std::vector<AdapterPair> pairs;
  for (const auto& [name, halves] : halves_) {
    REEL_RETURN_IF_ERROR(CheckHalves(halves));
    REEL_ASSIGN_OR_RETURN(AdapterStem stem, SplitStem(name));
    REEL_ASSIGN_OR_RETURN(const double scale, ScaleOf(stem, halves));
    pairs.push_back({std::move(stem), {file_, halves.down, halves.up, scale}});
  }
  if (pairs.empty()) return AdapterError(file_->path(), "", "the file has no pair of matrices");
  return pairs;
}

}  // namespace

absl::StatusOr<std::vector<AdapterPair>> ReadPairs(const std::shared_ptr<const WeightFile>& file) {
  return PairReader(file).Read();
}

}  // namespace reel::model
