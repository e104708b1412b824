// SPDX-License-Identifier: Apache-2.0
#include "server/render/adapter_flag.h"

#include <cmath>
#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/adapters/adapter_file.h"

namespace reel::render {

model::FixedAdapter AdapterOfFlag(const std::string& word) {
  model::FixedAdapter adapter = {.path = word};
  const size_t colon = word.rfind(':');
  double scale = 0;  // SimpleAtod also writes what is no number
  if (colon != std::string::npos && absl::SimpleAtod(word.substr(colon + 1), &scale)) {
    adapter.path = word.substr(0, colon);
    adapter.scale = scale;
  }
  adapter.name = std::filesystem::path(adapter.path).filename().string();
  return adapter;
}

std::string AdapterProblem(const std::string& word) {
  const model::FixedAdapter adapter = AdapterOfFlag(word);
  if (adapter.name.empty()) return absl::StrCat("\"", word, "\" is not FILE[:SCALE]");
  if (std::abs(adapter.scale) <= model::kMostAdapterScale) return "";
  return absl::StrCat("the scale of \"", word, "\" is not ", -model::kMostAdapterScale, " to ",
                      model::kMostAdapterScale);
}

std::vector<model::FixedAdapter> AdaptersOfFlags(const std::vector<std::string>& words) {
  std::vector<model::FixedAdapter> adapters;
  for (const std::string& word : words) adapters.push_back(AdapterOfFlag(word));
  return adapters;
}

std::vector<model::RequestAdapter> RequestAdaptersOf(
    const std::vector<model::FixedAdapter>& adapters) {
  std::vector<model::RequestAdapter> wanted;
  for (const model::FixedAdapter& adapter : adapters) {
    wanted.push_back({adapter.name, adapter.scale, "", adapter.path});
  }
  return wanted;
}

void ReadReferenceScales(std::vector<model::RequestAdapter>& adapters) {
  for (model::RequestAdapter& adapter : adapters) {
    const auto file = model::AdapterFile::Open(adapter.path);
    if (file.ok()) adapter.reference = file->reference();
  }
}

}  // namespace reel::render
