// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/bpe_vocabulary.h"

#include <cstddef>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kernels/base/status_macros.h"
#include "model/tokenizer/utf8.h"
#include "model/weights/config_reader.h"
#include "model/weights/json_file.h"
#include "model/weights/mapped_file.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

using nlohmann::json;

constexpr int64_t kMostIds = 1'000'000;
constexpr size_t kMostMerges = 2'000'000;
constexpr size_t kLongestPiece = 1024;
constexpr size_t kMostFileBytes = size_t{64} << 20;
constexpr char kBegin[] = "<bos>";

// Reads the parts of one tokenizer.json.
class Reader {
 public:
  Reader(const json& file, const std::string& source) : file_(file), source_(source) {}

  absl::StatusOr<BpeVocabulary> Read() {
    REEL_RETURN_IF_ERROR(CheckSteps());
    REEL_RETURN_IF_ERROR(ReadPieces());
    REEL_RETURN_IF_ERROR(ReadMerges());
    REEL_RETURN_IF_ERROR(ReadAdded());
    REEL_RETURN_IF_ERROR(ReadBegin());
    vocabulary_.begin_piece = IdOf(kBegin);
    return std::move(vocabulary_);
  }

 private:
  absl::Status Bad(const std::string& why) const {
    return absl::FailedPreconditionError(absl::StrCat("bad tokenizer file: ", source_, ": ", why));
  }
  static const json& Part(const json& of, const char* key) {
    static const json none;
    const auto found = of.is_object() ? of.find(key) : of.end();
    return found == of.end() ? none : *found;
  }

  // What the encoder implements; other settings would give other ids.
  absl::Status CheckSteps() const {
    const json& model = Part(file_, "model");
    if (Part(model, "type") != "BPE") return Bad("its model is not BPE");
    if (Part(model, "byte_fallback") != true) return Bad("its BPE has no byte_fallback");
    for (const char* const key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
      const json& value = Part(model, key);
      if (!value.is_null() && value != "") return Bad(absl::StrCat(key, " is not supported"));
    }
    if (Part(model, "ignore_merges") == true) return Bad("ignore_merges is not supported");
    static const json kMarks = {
        {"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
    if (Part(file_, "normalizer") != kMarks) {
      return Bad("its normalizer does not put U+2581 for spaces, and nothing else");
    }
    const json& splitter = Part(file_, "pre_tokenizer");
    if (!splitter.is_null() &&
        (Part(splitter, "type") != "Split" || Part(Part(splitter, "pattern"), "String") != " ")) {
      return Bad("its pre_tokenizer does more than to split at spaces");
    }
    return absl::OkStatus();
  }

  absl::Status AddPiece(const std::string& text, const json& id) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= kMostIds) {
      return Bad(absl::StrCat("an id is not a number from 0 to ", kMostIds - 1));
    }
    const auto at = id.get<size_t>();
    if (text.empty() || text.size() > kLongestPiece || !IsValidUtf8(text)) {
      return Bad(absl::StrCat("piece ", at, " is empty, too long, or not UTF-8"));
    }
    if (at >= vocabulary_.pieces.size()) vocabulary_.pieces.resize(at + 1);
    if (!vocabulary_.pieces[at].empty() && vocabulary_.pieces[at] != text) {
      return Bad(absl::StrCat("two pieces have the id ", at));
    }
    vocabulary_.pieces[at] = text;
    ids_[text] = static_cast<int32_t>(at);
    return absl::OkStatus();
  }

  absl::Status ReadPieces() {
    const json& pieces = Part(Part(file_, "model"), "vocab");
    if (!pieces.is_object()) return Bad("it has no vocabulary");
    for (const auto& [text, id] : pieces.items()) REEL_RETURN_IF_ERROR(AddPiece(text, id));
    if (IdOf("<pad>") != 0) return Bad("piece 0 is not <pad>");
    for (size_t byte = 0; byte < vocabulary_.bytes.size(); ++byte) {
      const std::string text = absl::StrFormat("<0x%02X>", byte);
      const std::optional<int32_t> id = IdOf(text);
      if (!id) return Bad(absl::StrCat("it has no piece ", text, " to fall back on"));
      vocabulary_.bytes[byte] = *id;
    }
    return absl::OkStatus();
  }

