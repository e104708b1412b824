// SPDX-License-Identifier: Apache-2.0
#include "server/worker/media/fragmented_file.h"

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "kernels/base/status_macros.h"

namespace reel::worker {
namespace {

constexpr size_t kBoxHead = 8;
constexpr uint32_t kPictures = 1, kSound = 2;  // numbers of the tracks
// Flags of a track's fragment and of its runs that FragmentWriter's files can have.
constexpr uint32_t kBaseOffset = 0x1, kDescription = 0x2, kDefaultDuration = 0x8;
constexpr uint32_t kDataOffset = 0x1, kFirstFlags = 0x4, kDuration = 0x100;
constexpr uint32_t kPerSample[] = {0x200, 0x400, 0x800};  // beside a duration, 4 bytes each

absl::Status NoSuchFile(const char* why) {
  return absl::FailedPreconditionError(
      absl::StrCat("the file is none that this server has written: ", why));
}

// A box, by places in the bytes that it was read from.
struct FileBox {
  std::string_view type;
  size_t begin = 0, payload = 0, end = 0;
};

// Numbers of a box, big-endian. Behind its end all are 0, and it is no longer good.
class BoxNumbers {
 public:
  BoxNumbers(std::string_view bytes, const FileBox& box)
      : bytes_(bytes.substr(0, box.end)), at_(box.payload) {}

  uint64_t Next(size_t size) {
    if (size > bytes_.size() - at_) {
      good_ = false;
      return 0;
    }
    uint64_t number = 0;
    for (const size_t end = at_ + size; at_ < end; ++at_) {
      number = number << 8 | static_cast<uint8_t>(bytes_[at_]);
    }
    return number;
  }
  uint32_t Next32() { return static_cast<uint32_t>(Next(sizeof(uint32_t))); }
  size_t at() const { return at_; }
  bool good() const { return good_; }

