// SPDX-License-Identifier: Apache-2.0
// The nodes that might claim a waiting video instead of this one, and how many of them it suits
// better. All come to the same order of them by a hash, so that they seldom try for the same video.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/base/fnv1a.h"

namespace reel::front {

// How much of the queue a fleet of so many nodes looks at.
size_t WindowOf(size_t nodes);

// Whether it suits `self` best of all `nodes`.
bool SuitsBest(const std::string& video, const std::string& self,
               const std::vector<std::string>& nodes);

// A queue is looked at with every message, and a video has hundreds of rivals. So each is hashed
// once for a video, and counting them is a few words of bits. Confined to one thread.
class Rivals {
 public:
  explicit Rivals(std::string self);

  // All others by name, with how many videos each has room for.
  void Update(const std::map<std::string, int>& room);
  // Of all of them together.
  int room() const { return room_; }

  // What is known of one video; valid for these rivals, made anew when others come or go.
  struct Better {
    std::vector<uint64_t> nodes;  // bits
    uint64_t generation = 0;
  };
  // How many the video suits better than this node: of all, or of those with room.
  int CountBetter(const std::string& video, bool only_with_room, Better& known) const;

 private:
  struct Node {
    std::string name;
    Fnv1a hash;
  };
  static Node Named(std::string name);

  const Node self_;
  std::vector<Node> nodes_;      // by name
  std::vector<uint64_t> roomy_;  // bits
  int room_ = 0;
  uint64_t generation_ = 1;
};

}  // namespace reel::front
