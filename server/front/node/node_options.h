// SPDX-License-Identifier: Apache-2.0
// Options of one node, and how long it waits for others. Checked where the configuration is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "server/front/fleet/seal.h"

namespace reel::front {

// How long a video that ended without a result is kept.
inline constexpr absl::Duration kKeepFailed = absl::Hours(1);

struct NodeOptions {
  std::string fleet;          // first part of its videos' names
  std::string node;           // unique in the fleet
  std::string address;        // HOST:PORT where others reach it
  bool alone = false;         // there never is another node: waits for nobody
  bool gateway = false;       // has no devices and shows those of others
  bool hears_others = false;  // can stream other nodes' videos
  std::string build;          // revision
  uint64_t process = 0;       // random
  Seal seal;                  // for what callers wrote, in log and store
  // Keeps a lone node's view over a restart; empty: the whole log is read again.
  std::string view_file;
  // Folder of incomplete uploads; empty: uploads are refused.
  std::string uploads_folder;
  int64_t max_file_bytes = int64_t{64} << 20;  // of one file
  std::map<std::string, double> weights;       // tenants' shares; 1 if not listed
  int deliver_backlog = 32;                    // results that may wait for the fleet's store
  absl::Duration sweep = absl::Minutes(5);     // interval of the janitor
  absl::Duration beat = absl::Seconds(1);
  absl::Duration silence = absl::Seconds(5);  // without a heartbeat, before others take over
  absl::Duration lease = absl::Seconds(15);   // a node that is cut off for longer stops its work
  absl::Duration max_clock_skew = absl::Seconds(5);  // from the brokers' clock; unfit above
};

}  // namespace reel::front