 private:
  const std::string_view bytes_;
  size_t at_;
  bool good_ = true;
};

absl::StatusOr<std::vector<FileBox>> BoxesIn(std::string_view bytes, size_t begin, size_t end) {
  std::vector<FileBox> boxes;
  for (size_t at = begin; at < end;) {
    if (end - at < kBoxHead) return NoSuchFile("it ends in a box");
    FileBox box{bytes.substr(at + 4, 4), at, at + kBoxHead, end};
    const uint64_t size = BoxNumbers(bytes, {{}, at, at, end}).Next(4);
    if (size < kBoxHead || size > end - at) return NoSuchFile("a box has a wrong size");
    box.end = at + static_cast<size_t>(size);
    at = box.end;
    boxes.push_back(box);
  }
  return boxes;
}

// Calls `on` with the boxes in each moof's mfhd and each track's fragment.
absl::Status WalkMoof(std::string_view bytes, const FileBox& moof,
                      absl::FunctionRef<absl::Status(const FileBox& box)> on) {
  REEL_ASSIGN_OR_RETURN(const auto parts, BoxesIn(bytes, moof.payload, moof.end));
  for (const FileBox& part : parts) {
    if (part.type != "traf") {
      REEL_RETURN_IF_ERROR(on(part));
      continue;
    }
    REEL_ASSIGN_OR_RETURN(const auto boxes, BoxesIn(bytes, part.payload, part.end));
    for (const FileBox& box : boxes) REEL_RETURN_IF_ERROR(on(box));
  }
  return absl::OkStatus();
}

// Reads what a moof says of its fragment.
class MoofReader {
 public:
  explicit MoofReader(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<Fragment> Read(const FileBox& moof) {
    REEL_RETURN_IF_ERROR(WalkMoof(bytes_, moof, [this](const FileBox& box) { return On(box); }));
    if (fragment_.number == 0 || fragment_.pictures.samples == 0) {
      return NoSuchFile("a fragment has no number or no pictures");
    }
    return fragment_;
  }

 private:
  absl::Status On(const FileBox& box) {
    BoxNumbers numbers(bytes_, box);
    const uint32_t head = numbers.Next32();
    const uint32_t flags = head & 0xFFFFFF;
    if (box.type == "mfhd") fragment_.number = numbers.Next32();
    if (box.type == "tfhd") REEL_RETURN_IF_ERROR(OnTrack(flags, numbers));
    if (box.type == "tfdt") {
      if (track_ == nullptr || head >> 24 != 1) return NoSuchFile("a track has no time");
      track_->begin = track_->end = static_cast<int64_t>(numbers.Next(8));
    }
    if (box.type == "trun") REEL_RETURN_IF_ERROR(OnRun(flags, numbers));
    return numbers.good() ? absl::OkStatus() : NoSuchFile("a box is too short");
  }
  absl::Status OnTrack(uint32_t flags, BoxNumbers& numbers) {
    const uint32_t track = numbers.Next32();
    if (track != kPictures && track != kSound) return NoSuchFile("it has other tracks");
    if ((flags & kBaseOffset) != 0) return NoSuchFile("a fragment depends on its place");
    track_ = track == kPictures ? &fragment_.pictures : &fragment_.sound;
    if ((flags & kDescription) != 0) numbers.Next32();
    default_duration_ = (flags & kDefaultDuration) != 0 ? numbers.Next32() : 0;
    return absl::OkStatus();
  }
  absl::Status OnRun(uint32_t flags, BoxNumbers& numbers) {
    if (track_ == nullptr) return NoSuchFile("samples have no track");
    const uint32_t samples = numbers.Next32();
    // Each has 16 bytes of its own at most, in a box that is there, or no more than its data has.
    if (samples > bytes_.size()) return NoSuchFile("a fragment has too many samples");
    if ((flags & kDataOffset) != 0) numbers.Next32();
    if ((flags & kFirstFlags) != 0) numbers.Next32();
    track_->samples += static_cast<int>(samples);
    for (uint32_t i = 0; i < samples && numbers.good(); ++i) {
      track_->end += (flags & kDuration) != 0 ? numbers.Next32() : default_duration_;
      for (const uint32_t other : kPerSample) {
        if ((flags & other) != 0) numbers.Next32();
      }
    }
    return absl::OkStatus();
  }

  const std::string_view bytes_;
  Fragment fragment_;
  TrackRun* track_ = nullptr;
  uint32_t default_duration_ = 0;
};

void Put(uint64_t number, size_t size, size_t at, std::string& bytes) {
  for (size_t i = 0; i < size; ++i) {
    bytes[at + i] = static_cast<char>(number >> 8 * (size - 1 - i) & 0xFF);
  }
}

}  // namespace

absl::StatusOr<FragmentedFile> ReadFragments(std::string_view file) {
  REEL_ASSIGN_OR_RETURN(const auto boxes, BoxesIn(file, 0, file.size()));
  if (boxes.size() < 2 || boxes[0].type != "ftyp" || boxes[1].type != "moov") {
    return NoSuchFile("it does not begin with a head");
  }
  FragmentedFile parts;
  parts.head = file.substr(0, boxes[1].end);
  for (size_t i = 2; i < boxes.size(); ++i) {
    if (boxes[i].type == "uuid" && parts.fragments.empty()) continue;
    if (boxes[i].type != "moof" || i + 1 == boxes.size() || boxes[i + 1].type != "mdat") {
      return NoSuchFile("something other than fragments follows its head");
    }
    REEL_ASSIGN_OR_RETURN(Fragment fragment, MoofReader(file).Read(boxes[i]));
    if (fragment.number != parts.fragments.size() + 1) return NoSuchFile("a fragment is missing");
    const size_t begin = boxes[i++].begin;
    fragment.bytes = file.substr(begin, boxes[i].end - begin);
    parts.fragments.push_back(fragment);
  }
  return parts;
}

int FragmentedFile::num_frames() const {
  int frames = 0;
  for (const Fragment& fragment : fragments) frames += fragment.pictures.samples;
  return frames;
}

absl::Status MoveFragments(const FragmentShift& by, std::string& bytes) {
  REEL_ASSIGN_OR_RETURN(const auto boxes, BoxesIn(bytes, 0, bytes.size()));
  int64_t time = 0;
  const auto move = [&](const FileBox& box) -> absl::Status {
    BoxNumbers numbers(bytes, box);
    numbers.Next32();
    const size_t at = numbers.at();
    const size_t size = box.type == "tfdt" ? 8 : 4;
    const uint64_t number = numbers.Next(size);
    if (!numbers.good()) return NoSuchFile("a box is too short");
    if (box.type == "tfhd") time = number == kPictures ? by.pictures : by.sound;
    if (box.type == "mfhd") Put(number + by.numbers, size, at, bytes);
    if (box.type == "tfdt") Put(number + static_cast<uint64_t>(time), size, at, bytes);
    return absl::OkStatus();
  };
  for (const FileBox& box : boxes) {
    if (box.type == "moof") REEL_RETURN_IF_ERROR(WalkMoof(bytes, box, move));
  }
  return absl::OkStatus();
}

}  // namespace reel::worker
