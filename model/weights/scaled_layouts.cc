// SPDX-License-Identifier: Apache-2.0
#include "model/weights/scaled_layouts.h"

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "kernels/base/float_types.h"
#include "kernels/base/status_macros.h"
#include "model/weights/json_file.h"
#include "nlohmann/json.hpp"

namespace reel::model {
namespace {

constexpr char kMarker[] = "scaled_fp8";
constexpr size_t kMostFormatBytes = 4096;  // of one layer

struct Refusal {
  absl::string_view ending;
  absl::string_view layout;
};
constexpr std::array<Refusal, 10> kRefusals = {{
    {".weight_scale_2", "NVFP4, scales of blocks"},
    {".pre_quant_scale", "modelopt's AWQ, scales of inputs"},
    {".bias_scale", "scaled biases"},
    {".weight.absmax", "bitsandbytes' 4 bits (NF4, FP4)"},
    {".weight.quant_map", "bitsandbytes' 4 bits (NF4, FP4)"},
    {"._shift", "quanto's 4 and 2 bits"},
    {":qdata", "torchao's flattened tensors"},
    {"._weight_qdata", "torchao's flattened tensors"},
    {".qweight", "GPTQ or AWQ, 4 bits"},
    {".weight_scale_inv", "scales of blocks"},
}};

// Endings that no weight of a network has.
constexpr std::array<absl::string_view, 9> kEndings = {
    ".weight_scale", ".input_scale", ".output_scale", ".scale_weight",  ".scale_input",
    ".SCB",          "._scale",      ".comfy_quant",  ".weight_format",
};

bool IsFloat8(TensorType type) {
  return type == TensorType::kF8E4M3 || type == TensorType::kF8E5M2;
}

int64_t Elements(const TensorEntry& entry) {
  return (entry.end - entry.begin) / BytesOf(entry.type);
}

std::optional<float> FloatAt(const StoredTensor& tensor, int64_t index) {
  const std::byte* const at = tensor.bytes().data() + index * BytesOf(tensor.entry->type);
  if (tensor.entry->type == TensorType::kF32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  const bool is_half = tensor.entry->type == TensorType::kF16;
  if (!is_half && tensor.entry->type != TensorType::kBf16) return std::nullopt;
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return is_half ? kernels::ToFloat(kernels::Half{bits})
                 : kernels::ToFloat(kernels::BFloat16{bits});
}

// One for all, or one a row: [], [1], [N] or [N,1].
bool FitsRows(const std::vector<int64_t>& shape, int64_t rows) {
  if (shape.empty()) return true;
  if (shape.size() > 2 || (shape.size() == 2 && shape[1] != 1)) return false;
  return shape[0] == 1 || shape[0] == rows;
}

class Joiner {
 public:
  Joiner(StoredTensors& tensors, const std::string& source) : tensors_(tensors), source_(source) {}

  absl::StatusOr<ScaledLayout> Layout(const std::string& layer_formats) const;
  absl::Status Join(ScaledLayout layout, const std::string& layer_formats);

 private:
  absl::Status Error(const std::string& name, absl::string_view rule) const {
    return absl::FailedPreconditionError(absl::StrCat(
        "the file's quantised weights cannot be read: ", source_, ": ", name, ": ", rule));
  }
  std::vector<std::string> NamesWith(absl::string_view ending) const;
  absl::StatusOr<std::vector<float>> Scales(const std::string& name, int64_t rows) const;
  // Gives the weight its codes' type and its scales.
  absl::Status Attach(const std::string& weight, const std::string& scale, TensorType codes,
                      float divisor = 1);
  absl::Status JoinModelopt();
  absl::Status JoinMarked();
  absl::Status JoinMarkedBy(const std::string& marker);
  absl::Status JoinByLayer(const std::string& layer_formats);
  absl::Status AddFormat(const std::string& weight, const std::string& from,
                         const nlohmann::json& format);
  absl::StatusOr<std::string> WeightOf(const std::string& layer) const;
  absl::Status JoinQuanto();
  absl::Status JoinBitsandbytes();
  absl::Status DropActivationScales();
  absl::Status CheckRest(ScaledLayout layout) const;

  StoredTensors& tensors_;
  const std::string& source_;
  std::map<std::string, TensorType> formats_;  // by weight
};

std::vector<std::string> Joiner::NamesWith(absl::string_view ending) const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) {
    if (absl::EndsWith(name, ending)) names.push_back(name);
  }
  return names;
}

std::string Without(const std::string& name, absl::string_view ending) {
  return name.substr(0, name.size() - ending.size());
}

absl::StatusOr<ScaledLayout> Joiner::Layout(const std::string& layer_formats) const {
  for (const Refusal& refusal : kRefusals) {
    const std::vector<std::string> names = NamesWith(refusal.ending);
    if (names.empty()) continue;
    return Error(names[0], absl::StrCat("Reel does not read ", refusal.layout));
  }
  const auto has = [this](absl::string_view ending) { return !NamesWith(ending).empty(); };
  const bool by_layer = has(".comfy_quant") || !layer_formats.empty();
  ScaledLayout layout = ScaledLayout::kNone;
  int found = 0;
  const auto add = [&](bool is_there, ScaledLayout which) {
    if (!is_there) return;
    ++found;
    layout = which;
  };
  add(by_layer, ScaledLayout::kComfyByLayer);
  add(!by_layer && has(".weight_scale"), ScaledLayout::kModelopt);
  add(has(".scale_weight") || has(kMarker), ScaledLayout::kComfyMarked);
  add(has("._data") || has("._scale"), ScaledLayout::kQuanto);
  add(has(".SCB"), ScaledLayout::kBitsandbytes8);
  if (found < 2) return layout;
  return absl::FailedPreconditionError(absl::StrCat(
      "the file's quantised weights cannot be read: ", source_, ": it has scales of two layouts"));
}

absl::StatusOr<std::vector<float>> Joiner::Scales(const std::string& name, int64_t rows) const {
  const StoredTensor& stored = tensors_.find(name)->second;
  const std::vector<int64_t>& shape = stored.entry->shape;
  if (!FitsRows(shape, rows)) {
    return Error(name, absl::StrCat("a scale of shape [", absl::StrJoin(shape, ","),
                                    "] is neither one for all nor one for each of ", rows,
                                    " rows; Reel does not read scales of blocks"));
  }
  std::vector<float> scales;
  for (int64_t i = 0; i < Elements(*stored.entry); ++i) {
    const std::optional<float> scale = FloatAt(stored, i);
    if (!scale.has_value()) return Error(name, "a scale must be F32, F16 or BF16");
    if (!std::isfinite(*scale) || *scale <= 0) {
      return Error(name, absl::StrCat("a scale must be finite and above 0, not ", *scale));
    }
    scales.push_back(*scale);
  }
  return scales;
}

absl::Status Joiner::Attach(const std::string& weight, const std::string& scale, TensorType codes,
                            float divisor) {
  const auto found = tensors_.find(weight);
  if (found == tensors_.end()) return Error(scale, "a scale without its weight");
  if (!tensors_.contains(scale)) return Error(weight, "codes without their scale");
  StoredTensor& stored = found->second;
  const bool in_bytes = stored.codes.has_value() && IsFloat8(codes);
  const bool is_codes =
      stored.entry->type == codes || (in_bytes && stored.entry->type == TensorType::kU8);
  if (!is_codes || stored.entry->shape.empty()) {
    const std::string_view type = NameOf(stored.entry->type);
    return Error(weight, absl::StrCat("a scaled weight of type ", std::string(type),
                                      ", which its layout does not have"));
  }
  REEL_ASSIGN_OR_RETURN(stored.scales, Scales(scale, stored.entry->shape[0]));
  stored.divisor = divisor;
  tensors_.erase(scale);
  return absl::OkStatus();
}

absl::Status Joiner::JoinModelopt() {
  for (const std::string& scale : NamesWith(".weight_scale")) {
    REEL_RETURN_IF_ERROR(Attach(Without(scale, "_scale"), scale, TensorType::kF8E4M3));
  }
  return absl::OkStatus();
}

absl::Status Joiner::JoinMarked() {
  for (const std::string& marker : NamesWith(kMarker)) {
    const std::string prefix = Without(marker, kMarker);
    if (!prefix.empty() && !prefix.ends_with('.')) continue;
    REEL_RETURN_IF_ERROR(JoinMarkedBy(marker));
  }
  return absl::OkStatus();  // what no marker stands for is left over
}

// The marker's type is that of the codes. Two elements ask for products in 16 bits, which these
// are.
absl::Status Joiner::JoinMarkedBy(const std::string& marker) {
  const TensorEntry& entry = *tensors_.find(marker)->second.entry;
  if (!IsFloat8(entry.type) && entry.type != TensorType::kF32) {
    return Error(marker, "the marker must be F8_E4M3, F8_E5M2 or F32");
  }
  const TensorType codes = IsFloat8(entry.type) ? entry.type : TensorType::kF8E4M3;
  const std::string prefix = Without(marker, kMarker);
  tensors_.erase(marker);
  for (const std::string& scale : NamesWith(".scale_weight")) {
    if (!scale.starts_with(prefix)) continue;
    REEL_RETURN_IF_ERROR(Attach(Without(scale, "scale_weight") + "weight", scale, codes));
  }
  return absl::OkStatus();
}

// Lists in the metadata may leave out the component's prefix.
absl::StatusOr<std::string> Joiner::WeightOf(const std::string& layer) const {
  for (const char* prefix : {"", "model.diffusion_model.", "diffusion_model."}) {
    std::string name = absl::StrCat(prefix, layer, ".weight");
    if (tensors_.contains(name)) return name;
  }
  return Error(layer, absl::StrCat(kLayerFormats, " names a layer that the file does not have"));
}

absl::Status Joiner::AddFormat(const std::string& weight, const std::string& from,
                               const nlohmann::json& format) {
  if (!format.is_object()) return Error(from, "a format must be a JSON object");
  for (const auto& [key, value] : format.items()) {
    const bool known = key == "format" ? value.is_string()
                                       : key == "full_precision_matrix_mult" && value.is_boolean();
    const bool off = key == "convrot" && value.is_boolean() && !value.get<bool>();
    if (!known && !off) return Error(from, absl::StrCat("Reel does not read formats with ", key));
  }
  const std::string name = format.value("format", "");
  std::optional<TensorType> codes;
  if (name == "float8_e4m3fn") codes = TensorType::kF8E4M3;
  if (name == "float8_e5m2") codes = TensorType::kF8E5M2;
  if (name == "int8_tensorwise") codes = TensorType::kI8;
  if (!codes.has_value()) {
    return Error(from, absl::StrCat("Reel does not read the format \"", name.substr(0, 40), "\""));
  }
  const auto found = tensors_.find(weight);
  if (found == tensors_.end()) return Error(from, "a format without its weight");
  const auto [entry, is_new] = formats_.try_emplace(weight, *codes);
  if (!is_new && entry->second != *codes) return Error(from, "a layer of two formats");
  found->second.codes = *codes;
  return absl::OkStatus();
}

absl::Status Joiner::JoinByLayer(const std::string& layer_formats) {
  if (!layer_formats.empty()) {
    REEL_ASSIGN_OR_RETURN(const nlohmann::json list,
                          ParseJson(layer_formats, absl::StrCat(source_, ": ", kLayerFormats)));
    const auto layers = list.find("layers");
    if (layers == list.end() || !layers->is_object()) {
      return Error(kLayerFormats, "the object \"layers\" is missing");
    }
    for (const auto& [layer, format] : layers->items()) {
      REEL_ASSIGN_OR_RETURN(const std::string weight, WeightOf(layer));
      REEL_RETURN_IF_ERROR(AddFormat(weight, layer, format));
    }
  }
  for (const std::string& name : NamesWith(".comfy_quant")) {
    const StoredTensor& stored = tensors_.find(name)->second;
    if (stored.entry->type != TensorType::kU8) return Error(name, "must be U8");
    const auto bytes = stored.bytes();
    REEL_ASSIGN_OR_RETURN(const nlohmann::json format,
                          ParseJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                    absl::StrCat(source_, ": ", name), kMostFormatBytes));
    REEL_RETURN_IF_ERROR(AddFormat(Without(name, "comfy_quant") + "weight", name, format));
    tensors_.erase(name);
  }
  for (const auto& [weight, codes] : formats_) {
    REEL_RETURN_IF_ERROR(Attach(weight, weight + "_scale", codes));
  }
  return absl::OkStatus();
}

