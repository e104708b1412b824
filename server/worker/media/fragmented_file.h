// SPDX-License-Identifier: Apache-2.0
// A file of VideoEncoder by its parts: the head, and the fragments with what they hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reel::worker {

// What a fragment has of a track. Times are in the track's own units.
struct TrackRun {
  int samples = 0;  // pictures, or packets of sound
  int64_t begin = 0, end = 0;
};

struct Fragment {
  std::string_view bytes;
  uint32_t number = 0;  // of the first one: 1
  TrackRun pictures, sound;
};

// Views of the file's bytes.
struct FragmentedFile {
  std::string_view head;  // ftyp and moov, without the boxes that say how it was made
  std::vector<Fragment> fragments;

  int num_frames() const;
};

// Expects hostile bytes. FAILED_PRECONDITION: they are no such file, or not a whole one.
absl::StatusOr<FragmentedFile> ReadFragments(std::string_view file);

// How far fragments are moved so that they follow others.
struct FragmentShift {
  uint32_t numbers = 0;
  int64_t pictures = 0, sound = 0;  // time
};

// `bytes`: whole fragments, without a head.
absl::Status MoveFragments(const FragmentShift& by, std::string& bytes);

}  // namespace reel::worker
