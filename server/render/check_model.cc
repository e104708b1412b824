// SPDX-License-Identifier: Apache-2.0
#include "server/render/check_model.h"

#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace reel::render {
namespace {

using Wrong = model::ModelCheck::Wrong;

std::string ModelOf(const RenderOptions& options) {
  return options.model_path.empty() ? "testcard" : options.model_path;
}

// The type that weights are stored in: each operator's call of the card names it.
std::string DtypeOf(const model::ModelCard& card) {
  return card.calls.empty() || card.weight_bytes == 0 ? "" : card.calls.front().dtype;
}

// Advice for a problem, beyond its own message.
std::string AdviceOf(const model::ModelCheck& check) {
  if (check.wrong == Wrong::kPath) {
    return "Name a folder that has model_index.json, or a file of weights, of a model that this "
           "build reads.";
  }
  if (absl::IsInvalidArgument(check.status)) return "Take one of the types that are named.";
  if (absl::IsNotFound(check.status)) {
    return "A part of the model is not there: fetch it whole, with all the folders that its "
           "model_index.json names.";
  }
  return "Its files are damaged, or do not belong together: compare them with their source "
         "(sha256sum), or fetch them again.";
}

// ", transformer from t.gguf"; empty without parts.
std::string PartsText(const RenderOptions& options) {
  std::string text;
  for (const model::PartFile& file : options.parts) {
    absl::StrAppend(&text, ", ", std::string(model::NameOf(file.part)), " from ",
                    std::filesystem::path(file.path).filename().string());
  }
  return text;
}

// ", with style.safetensors times 0.8"; empty without adapters.
std::string AdaptersText(const model::ModelCard& card) {
  std::string text;
  for (const model::FixedAdapter& adapter : card.fixed_adapters) {
    absl::StrAppend(&text, ", with ", adapter.name, " times ", adapter.scale);
    if (adapter.idle_layers > 0) {
      absl::StrAppend(&text, ", which changes nothing in ", adapter.idle_layers, " of its layers");
    }
  }
  return text;
}

}  // namespace

std::string CheckText(const model::ModelCheck& check, const RenderOptions& options) {
  if (!check.status.ok()) {
    return absl::StrCat(std::string(check.status.message()), "\n", AdviceOf(check), "\n");
  }
  const model::ModelCard& card = check.card;
  if (card.parameters == 0) {
    return absl::StrCat(ModelOf(options), " can be loaded: ", card.family, "\n");
  }
  return absl::StrFormat("%s can be loaded: %s, %.1f million parameters, %.1f MB as %s%s\n",
                         ModelOf(options), card.family, static_cast<double>(card.parameters) / 1e6,
                         static_cast<double>(card.weight_bytes) / 1e6, DtypeOf(card),
                         PartsText(options) + AdaptersText(card));
}

std::string CheckJson(const model::ModelCheck& check, const RenderOptions& options) {
  nlohmann::ordered_json line = {{"model", ModelOf(options)}, {"ok", check.status.ok()}};
  if (check.status.ok()) {
    line["family"] = check.card.family;
    line["parameters"] = check.card.parameters;
    line["weightBytes"] = check.card.weight_bytes;
    line["dtype"] = DtypeOf(check.card);
    for (const model::FixedAdapter& adapter : check.card.fixed_adapters) {
      line["adapters"].push_back({{"name", adapter.name},
                                  {"scale", adapter.scale},
                                  {"sha256", adapter.sha256},
                                  {"idleLayers", adapter.idle_layers}});
    }
    for (const model::PartFile& file : options.parts) {
      line["parts"][std::string(model::NameOf(file.part))] = file.path;
    }
  } else {
    line["problem"] = std::string(check.status.message());
    line["advice"] = AdviceOf(check);
  }
  // A path that is not text is printed as far as possible.
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int CheckAndPrint(const RenderOptions& options, kernels::DeviceStream stream) {
  const model::ModelCheck check = model::CheckModel(LoadOptionsOf(options), stream);
  if (options.json) {
    std::fputs(CheckJson(check, options).c_str(), stdout);
  } else {
    std::fputs(CheckText(check, options).c_str(), check.status.ok() ? stdout : stderr);
  }
  return check.status.ok() ? kSuccess : kFailed;
}

}  // namespace reel::render
