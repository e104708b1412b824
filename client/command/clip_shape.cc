// SPDX-License-Identifier: Apache-2.0
#include "client/command/clip_shape.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace reel::client {
namespace {

// Limits of what is filled in here. The server refuses what the model cannot make.
constexpr int kSideStep = 64, kLongestSide = 1920;
constexpr double kMostSeconds = 30, kMostRate = 60;
constexpr int64_t kFramesOfALatent = 8;

// 0 behind the end.
uint64_t NumberAt(std::string_view bytes, size_t at, size_t count) {
  if (at > bytes.size() || bytes.size() - at < count) return 0;
  uint64_t value = 0;
  for (const char byte : bytes.substr(at, count)) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

struct BoxPart {
  std::string_view type, payload;
};

// The boxes of a payload, one after the other.
class BoxReader {
 public:
  explicit BoxReader(std::string_view bytes) : left_(bytes) {}

  // nullopt: there is no more, or what follows is broken.
  std::optional<BoxPart> Next() {
    uint64_t size = NumberAt(left_, 0, 4), header = 8;
    if (size == 1) {
      size = NumberAt(left_, 8, 8);
      header = 16;
    } else if (size == 0) {
      size = left_.size();
    }
    if (size < header || size > left_.size()) return std::nullopt;
    const BoxPart box = {left_.substr(4, 4), left_.substr(header, size - header)};
    left_.remove_prefix(size);
    return box;
  }

 private:
  std::string_view left_;
};

// The first box of this type; empty: there is none.
std::string_view Inside(std::string_view payload, std::string_view type) {
  BoxReader boxes(payload);
  while (const auto box = boxes.Next()) {
    if (box->type == type) return box->payload;
  }
  return {};
}

struct PictureTrack {
  uint64_t id = 0, timescale = 0, each = 0;  // `each`: units of a picture in fragments
  ClipShape shape;
  double units = 0;  // of all pictures
};

void Count(uint64_t pictures, uint64_t units, PictureTrack& track) {
  constexpr uint64_t kMost = 1'000'000;
  track.shape.frames += static_cast<int64_t>(std::min(pictures, kMost));
  track.units += static_cast<double>(std::min(pictures, kMost)) * static_cast<double>(units);
}

void TakeHeader(std::string_view tkhd, PictureTrack& track) {
  const bool is_long = NumberAt(tkhd, 0, 1) == 1;
  track.id = NumberAt(tkhd, is_long ? 20 : 12, 4);
  const size_t matrix = is_long ? 52 : 40;
  const auto side = [&](size_t at) { return static_cast<int>(NumberAt(tkhd, matrix + at, 2)); };
  track.shape.width = side(36);
  track.shape.height = side(40);
  // Turned by a quarter: x follows y alone.
  const bool lies = NumberAt(tkhd, matrix, 4) == 0 && NumberAt(tkhd, matrix + 4, 4) != 0;
  if (lies) std::swap(track.shape.width, track.shape.height);
}

std::optional<PictureTrack> TrackOf(std::string_view moov) {
  BoxReader boxes(moov);
  while (const auto box = boxes.Next()) {
    const std::string_view mdia = Inside(box->payload, "mdia"), hdlr = Inside(mdia, "hdlr");
    if (box->type != "trak" || hdlr.size() < 12 || hdlr.substr(8, 4) != "vide") continue;
    PictureTrack track;
    TakeHeader(Inside(box->payload, "tkhd"), track);
    const std::string_view mdhd = Inside(mdia, "mdhd");
    track.timescale = NumberAt(mdhd, NumberAt(mdhd, 0, 1) == 1 ? 20 : 12, 4);
    const std::string_view stts = Inside(Inside(Inside(mdia, "minf"), "stbl"), "stts");
    for (size_t at = 8; at + 8 <= stts.size(); at += 8) {
      Count(NumberAt(stts, at, 4), NumberAt(stts, at + 4, 4), track);
    }
    BoxReader fragments(Inside(moov, "mvex"));
    while (const auto trex = fragments.Next()) {
      const bool is_its = trex->type == "trex" && NumberAt(trex->payload, 4, 4) == track.id;
      if (is_its) track.each = NumberAt(trex->payload, 12, 4);
    }
    return track;
  }
  return std::nullopt;
}

// The pictures of a `trun`, each of `each` units unless it says otherwise.
void CountRun(std::string_view trun, uint64_t each, PictureTrack& track) {
  const uint64_t flags = NumberAt(trun, 1, 3), count = NumberAt(trun, 4, 4);
  const auto has = [&](uint64_t flag) { return (flags & flag) != 0 ? size_t{4} : size_t{0}; };
  const size_t entry = has(0x100) + has(0x200) + has(0x400) + has(0x800);
  if (has(0x100) == 0) return Count(count, each, track);
  size_t at = 8 + has(0x1) + has(0x4);
  for (uint64_t i = 0; i < count && at + entry <= trun.size(); ++i, at += entry) {
    Count(1, NumberAt(trun, at, 4), track);
  }
}

void CountFragment(std::string_view moof, PictureTrack& track) {
  BoxReader boxes(moof);
  while (const auto traf = boxes.Next()) {
    const std::string_view tfhd = Inside(traf->payload, "tfhd");
    if (traf->type != "traf" || NumberAt(tfhd, 4, 4) != track.id) continue;
    const uint64_t flags = NumberAt(tfhd, 1, 3);
    const size_t at = 8 + ((flags & 0x1) != 0 ? 8 : 0) + ((flags & 0x2) != 0 ? 4 : 0);
    const uint64_t each = (flags & 0x8) != 0 ? NumberAt(tfhd, at, 4) : track.each;
    BoxReader runs(traf->payload);
    while (const auto run = runs.Next()) {
      if (run->type == "trun") CountRun(run->payload, each, track);
    }
  }
}

int SideFor(int side, double factor) {
  const auto steps = static_cast<int>(std::lround(side * factor / kSideStep));
  return std::max(steps, 1) * kSideStep;
}

}  // namespace

ClipShape ShapeOfClip(std::string_view file) {
  auto track = TrackOf(Inside(file, "moov"));
  if (!track) return {};
  BoxReader boxes(file);
  while (const auto box = boxes.Next()) {
    if (box->type == "moof") CountFragment(box->payload, *track);
  }
  if (track->units > 0) {
    const double rate = static_cast<double>(track->shape.frames) *
                        static_cast<double>(track->timescale) / track->units;
    // A file's clock may be too coarse for its rate.
    const double whole = std::round(rate);
    track->shape.frame_rate = std::abs(rate - whole) < 2e-4 * rate ? whole : rate;
  }
  return track->shape;
}

void FillFromClip(const ClipShape& clip, v1::VideoSpec& spec) {
  if (spec.width() == 0 && spec.height() == 0 && clip.width > 0 && clip.height > 0) {
    const int longest = std::max(clip.width, clip.height);
    const double factor = std::min(2.0, static_cast<double>(kLongestSide) / longest);
    spec.set_width(SideFor(clip.width, factor));
    spec.set_height(SideFor(clip.height, factor));
  }
  const bool is_usual = clip.frame_rate >= 1 && clip.frame_rate <= kMostRate;
  if (spec.frame_rate() == 0 && is_usual) spec.set_frame_rate(clip.frame_rate);
  if (spec.num_frames() > 0 || spec.frame_rate() <= 0 || !is_usual || clip.frames < 1) return;
  const double seconds = static_cast<double>(clip.frames) / clip.frame_rate;
  const auto frames =
      static_cast<int64_t>(std::floor(std::min(seconds, kMostSeconds) * spec.frame_rate() + 1e-6));
  spec.set_num_frames(static_cast<int>(
      (std::max<int64_t>(frames, 1) - 1) / kFramesOfALatent * kFramesOfALatent + 1));
}

}  // namespace reel::client
