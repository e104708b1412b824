// SPDX-License-Identifier: Apache-2.0
#include "model/tokenizer/vocabulary.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "model/tokenizer/utf8.h"
#include "model/tokenizer/wire_reader.h"
#include "model/weights/config_reader.h"
#include "model/weights/json_file.h"
#include "model/weights/mapped_file.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr size_t kMaxPieces = 1'000'000;
constexpr size_t kMaxPieceBytes = 256;
constexpr size_t kMaxFileBytes = size_t{64} << 20;
constexpr int64_t kMaxSentinels = 10'000;

// Field numbers and values of sentencepiece's ModelProto.
constexpr uint64_t kModelPieces = 1, kModelNormalizer = 3;
constexpr uint64_t kPieceText = 1, kPieceScore = 2, kPieceType = 3;
constexpr uint64_t kNormalizerCharsmap = 2;
constexpr uint64_t kControl = 3, kUserDefined = 4;

absl::Status Bad(const std::string& source, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("bad tokenizer file: ", source, ": ", why));
}

bool IsNamedSpecial(const std::string& text) {
  return text == "</s>" || text == "<unk>" || text == "<pad>";
}

absl::Status AddPiece(Piece piece, const std::string& source, Vocabulary& vocabulary) {
  if (vocabulary.pieces.size() == kMaxPieces) {
    return Bad(source, absl::StrCat("more than ", kMaxPieces, " pieces"));
  }
  if (piece.text.empty() || piece.text.size() > kMaxPieceBytes || !std::isfinite(piece.score) ||
      !IsValidUtf8(piece.text)) {
    return Bad(source, absl::StrCat("piece ", vocabulary.pieces.size(),
                                    " is empty, too long, not UTF-8, or without a score"));
  }
  piece.is_special |= IsNamedSpecial(piece.text);
  vocabulary.pieces.push_back(std::move(piece));
  return absl::OkStatus();
}

absl::StatusOr<Piece> ParsePiece(std::string_view message, const std::string& source) {
  Piece piece;
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == kPieceText) piece.text = std::string(reader.bytes());
    if (reader.field() == kPieceScore) piece.score = double{reader.float32()};
    if (reader.field() == kPieceType) {
      piece.is_special = reader.number() == kControl || reader.number() == kUserDefined;
    }
  }
  if (!reader.ok()) return Bad(source, "a piece is cut off");
  return piece;
}

absl::Status CheckIds(const Vocabulary& vocabulary, const std::string& source) {
  static constexpr const char* kFirst[] = {"<pad>", "</s>", "<unk>"};
  for (size_t id = 0; id < 3; ++id) {
    if (vocabulary.pieces.size() <= id || vocabulary.pieces[id].text != kFirst[id]) {
      return Bad(source, absl::StrCat("piece ", id, " is not ", kFirst[id], " as in every T5"));
    }
  }
  return absl::OkStatus();
}

// "<extra_id_0>" comes last.
absl::Status AddSentinels(const std::string& folder, Vocabulary& vocabulary) {
  const std::string path = folder + "/tokenizer_config.json";
  int64_t sentinels = 100;
  absl::StatusOr<nlohmann::json> config = ReadJsonFile(path);
  if (config.ok()) {
    ConfigReader reader(*config, path);
    sentinels = reader.Int("extra_ids", sentinels, {0, kMaxSentinels});
    REEL_RETURN_IF_ERROR(reader.status());
  } else if (!absl::IsNotFound(config.status())) {
    return config.status();
  }
  for (int64_t i = sentinels - 1; i >= 0; --i) {
    vocabulary.pieces.push_back({absl::StrCat("<extra_id_", i, ">"), 0, true});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  if (file.bytes().size() > kMaxFileBytes) {
    return Bad(path, absl::StrCat("more than ", kMaxFileBytes, " bytes"));
  }
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

}  // namespace

absl::StatusOr<Vocabulary> ParseSpieceModel(const std::string& bytes, const std::string& source) {
  Vocabulary vocabulary;
  WireReader model(bytes);
  while (model.Next()) {
    if (model.field() == kModelPieces) {
      REEL_ASSIGN_OR_RETURN(Piece piece, ParsePiece(model.bytes(), source));
      REEL_RETURN_IF_ERROR(AddPiece(std::move(piece), source, vocabulary));
    } else if (model.field() == kModelNormalizer) {
      WireReader normalizer(model.bytes());
      while (normalizer.Next()) {
        if (normalizer.field() == kNormalizerCharsmap) {
          vocabulary.charsmap = std::string(normalizer.bytes());
        }
      }
      if (!normalizer.ok()) return Bad(source, "the normalizer is cut off");
    }
  }
  if (!model.ok()) return Bad(source, "it is not a sentencepiece model");
  REEL_RETURN_IF_ERROR(CheckIds(vocabulary, source));
  return vocabulary;
}

absl::StatusOr<Vocabulary> ParseTokenizerJson(const std::string& text, const std::string& source) {
  REEL_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text, source));
  const nlohmann::json model = json.value("model", nlohmann::json::object());
  if (!model.is_object() || model.value("type", nlohmann::json()) != "Unigram" ||
      !model.contains("vocab") || !model["vocab"].is_array()) {
    return Bad(source, "it has no Unigram vocabulary");
  }
  Vocabulary vocabulary;
  for (const nlohmann::json& item : model["vocab"]) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_string() || !item[1].is_number()) {
      return Bad(source, absl::StrCat("piece ", vocabulary.pieces.size(), " is malformed"));
    }
    Piece piece = {item[0].get<std::string>(), item[1].get<double>(), false};
    piece.is_special = piece.text.rfind("<extra_id_", 0) == 0;
    REEL_RETURN_IF_ERROR(AddPiece(std::move(piece), source, vocabulary));
  }
  REEL_RETURN_IF_ERROR(CheckIds(vocabulary, source));
  const nlohmann::json normalizer = json.value("normalizer", nlohmann::json());
  if (normalizer.is_object() && normalizer.value("type", nlohmann::json()) == "Precompiled") {
    const nlohmann::json map = normalizer.value("precompiled_charsmap", nlohmann::json());
    if (!map.is_string() ||
        !absl::Base64Unescape(map.get_ref<const std::string&>(), &vocabulary.charsmap)) {
      return Bad(source, "the charsmap is not base64");
    }
  } else if (!normalizer.is_null()) {
    return Bad(source, "its normalizer is not a precompiled charsmap");
  }
  return vocabulary;
}

absl::StatusOr<Vocabulary> LoadVocabulary(const std::string& folder) {
  const std::string spiece = folder + "/spiece.model";
  absl::StatusOr<std::string> bytes = ReadBytes(spiece);
  if (bytes.ok()) {
    REEL_ASSIGN_OR_RETURN(Vocabulary vocabulary, ParseSpieceModel(*bytes, spiece));
    REEL_RETURN_IF_ERROR(AddSentinels(folder, vocabulary));
    return vocabulary;
  }
  const std::string json = folder + "/tokenizer.json";
  absl::StatusOr<std::string> text = ReadBytes(json);
  if (absl::IsNotFound(text.status())) return bytes.status();  // spiece.model is what to supply
  REEL_RETURN_IF_ERROR(text.status());
  return ParseTokenizerJson(*text, json);
}

}  // namespace reel::model
