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
  if (absl::IsResourceExhausted(check.status)) {
    return "Take a device with more memory, or a smaller model.";
  }
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

int64_t WeightBytesOf(const model::ModelCard& card) {
  return card.fit.has_value() ? card.fit->weight_bytes() : card.weight_bytes;
}

double Gigabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

// A line for each part, and what is copied; empty without a plan.
std::string FitText(const model::ModelCard& card) {
  if (!card.fit.has_value()) return "";
  const model::FitPlan& fit = *card.fit;
  std::string text;
  for (const model::FitPart& part : fit.parts) {
    absl::StrAppendFormat(&text, "  %s: %.1f GB on the device, %.1f GB on the host\n", part.name,
                          Gigabytes(part.device), Gigabytes(part.host));
  }
  absl::StrAppendFormat(&text, "  of %.1f GB that can be used the default video takes %.1f\n",
                        Gigabytes(fit.usable), Gigabytes(fit.usual_video));
  return text;
}

nlohmann::ordered_json FitJson(const model::FitPlan& fit) {
  nlohmann::ordered_json json = {{"usable", fit.usable},
                                 {"deviceBytes", fit.device_bytes()},
                                 {"hostBytes", fit.host_bytes()},
                                 {"defaultVideo", fit.usual_video},
                                 {"left", fit.left()},
                                 {"residentBlocks", fit.resident_blocks},
                                 {"streamedBlocks", fit.streamed_blocks},
                                 {"stepCopies", fit.step_copies},
                                 {"textCopies", fit.text_copies},
                                 {"pictureCopies", fit.picture_copies}};
  for (const model::FitPart& part : fit.parts) {
    json["parts"].push_back({{"name", part.name}, {"device", part.device}, {"host", part.host}});
  }
  return json;
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
  return absl::StrFormat("%s can be loaded: %s, %.1f million parameters, %.1f MB as %s%s\n%s",
                         ModelOf(options), card.family, static_cast<double>(card.parameters) / 1e6,
                         static_cast<double>(WeightBytesOf(card)) / 1e6, DtypeOf(card),
                         PartsText(options) + AdaptersText(card), FitText(card));
}

std::string CheckJson(const model::ModelCheck& check, const RenderOptions& options) {
  nlohmann::ordered_json line = {{"model", ModelOf(options)}, {"ok", check.status.ok()}};
  if (check.status.ok()) {
    line["family"] = check.card.family;
    line["parameters"] = check.card.parameters;
    line["weightBytes"] = WeightBytesOf(check.card);
    line["dtype"] = DtypeOf(check.card);
    if (check.card.fit.has_value()) line["fit"] = FitJson(*check.card.fit);
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
