// SPDX-License-Identifier: Apache-2.0
// Ids of videos: "{replica}-{128 random bits in base32}".
#pragma once

#include <string>
#include <string_view>

namespace reel::front {

// From the system's random source; cannot be guessed.
std::string NewVideoId(const std::string& replica);

// The replica of such an id; empty where it is none.
std::string_view ReplicaOf(std::string_view id);

// The id in a video's name, "videos/{id}"; empty where it is none.
std::string IdOfName(std::string_view name);

// Six letters, drawn from 300 million.
std::string NewReplica();

}  // namespace reel::front
