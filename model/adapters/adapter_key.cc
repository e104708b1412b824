// SPDX-License-Identifier: Apache-2.0
#include "model/adapters/adapter_key.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace reel::model {
namespace {

struct Ending {
  absl::string_view text;
  AdapterHalf half;
};
// An ending that contains another stands before it.
constexpr std::array<Ending, 13> kAdapterEndings = {{
    {".lora_A.weight", AdapterHalf::kDown},
    {".lora_B.weight", AdapterHalf::kUp},
    {".lora_A", AdapterHalf::kDown},
    {".lora_B", AdapterHalf::kUp},
    {".lora_down.weight", AdapterHalf::kDown},
    {".lora_up.weight", AdapterHalf::kUp},
    {".lora.down.weight", AdapterHalf::kDown},
    {".lora.up.weight", AdapterHalf::kUp},
    {"_lora.down.weight", AdapterHalf::kDown},
    {"_lora.up.weight", AdapterHalf::kUp},
    {".lora_linear_layer.down.weight", AdapterHalf::kDown},
    {".lora_linear_layer.up.weight", AdapterHalf::kUp},
    {".alpha", AdapterHalf::kAlpha},
}};

struct OtherKind {
  absl::string_view text;
  absl::string_view kind;
};
// Anywhere in a key.
constexpr std::array<OtherKind, 6> kOtherAdapters = {{
    {".hada_", "LoHa"},
    {".lokr_", "LoKr"},
    {".oft_", "OFT"},
    {".lora_mid.", "a product of three (lora_mid)"},
    {".lora_magnitude_vector", "DoRA"},
    {".lora_embedding_", "an adapter of embeddings"},
}};
constexpr std::array<OtherKind, 13> kOtherEndings = {{
    {".dora_scale", "DoRA"},
    {".reshape_weight", "a reshaped weight"},
    {".diff", "a full difference (.diff)"},
    {".diff_b", "a difference of a bias (.diff_b)"},
    {".set_weight", "a replaced weight (.set_weight)"},
    {".w_norm", "a difference of a norm (.w_norm)"},
    {".b_norm", "a difference of a norm's bias (.b_norm)"},
    {".lora_A.bias", "a product with a bias"},
    {".lora_B.bias", "a product with a bias"},
    {".lora_down.bias", "a product with a bias"},
    {".lora_up.bias", "a product with a bias"},
    {".lora.down.bias", "a product with a bias"},
    {".lora.up.bias", "a product with a bias"},
}};

constexpr std::array<absl::string_view, 3> kPrefixes = {"model.diffusion_model.",
                                                        "diffusion_model.", "transformer."};
constexpr std::array<absl::string_view, 3> kFlatPrefixes = {"lora_unet_", "lora_transformer_",
                                                            "lycoris_"};
constexpr std::array<absl::string_view, 2> kSharedLayers = {"text_embedding_projection.",
                                                            "connectors."};
constexpr std::array<absl::string_view, 2> kTextEncoders = {"text_encoder", "lora_te"};

absl::Status Rule(absl::string_view text) { return absl::FailedPreconditionError(text); }

absl::Status CheckKind(absl::string_view key) {
  for (const OtherKind& other : kOtherAdapters) {
    if (absl::StrContains(key, other.text)) {
      return Rule(absl::StrCat("Reel does not read ", other.kind));
    }
  }
  for (const OtherKind& other : kOtherEndings) {
    if (absl::EndsWith(key, other.text)) {
      return Rule(absl::StrCat("Reel does not read ", other.kind));
    }
  }
  return absl::OkStatus();
}

// ".lora_A.NAME.weight", where NAME is the adapter's in PEFT.
bool ParseNamed(absl::string_view key, AdapterKey& parsed) {
  for (const auto& [text, half] :
       {Ending{".lora_A.", AdapterHalf::kDown}, Ending{".lora_B.", AdapterHalf::kUp}}) {
    const size_t at = key.rfind(text);
    if (at == absl::string_view::npos || at == 0) continue;
    absl::string_view name = key.substr(at + text.size());
    if (!absl::ConsumeSuffix(&name, ".weight") || name.empty() || absl::StrContains(name, ".")) {
      continue;
    }
    parsed = {std::string(key.substr(0, at)), half, std::string(name)};
    return true;
  }
  return false;
}

// Layers that diffusers once put into processors of the attention: "attn1.processor.to_out_lora" is
// "attn1.to_out.0".
std::string WithoutProcessor(absl::string_view stem) {
  std::string layer = absl::StrReplaceAll(stem, {{".processor.", "."}});
  if (absl::EndsWith(layer, ".to_out")) layer += ".0";
  return layer;
}

}  // namespace

absl::StatusOr<AdapterKey> ParseAdapterKey(absl::string_view key) {
  if (const absl::Status kind = CheckKind(key); !kind.ok()) return kind;
  for (const Ending& ending : kAdapterEndings) {
    absl::string_view stem = key;
    if (!absl::ConsumeSuffix(&stem, ending.text)) continue;
    if (stem.empty()) return Rule("a tensor without the name of a layer");
    if (ending.text[0] == '_') return AdapterKey{WithoutProcessor(stem), ending.half};
    return AdapterKey{std::string(stem), ending.half};
  }
  AdapterKey named;
  if (ParseNamed(key, named)) return named;
  return Rule("a tensor that is not a part of an adapter");
}

absl::StatusOr<AdapterStem> SplitStem(absl::string_view stem) {
  for (const absl::string_view encoder : kTextEncoders) {
    if (absl::StartsWith(stem, encoder)) {
      return Rule("Reel does not read adapters of text encoders");
    }
  }
  AdapterStem split;
  absl::string_view layer = stem;
  if (absl::ConsumePrefix(&layer, "base_model.model.")) split.prefix = "base_model.model.";
  for (const absl::string_view shared : kSharedLayers) {
    if (!absl::StartsWith(layer, shared)) continue;
    split.layer = std::string(layer);
    split.is_shared = true;
    return split;
  }
  for (const absl::string_view prefix : kPrefixes) {
    if (!absl::ConsumePrefix(&layer, prefix)) continue;
    absl::StrAppend(&split.prefix, prefix);
    break;
  }
  if (!absl::StrContains(layer, ".")) {
    for (const absl::string_view prefix : kFlatPrefixes) {
      if (!absl::ConsumePrefix(&layer, prefix)) continue;
      absl::StrAppend(&split.prefix, prefix);
      split.is_flat = true;
      break;
    }
  }
  split.layer = std::string(layer);
  return split;
}

}  // namespace reel::model
