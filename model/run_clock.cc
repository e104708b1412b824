// SPDX-License-Identifier: Apache-2.0
#include "model/run_clock.h"

#include <algorithm>
#include <utility>

namespace reel::model {
namespace {

constexpr size_t kMostSpans = 512;

constexpr bool IsAtWorker(RunPart part) {
  return (part >= RunPart::kHandover && part <= RunPart::kEncode) || part == RunPart::kSound;
}

constexpr std::array<std::string_view, kRunParts> kNames = {
    "unknown", "accept",  "queue",   "lost",   "handover", "conditions", "text", "wait",
    "parked",  "denoise", "preview", "decode", "encode",   "file",       "sound"};

}  // namespace

std::string_view PartName(RunPart part) { return kNames[static_cast<size_t>(part)]; }

RunPart PartOf(Stage stage) {
  switch (stage) {
    case Stage::kTextEncode:
    case Stage::kConditionEncode:
      return RunPart::kText;
    case Stage::kDenoise:
      return RunPart::kDenoise;
    case Stage::kSound:
      return RunPart::kSound;
    case Stage::kDecode:
      return RunPart::kDecode;
    case Stage::kEncode:
      return RunPart::kEncode;
    case Stage::kQueue:
    case Stage::kUnspecified:
      break;
  }
  return RunPart::kHandover;
}

void RunClock::Enter(RunPart part, absl::Duration now, const Facts& facts) {
  if (part_ == RunPart::kUnspecified) {
    origin_ = now;
  } else {
    Close(now);
  }
  if (IsAtWorker(part) && !IsAtWorker(part_)) attempt_start_ = now - origin_;
  part_ = part;
  since_ = now;
  facts_ = facts;
}

void RunClock::Close(absl::Duration now) {
  const absl::Duration took = now - since_;
  times_[static_cast<size_t>(part_)] += took;
  if (part_ != RunPart::kWait && took > absl::ZeroDuration()) {
    Add({part_, since_ - origin_, took, facts_.step, facts_.jobs, facts_.timed});
  }
}

void RunClock::Add(const PartSpan& span) {
  if (!spans_.empty() && span.step == 0) {
    PartSpan& last = spans_.back();
    if (last.part == span.part && last.start + last.duration == span.start) {
      last.duration += span.duration;
      return;
    }
  }
  if (spans_.size() < kMostSpans) spans_.push_back(span);
}

absl::Duration RunClock::TakeAttempt() {
  absl::Duration taken;
  for (size_t i = 0; i < kRunParts; ++i) {
    if (IsAtWorker(static_cast<RunPart>(i))) taken += std::exchange(times_[i], {});
  }
  std::erase_if(spans_, [](const PartSpan& span) { return IsAtWorker(span.part); });
  return taken;
}

void RunClock::LoseAttempt(absl::Duration now) {
  if (!IsAtWorker(part_)) return;
  Enter(RunPart::kLost, now);
  const absl::Duration lost = TakeAttempt();
  times_[static_cast<size_t>(RunPart::kLost)] += lost;
  Add({RunPart::kLost, attempt_start_, lost});
}

void RunClock::Detail(const std::vector<PartTime>& parts, const std::vector<PartSpan>& spans) {
  if (parts.empty() || IsAtWorker(part_)) return;
  absl::Duration rest = TakeAttempt();
  for (const PartTime& known : parts) {
    if (!IsAtWorker(known.part)) continue;
    times_[static_cast<size_t>(known.part)] += known.time;
    rest -= known.time;
  }
  times_[static_cast<size_t>(RunPart::kHandover)] += std::max(rest, absl::ZeroDuration());
  for (PartSpan span : spans) {
    span.start += attempt_start_;
    if (IsAtWorker(span.part)) Add(span);
  }
}

std::vector<PartTime> RunClock::Parts(absl::Duration now) const {
  std::vector<PartTime> parts;
  for (size_t i = 1; i < kRunParts; ++i) {
    const auto part = static_cast<RunPart>(i);
    const absl::Duration time = times_[i] + (part == part_ ? now - since_ : absl::ZeroDuration());
    if (time > absl::ZeroDuration()) parts.push_back({part, time});
  }
  return parts;
}

std::vector<PartSpan> RunClock::Spans(absl::Duration now) const {
  RunClock ended = *this;
  if (part_ != RunPart::kUnspecified) ended.Close(now);
  std::stable_sort(ended.spans_.begin(), ended.spans_.end(),
                   [](const PartSpan& a, const PartSpan& b) { return a.start < b.start; });
  return ended.spans_;
}

}  // namespace reel::model