absl::Status Joiner::JoinQuanto() {
  for (const std::string& data : NamesWith("._data")) {
    const std::string weight = Without(data, "._data");
    const TensorType type = tensors_.find(data)->second.entry->type;
    if (type != TensorType::kI8 && !IsFloat8(type)) {
      return Error(data, "Reel does not read quanto's 4 and 2 bits");
    }
    auto moved = tensors_.extract(data);
    moved.key() = weight;
    if (!tensors_.insert(std::move(moved)).inserted) {
      return Error(weight, "a weight that the file has as quanto's codes as well");
    }
    REEL_RETURN_IF_ERROR(Attach(weight, weight + "._scale", type));
  }
  return absl::OkStatus();
}

absl::Status Joiner::JoinBitsandbytes() {
  for (const std::string& scale : NamesWith(".SCB")) {
    const std::string layer = Without(scale, "SCB");
    REEL_RETURN_IF_ERROR(Attach(layer + "weight", scale, TensorType::kI8, 127));
    const auto format = tensors_.find(layer + "weight_format");
    if (format == tensors_.end()) continue;
    const auto bytes = format->second.bytes();
    if (format->second.entry->type != TensorType::kU8 || bytes.size() != 1 ||
        bytes[0] != std::byte{0}) {
      return Error(format->first, "Reel reads bitsandbytes' rows (0) alone");
    }
    tensors_.erase(format);
  }
  return absl::OkStatus();
}

