// SPDX-License-Identifier: Apache-2.0
#include "client/command/progress_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/quantity.h"

namespace reel::client {
namespace {

constexpr int kLongestBar = 30;
constexpr int kShortestBar = 8;
constexpr int kStageColumns = 10;

const char* StageName(v1::Stage stage) {
  switch (stage) {
    case v1::STAGE_QUEUE:
      return "queued";
    case v1::STAGE_TEXT_ENCODE:
      return "text";
    case v1::STAGE_CONDITION_ENCODE:
      return "conditions";
    case v1::STAGE_DENOISE:
      return "denoise";
    case v1::STAGE_SOUND:
      return "sound";
    case v1::STAGE_DECODE:
      return "decode";
    case v1::STAGE_ENCODE:
      return "encode";
    default:
      return "accepted";
  }
}

std::string ProgressBar(double fraction, int columns) {
  const int inner = columns - 2;
  const int filled = static_cast<int>(std::floor(fraction * inner));
  std::string bar = "[" + std::string(static_cast<size_t>(filled), '=');
  if (filled < inner) bar += '>';
  bar.resize(static_cast<size_t>(columns - 1), ' ');
  return bar + "]";
}

// Ordered by importance.
std::vector<std::string> Facts(const ProgressView& view) {
  std::vector<std::string> facts;
  if (view.queue_position > 0) facts.push_back(absl::StrCat(view.queue_position, " ahead"));
  if (view.num_steps > 0 && view.step > 0) {
    facts.push_back(absl::StrCat("step ", view.step, "/", view.num_steps));
  }
  if (view.remaining > absl::ZeroDuration()) {
    facts.push_back(absl::StrCat(HumanDuration(view.remaining), " left"));
  }
  if (view.bytes > 0) facts.push_back(HumanBytes(view.bytes));
  if (!view.note.empty()) facts.push_back(view.note);
  return facts;
}

}  // namespace

ProgressView ViewOf(const v1::Progress& progress) {
  ProgressView view;
  view.stage = StageName(progress.stage());
  view.fraction = progress.fraction();
  view.step = progress.step();
  view.num_steps = progress.num_steps();
  view.queue_position = progress.queue_position();
  view.remaining = FromProto(progress.remaining());
  return view;
}

std::string RenderProgress(const ProgressView& view, int width) {
  const int room = std::max(width - 1, 0);
  const double fraction = std::isfinite(view.fraction) ? std::clamp(view.fraction, 0.0, 1.0) : 0.0;
  std::string head = view.stage;
  head.resize(std::max(head.size(), static_cast<size_t>(kStageColumns)), ' ');
  const std::string percent =
      absl::StrFormat(" %3d%%", static_cast<int>(std::floor(fraction * 100)));
  int used = static_cast<int>(head.size() + percent.size());
  if (used > room) return percent.substr(0, static_cast<size_t>(room));
  // Facts come before the bar, which repeats the percentage.
  std::string tail;
  for (const std::string& fact : Facts(view)) {
    const int columns = static_cast<int>(fact.size()) + 2;
    if (used + columns > room) break;
    used += columns;
    absl::StrAppend(&tail, "  ", fact);
  }
  const int bar = std::min(kLongestBar, room - used - 1);
  if (bar >= kShortestBar) absl::StrAppend(&head, " ", ProgressBar(fraction, bar));
  return absl::StrCat(head, percent, tail);
}

}  // namespace reel::client
