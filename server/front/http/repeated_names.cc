// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/repeated_names.h"

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

constexpr size_t kMostViolations = 8;

}  // namespace

void RepeatedNames::See(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
  using Event = nlohmann::json::parse_event_t;
  switch (event) {
    case Event::object_start:
    case Event::array_start:
      BeginValue();
      open_.emplace_back().is_array = event == Event::array_start;
      break;
    case Event::object_end:
    case Event::array_end:
      open_.pop_back();
      break;
    case Event::key:
      TakeName(parsed.get_ref<const std::string&>());
      break;
    case Event::value:
      BeginValue();
      break;
  }
}

void RepeatedNames::BeginValue() {
  if (!open_.empty() && open_.back().is_array) ++open_.back().members;
}

void RepeatedNames::TakeName(const std::string& name) {
  open_.back().name = name;
  // Paths are put together for what is told only: names can be long, and many.
  if (open_.back().names.insert(name).second || violations_.size() >= kMostViolations) return;
  violations_.push_back({Path(), "must be given once"});
}

std::string RepeatedNames::Path() const {
  std::string path;
  for (const Level& level : open_) {
    if (level.is_array) {
      absl::StrAppend(&path, "[", level.members - 1, "]");
    } else {
      absl::StrAppend(&path, path.empty() ? "" : ".", level.name);
    }
  }
  return path;
}

}  // namespace reel::front