// Reel's products in 8 bits have a scale for each row of the input, so these are checked and not
// used.
absl::Status Joiner::DropActivationScales() {
  for (const absl::string_view ending : {".input_scale", ".scale_input", ".output_scale"}) {
    for (const std::string& name : NamesWith(ending)) {
      const std::string weight = Without(name, ending) + ".weight";
      if (!tensors_.contains(weight)) return Error(name, "a scale without its weight");
      REEL_RETURN_IF_ERROR(Scales(name, 1).status());
      tensors_.erase(name);
    }
  }
  return absl::OkStatus();
}

absl::Status Joiner::CheckRest(ScaledLayout layout) const {
  for (const auto& [name, tensor] : tensors_) {
    for (const absl::string_view ending : kEndings) {
      if (absl::EndsWith(name, ending))
        return Error(name, "a scale or a format that belongs to nothing");
    }
    const bool codes = IsFloat8(tensor.type()) || tensor.type() == TensorType::kI8;
    if (layout != ScaledLayout::kNone && codes && tensor.scales.empty()) {
      return Error(name, "codes without their scale");
    }
  }
  return absl::OkStatus();
}

absl::Status Joiner::Join(ScaledLayout layout, const std::string& layer_formats) {
  switch (layout) {
    case ScaledLayout::kNone:
      break;
    case ScaledLayout::kModelopt:
      REEL_RETURN_IF_ERROR(JoinModelopt());
      break;
    case ScaledLayout::kComfyMarked:
      REEL_RETURN_IF_ERROR(JoinMarked());
      break;
    case ScaledLayout::kComfyByLayer:
      REEL_RETURN_IF_ERROR(JoinByLayer(layer_formats));
      break;
    case ScaledLayout::kQuanto:
      REEL_RETURN_IF_ERROR(JoinQuanto());
      break;
    case ScaledLayout::kBitsandbytes8:
      REEL_RETURN_IF_ERROR(JoinBitsandbytes());
      break;
  }
  REEL_RETURN_IF_ERROR(DropActivationScales());
  return CheckRest(layout);
}

}  // namespace

absl::StatusOr<ScaledLayout> JoinScales(StoredTensors& tensors, const std::string& layer_formats,
                                        const std::string& source) {
  Joiner joiner(tensors, source);
  REEL_ASSIGN_OR_RETURN(const ScaledLayout layout, joiner.Layout(layer_formats));
  REEL_RETURN_IF_ERROR(joiner.Join(layout, layer_formats));
  return layout;
}

}  // namespace reel::model
