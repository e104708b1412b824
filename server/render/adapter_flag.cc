// SPDX-License-Identifier: Apache-2.0
#include "server/render/adapter_flag.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "kernels/base/program/adapter_word.h"
#include "model/adapters/adapter_file.h"

namespace reel::render {

model::FixedAdapter AdapterOfFlag(const std::string& text) {
  const AdapterWord word = ParseAdapterWord(text);
  model::FixedAdapter adapter = {.path = word.name, .scale = word.scale.value_or(1)};
  adapter.name = std::filesystem::path(adapter.path).filename().string();
  return adapter;
}

std::string AdapterProblem(const std::string& word) {
  const model::FixedAdapter adapter = AdapterOfFlag(word);
  if (adapter.name.empty()) return absl::StrCat("\"", word, "\" is not FILE", kAdapterScales);
  if (std::abs(adapter.scale) <= model::kMostAdapterScale) return "";
  return absl::StrCat("the scale of \"", word, "\" is not ", -model::kMostAdapterScale, " to ",
                      model::kMostAdapterScale);
}

std::vector<model::FixedAdapter> AdaptersOfFlags(const std::vector<std::string>& words) {
  std::vector<model::FixedAdapter> adapters;
  for (const std::string& word : words) adapters.push_back(AdapterOfFlag(word));
  return adapters;
}

std::vector<model::RequestAdapter> RequestAdaptersOf(const std::vector<std::string>& words) {
  std::vector<model::RequestAdapter> wanted;
  for (const std::string& text : words) {
    const model::FixedAdapter file = AdapterOfFlag(text);
    const AdapterWord word = ParseAdapterWord(text);
    wanted.push_back({.name = file.name,
                      .scale = file.scale,
                      .path = file.path,
                      .part_scales = word.part_scales,
                      .pass_scales = word.pass_scales});
  }
  return wanted;
}

void ReadReferenceScales(std::vector<model::RequestAdapter>& adapters) {
  for (model::RequestAdapter& adapter : adapters) {
    const auto file = model::AdapterFile::Open(adapter.path);
    if (file.ok()) adapter.reference = file->reference();
  }
}

bool HaveFurtherScales(const std::vector<model::RequestAdapter>& adapters) {
  return std::any_of(adapters.begin(), adapters.end(), [](const model::RequestAdapter& adapter) {
    return !adapter.part_scales.empty() || !adapter.pass_scales.empty();
  });
}

}  // namespace reel::render
