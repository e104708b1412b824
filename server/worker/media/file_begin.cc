// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/file_begin.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"
#include "server/worker/media/file_head.h"
#include "server/worker/media/frame_groups.h"

namespace reel::worker {
namespace {

absl::Status OtherSettings() {
  return absl::FailedPreconditionError(
      "the file was written with other settings than this server's: another size, rate or effort, "
      "or another release of its encoders");
}

}  // namespace

int FragmentEndUpTo(int most) {
  return most < 1 ? 0 : (most - 1) / kGroupFrames * kGroupFrames + 1;
}

int FragmentEndFrom(int least) { return FragmentEndUpTo(std::max(least, 1) + kGroupFrames - 1); }

absl::StatusOr<TakenBegin> TakenBegin::Open(const FileBegin& begin) {
  REEL_ASSIGN_OR_RETURN(FragmentedFile parts, ReadFragments(*begin.file));
  TakenBegin taken;
  taken.file_ = begin.file;
  taken.head_ = parts.head;
  int frames = 0;
  for (const Fragment& fragment : parts.fragments) {
    if (frames >= begin.frames) break;
    frames += fragment.pictures.samples;
    taken.packets_ += fragment.sound.samples;
    taken.shift_.numbers = fragment.number;
    taken.shift_.pictures = fragment.pictures.end;
    taken.shift_.sound = std::max(taken.shift_.sound, fragment.sound.end);
    taken.fragments_.push_back(fragment);
  }
  if (frames != begin.frames) {
    return absl::FailedPreconditionError(
        absl::StrCat("no fragment of the file ends after ", begin.frames, " frames"));
  }
  return taken;
}

absl::Status TakenBegin::Follow(std::string& written) {
  if (std::exchange(has_head_, false)) {
    if (!written.starts_with(head_)) return OtherSettings();
    written.erase(0, head_.size());
  }
  return MoveFragments(shift_, written);
}

absl::Status CheckBegin(const FileBegin& begin, const VideoFormat& format) {
  REEL_ASSIGN_OR_RETURN(const TakenBegin taken, TakenBegin::Open(begin));
  REEL_ASSIGN_OR_RETURN(const std::string own, HeadOf(format));
  return taken.head() == own ? absl::OkStatus() : OtherSettings();
}

}  // namespace reel::worker