  std::optional<int32_t> IdOf(const std::string& text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  // A pair, or in older files one text with a space between.
  static std::optional<std::pair<std::string, std::string>> PairOf(const json& merge) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      return std::pair(merge[0].get<std::string>(), merge[1].get<std::string>());
    }
    if (!merge.is_string()) return std::nullopt;
    const auto& text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ');
    if (space == std::string::npos) return std::nullopt;
    return std::pair(text.substr(0, space), text.substr(space + 1));
  }

  absl::Status ReadMerges() {
    const json& merges = Part(Part(file_, "model"), "merges");
    if (!merges.is_array() || merges.size() > kMostMerges) {
      return Bad(absl::StrCat("it has no list of at most ", kMostMerges, " merges"));
    }
    for (const json& merge : merges) {
      const auto pair = PairOf(merge);
      if (!pair) return Bad(absl::StrCat("merge ", vocabulary_.merges.size(), " is malformed"));
      const auto left = IdOf(pair->first), right = IdOf(pair->second);
      const auto result = IdOf(pair->first + pair->second);
      if (!left || !right || !result) {
        return Bad(absl::StrCat("merge ", vocabulary_.merges.size(), " names no pieces"));
      }
      vocabulary_.merges.push_back({*left, *right, *result});
    }
    return absl::OkStatus();
  }

  absl::Status ReadAdded() {
    const json& added = Part(file_, "added_tokens");
    if (!added.is_array())
      return added.is_null() ? absl::OkStatus() : Bad("added_tokens is no list");
    for (const json& token : added) {
      const json& text = Part(token, "content");
      if (!text.is_string()) return Bad("an added token has no content");
      for (const char* const key : {"single_word", "lstrip", "rstrip", "normalized"}) {
        if (Part(token, key) == true) {
          return Bad(absl::StrCat(key, " of an added token is not supported"));
        }
      }
      REEL_RETURN_IF_ERROR(AddPiece(text.get<std::string>(), Part(token, "id")));
      vocabulary_.added.push_back({text.get<std::string>(), *IdOf(text.get<std::string>())});
    }
    return absl::OkStatus();
  }

  absl::Status ReadBegin() {
    const json& template_of = Part(file_, "post_processor");
    if (template_of.is_null()) return absl::OkStatus();
    const json& single = Part(template_of, "single");
    if (Part(template_of, "type") != "TemplateProcessing" || !single.is_array() || single.empty() ||
        single.size() > 2 || Part(single.back(), "Sequence").is_null()) {
      return Bad("its post_processor does more than to put a token in front");
    }
    if (single.size() == 1) return absl::OkStatus();
    const json& name = Part(Part(single[0], "SpecialToken"), "id");
    if (!name.is_string() || !IdOf(name.get<std::string>())) {
      return Bad("the token that its post_processor puts in front is no piece");
    }
    vocabulary_.begin = IdOf(name.get<std::string>());
    return absl::OkStatus();
  }

  const json& file_;
  const std::string& source_;
  BpeVocabulary vocabulary_;
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace

absl::StatusOr<BpeVocabulary> ParseBpeVocabulary(std::string_view text, const std::string& source) {
  REEL_ASSIGN_OR_RETURN(const json file, ParseJson(text, source, kMostFileBytes));
  return Reader(file, source).Read();
}

absl::StatusOr<BpeVocabulary> LoadBpeVocabulary(const std::string& folder) {
  const std::string path = folder + "/tokenizer.json";
  REEL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  REEL_ASSIGN_OR_RETURN(
      BpeVocabulary vocabulary,
      ParseBpeVocabulary({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()},
                         path));
  const std::string config_file = folder + "/tokenizer_config.json";
  const absl::StatusOr<json> config = ReadJsonFile(config_file);
  if (absl::IsNotFound(config.status())) return vocabulary;
  REEL_RETURN_IF_ERROR(config.status());
  REEL_RETURN_IF_ERROR(TakeTokenizerConfig(*config, config_file, vocabulary));
  return vocabulary;
}

absl::Status TakeTokenizerConfig(const json& config, const std::string& source,
                                 BpeVocabulary& vocabulary) {
  ConfigReader reader(config, source);
  const bool adds = reader.Bool("add_bos_token", vocabulary.begin.has_value());
  REEL_RETURN_IF_ERROR(reader.status());
  const auto found = config.find("add_bos_token");
  if (found == config.end() || found->is_null()) return absl::OkStatus();
  vocabulary.begin = adds ? vocabulary.begin_piece : std::nullopt;
  if (!adds || vocabulary.begin) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("bad tokenizer: ", source, ": add_bos_token is set, but there is no ", kBegin));
}

}  // namespace reel::model
