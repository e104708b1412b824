// SPDX-License-Identifier: Apache-2.0
// The begin of a file that is another file's: its fragments byte for byte, up to a picture. What an
// encoder makes follows as if one encoder had made all.
//
// Note: [Joined files]. Every fragment begins with a key frame, and a head tells only size, rate
// and codecs. So fragments of two files with equal heads make one file, once the numbers and times
// of the later ones go on. Sound does not end where pictures do: a fragment has three packets more,
// and a packet is heard together with the one before it. So an encoder begins with the source's own
// sound, decoded. Four packets in front of the seam are thrown away; the first that is written is
// heard with the source's last one. Within the next packet the source's sound goes over into the
// new sound. Where the held latents are, both are the same, and nothing changes; elsewhere it keeps
// the seam from being heard. New sound begins with its pictures, not where the source's latents of
// sound would have it: a chain of joined files stays in step.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/worker/media/fragmented_file.h"
#include "server/worker/media/video_format.h"

namespace reel::worker {

struct FileBegin {
  std::shared_ptr<const std::string> file;
  int frames = 0;      // of it that are taken; a fragment ends there
  int first_made = 0;  // its frame in whose place the first frame comes that the encoder is given
};

// The most frames, of at most `most`, after which a fragment ends; 0: there are none.
int FragmentEndUpTo(int most);
// The least frames, of at least `least`, after which a fragment ends.
int FragmentEndFrom(int least);

// Whether a file of this format can have this begin. FAILED_PRECONDITION: the other file is of
// other settings or damaged, or ends elsewhere.
absl::Status CheckBegin(const FileBegin& begin, const VideoFormat& format);

// What is taken of the other file. Keeps its bytes.
class TakenBegin {
 public:
  static absl::StatusOr<TakenBegin> Open(const FileBegin& begin);

  std::string_view head() const { return head_; }
  const std::vector<Fragment>& fragments() const { return fragments_; }
  int packets() const { return packets_; }  // of sound
  const std::string& file() const { return *file_; }

  // Makes what a writer with times from 0 on has written follow these fragments. Its first bytes
  // begin with a head, which must be equal to this one, and goes.
  absl::Status Follow(std::string& written);

 private:
  std::shared_ptr<const std::string> file_;
  std::string_view head_;
  std::vector<Fragment> fragments_;
  FragmentShift shift_;
  int packets_ = 0;
  bool has_head_ = true;  // the writer's next bytes
};

}  // namespace reel::worker
