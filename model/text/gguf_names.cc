// SPDX-License-Identifier: Apache-2.0
#include "model/text/gguf_names.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "kernels/base/status_macros.h"
#include "model/utf8.h"
#include "model/weights/part_files.h"

namespace reel::model {
namespace {

struct Pair {
  absl::string_view gguf, ours;
};

constexpr std::array<Pair, 2> kT5Outside = {{
    {"token_embd", "shared"},
    {"enc.output_norm", "encoder.final_layer_norm"},
}};
constexpr std::array<Pair, 10> kT5Block = {{
    {"attn_q", "layer.0.SelfAttention.q"},
    {"attn_k", "layer.0.SelfAttention.k"},
    {"attn_v", "layer.0.SelfAttention.v"},
    {"attn_o", "layer.0.SelfAttention.o"},
    {"attn_norm", "layer.0.layer_norm"},
    {"attn_rel_b", "layer.0.SelfAttention.relative_attention_bias"},
    {"ffn_gate", "layer.1.DenseReluDense.wi_0"},
    {"ffn_up", "layer.1.DenseReluDense.wi_1"},
    {"ffn_down", "layer.1.DenseReluDense.wo"},
    {"ffn_norm", "layer.1.layer_norm"},
}};

constexpr std::array<Pair, 2> kGemmaOutside = {{
    {"token_embd", "embed_tokens"},
    {"output_norm", "norm"},
}};
constexpr std::array<Pair, 13> kGemmaBlock = {{
    {"attn_norm", "input_layernorm"},
    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},
    {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"},
    {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"},
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},
    {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
}};

// Of a model's names: those outside blocks, and those of "<gguf_blocks>N." as "<our_blocks>N.".
struct Names {
  absl::Span<const Pair> outside;
  absl::Span<const Pair> block;
  absl::string_view gguf_blocks, our_blocks;
};
constexpr Names kT5 = {kT5Outside, kT5Block, "enc.blk.", "encoder.block."};
constexpr Names kGemma = {kGemmaOutside, kGemmaBlock, "blk.", "layers."};

std::optional<std::string> Find(absl::Span<const Pair> pairs, absl::string_view name) {
  for (const Pair& pair : pairs) {
    if (pair.gguf == name) return std::string(pair.ours);
  }
  return std::nullopt;
}

// An unknown name stays, so that the loader names it as one tensor too many.
std::string Renamed(const Names& names, const std::string& original) {
  absl::string_view layer = original;
  if (!absl::ConsumeSuffix(&layer, ".weight")) return original;
  if (const auto ours = Find(names.outside, layer)) return *ours + ".weight";
  if (!absl::ConsumePrefix(&layer, names.gguf_blocks)) return original;
  const size_t dot = layer.find('.');
  if (dot == absl::string_view::npos) return original;
  const auto ours = Find(names.block, layer.substr(dot + 1));
  if (!ours.has_value()) return original;
  return absl::StrCat(names.our_blocks, layer.substr(0, dot), ".", *ours, ".weight");
}

absl::Status CheckNumber(const WeightSet& file, const char* key, int64_t expected) {
  const std::string own = file.Metadata(absl::StrCat("gemma3.", key));
  if (own.empty() || own == absl::StrCat(expected)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the GGUF file does not match the text encoder's configuration: ", file.source(),
                   ": gemma3.", key, " is ", Quoted(own), ", not ", expected));
}

}  // namespace

bool HasGgufNames(const WeightSet& file) { return file.Find("token_embd.weight") != nullptr; }

absl::StatusOr<WeightSet> T5OfGguf(const WeightSet& file) {
  REEL_RETURN_IF_ERROR(CheckArchitecture(file, {"t5", "t5encoder"}));
  return file.Renamed([](const std::string& original) -> std::optional<std::string> {
    if (original.starts_with("dec.")) return std::nullopt;
    return Renamed(kT5, original);
  });
}

absl::StatusOr<WeightSet> GemmaOfGguf(const WeightSet& file, const GemmaConfig& config) {
  REEL_RETURN_IF_ERROR(CheckArchitecture(file, {"gemma3"}));
  if (config.version != 3) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the GGUF file does not match the text encoder's configuration: ", file.source(),
        " is Gemma 3's, the configuration Gemma ", config.version, "'s"));
  }
  REEL_RETURN_IF_ERROR(CheckNumber(file, "block_count", config.num_layers()));
  REEL_RETURN_IF_ERROR(CheckNumber(file, "embedding_length", config.width));
  REEL_RETURN_IF_ERROR(CheckNumber(file, "attention.head_count", config.num_heads));
  REEL_RETURN_IF_ERROR(CheckNumber(file, "attention.head_count_kv", config.local.num_key_heads));
  REEL_RETURN_IF_ERROR(CheckNumber(file, "attention.key_length", config.local.head_dim));
  return file.Renamed(
      [](const std::string& original) { return std::optional(Renamed(kGemma, original)); });
}

}  // namespace reel::model
