// SPDX-License-Identifier: Apache-2.0
#include "model/text/gguf_names.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
constexpr std::array<Pair, 14> kGemmaBlock = {{
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
    {"layer_output_scale", "layer_scalar"},  // of Gemma 4
}};

// Of a model's names: those outside blocks, and those of "<gguf_blocks>N." as "<our_blocks>N.".
struct Names {
  absl::Span<const Pair> outside;
  absl::Span<const Pair> block;
  absl::string_view gguf_blocks, our_blocks;
};
constexpr char kRopeFactors[] = "rope_freqs.weight";
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

absl::Status Mismatch(const WeightSet& file, const std::string& what) {
  return absl::FailedPreconditionError(
      absl::StrCat("the GGUF file does not match the text encoder's configuration: ", file.source(),
                   ": ", what));
}

absl::Status CheckNumber(const WeightSet& file, const std::string& key, int64_t expected) {
  const std::string own = file.Metadata(key);
  if (own.empty() || own == absl::StrCat(expected)) return absl::OkStatus();
  return Mismatch(file, absl::StrCat(key, " is ", Quoted(own), ", not ", expected));
}

// Checks the divisors of the rotary frequencies in full attention layers: 1 for rotated pairs of
// channels, 1e30 for others. The encoder takes these from the configuration, which must agree.
absl::Status CheckTurnedPairs(const WeightSet& file, const GemmaConfig::Attention& attention) {
  const StoredTensor* const stored = file.Find(kRopeFactors);
  if (stored == nullptr) return absl::OkStatus();
  const int64_t pairs = attention.head_dim / 2;
  const auto turned = static_cast<int64_t>(attention.turned * static_cast<double>(pairs));
  std::vector<float> expected(static_cast<size_t>(pairs), 1e30f);
  std::fill_n(expected.begin(), turned, 1.0f);
  const size_t bytes = expected.size() * sizeof(float);
  if (stored->type() == TensorType::kF32 && stored->bytes().size() == bytes &&
      std::memcmp(stored->bytes().data(), expected.data(), bytes) == 0) {
    return absl::OkStatus();
  }
  return Mismatch(
      file, absl::StrCat(kRopeFactors, " must turn ", turned, " of ", pairs, " pairs of channels"));
}

// Drops ".weight" from Gemma 4's layer scale, as transformers names it.
std::optional<std::string> GemmaName(const std::string& original) {
  if (original == kRopeFactors) return std::nullopt;
  const std::string name = Renamed(kGemma, original);
  return std::string(
      absl::StripSuffix(name, name.ends_with(".layer_scalar.weight") ? ".weight" : ""));
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
  const std::string architecture = absl::StrCat("gemma", config.version);
  REEL_RETURN_IF_ERROR(CheckArchitecture(file, {architecture}));
  const bool has_two_lengths = config.version == 4;  // all of Gemma 3's heads have the same
  const std::pair<const char*, int64_t> numbers[] = {
      {".block_count", config.num_layers()},
      {".embedding_length", config.width},
      {".attention.head_count", config.num_heads},
      // A list, which is not read, if full attention layers have another number.
      {".attention.head_count_kv", config.local.num_key_heads},
      {".attention.key_length", (has_two_lengths ? config.full : config.local).head_dim},
      {".attention.key_length_swa", config.local.head_dim},
  };
  for (const auto& [key, expected] : numbers) {
    REEL_RETURN_IF_ERROR(CheckNumber(file, architecture + key, expected));
  }
  REEL_RETURN_IF_ERROR(CheckTurnedPairs(file, config.full));
  return file.Renamed(GemmaName);
}

}  // namespace reel::model
