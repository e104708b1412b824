// SPDX-License-Identifier: Apache-2.0
#include "model/ltx2/split_files.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/text/gemma_config.h"
#include "model/tokenizer/bpe_vocabulary.h"
#include "model/utf8.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model::ltx2 {
namespace {

using nlohmann::json;

constexpr char kTextConfig[] = "gemma_config", kTokenizer[] = "tokenizer_json";
constexpr char kTokenizerConfig[] = "hf_asset__tokenizer_config.json";
constexpr std::string_view kProjections = "text_embedding_projection.";

// A file that lies in a tensor; empty: there is none.
std::string_view FileIn(const WeightSet& file, const char* name) {
  const StoredTensor* const tensor = file.Find(name);
  if (tensor == nullptr) return {};
  return {reinterpret_cast<const char*>(tensor->bytes().data()), tensor->bytes().size()};
}

}  // namespace

bool IsTextEncoderFile(const WeightSet& file) { return !file.Metadata(kTextConfig).empty(); }

absl::StatusOr<json> TextConfigOfFile(const WeightSet& file) {
  return ParseJson(file.Metadata(kTextConfig), absl::StrCat(file.source(), ": ", kTextConfig));
}

absl::StatusOr<BpeTokenizer> TokenizerOfFile(const WeightSet& file) {
  const std::string source = absl::StrCat(file.source(), ": ", kTokenizer);
  const std::string_view text = FileIn(file, kTokenizer);
  if (text.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the text encoder's file has no tokenizer: ", source));
  }
  REEL_ASSIGN_OR_RETURN(BpeVocabulary vocabulary, ParseBpeVocabulary(text, source));
  if (const std::string_view config = FileIn(file, kTokenizerConfig); !config.empty()) {
    const std::string of_config = absl::StrCat(file.source(), ": ", kTokenizerConfig);
    REEL_ASSIGN_OR_RETURN(const json read, ParseJson(config, of_config));
    REEL_RETURN_IF_ERROR(TakeTokenizerConfig(read, of_config, vocabulary));
  }
  return BpeTokenizer(std::move(vocabulary));
}

absl::StatusOr<WeightSet> WithTextProjections(const WeightSet& transformer, const WeightSet& text) {
  REEL_ASSIGN_OR_RETURN(const WeightSet projections,
                        text.Renamed([](const std::string& name) -> std::optional<std::string> {
                          if (name.starts_with(kProjections)) return name;
                          return std::nullopt;
                        }));
  return transformer.With(projections);
}

absl::Status CheckGemmaVersion(const json& config, const json& encoder, const std::string& source) {
  static const json::json_pointer kDeclared("/transformer/gemma_source_checkpoint/gemma_version");
  if (!config.contains(kDeclared)) return absl::OkStatus();
  const json& declared = config[kDeclared];
  const std::string version = declared.is_string() ? declared.get<std::string>() : declared.dump();
  REEL_ASSIGN_OR_RETURN(const GemmaConfig text, ReadGemmaConfig(encoder, source));
  // Whatever stands around it: 4, "4", "gemma-4-12b".
  if (absl::StrContains(version, absl::StrCat(text.version))) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the transformer was trained with another text encoder: ", source,
                   ": gemma_version is ", Quoted(version), ", this is Gemma ", text.version));
}

absl::StatusOr<json> ConfigBeside(const WeightSet& part, const json& known) {
  const std::string text = part.Metadata("config");
  if (text.empty()) return known;
  REEL_ASSIGN_OR_RETURN(const json own, ParseJson(text, part.source() + ": config"));
  json both = known;
  both.update(own);
  return both;
}

}  // namespace reel::model::ltx2
