// SPDX-License-Identifier: Apache-2.0
// Options of one node, and time limits of waiting for others. Values; checked where the
// configuration is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "server/front/fleet/seal.h"

namespace reel::front {

// Of a video that has ended without a result.
inline constexpr absl::Duration kKeepFailed = absl::Hours(1);

struct NodeOptions {
  std::string fleet;          // first part of the names of videos
  std::string node;           // unlike any other of the fleet
  std::string address;        // HOST:PORT where others reach it
  bool alone = false;         // no other node will ever be: nobody is waited for
  bool gateway = false;       // it has no devices, and shows those of others
  bool hears_others = false;  // their videos can be streamed here
  std::string build;          // revision
  uint64_t process = 0;       // random
  Seal seal;                  // of what callers wrote, in log and store
  // The view over a restart, of a node that is alone with its log; empty: it is read anew.
  std::string view_file;
  // Where files that callers send ahead of requests are until they are whole; empty: none is taken.
  std::string uploads_folder;
  int64_t max_file_bytes = int64_t{64} << 20;  // of one
  std::map<std::string, double> weights;       // shares of tenants; of others 1
  int deliver_backlog = 32;                    // results that may wait for the fleet's store
  absl::Duration sweep = absl::Minutes(5);     // between two looks for objects that nobody wants
  absl::Duration beat = absl::Seconds(1);
  absl::Duration silence = absl::Seconds(5);  // after it a node may be taken over
  absl::Duration lease = absl::Seconds(15);   // cut off or paused for so long it stops its work
  absl::Duration max_clock_skew = absl::Seconds(5);  // from the brokers' clock; above it is unfit
};

}  // namespace reel::front
