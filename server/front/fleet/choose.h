// SPDX-License-Identifier: Apache-2.0
// Which waiting videos a node should claim, so that nodes seldom try for the same one. Pure.
#pragma once

#include <string>
#include <vector>

namespace reel::front {

// How much of the queue a fleet of so many nodes looks at.
size_t WindowOf(size_t nodes);

// Whether the hash puts this video on `self` among all `nodes`.
bool SuitsBest(const std::string& video, const std::string& self,
               const std::vector<std::string>& nodes);

// How many of `nodes` it suits better than `self`: 0 where SuitsBest.
size_t CountBetter(const std::string& video, const std::string& self,
                   const std::vector<std::string>& nodes);

// At most `room` of `waiting`, which is in the order of the queue and within the window. First
// those whose hash puts them on `self` among all `nodes` (those with room, self among them), in the
// order of the queue; with room left, those that suit `self` best, whoever they belong to: who they
// belong to may have no room any more.
std::vector<std::string> ChooseClaims(const std::vector<std::string>& waiting,
                                      const std::string& self,
                                      const std::vector<std::string>& nodes, size_t room);

}  // namespace reel::front
