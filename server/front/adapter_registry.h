// SPDX-License-Identifier: Apache-2.0
// The adapters of a configuration, with what their files say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// A file is read again only when it is another one. Used by one thread at a time.
class AdapterRegistry {
 public:
  // Those of a checked configuration, whose files are real paths. FAILED_PRECONDITION names the
  // adapter and what is wrong with its file: it is no adapter, or has another SHA-256 than the
  // configuration says. Reads all bytes of new files.
  absl::StatusOr<std::vector<RegisteredAdapter>> Read(const config::v1::ServerConfig& config);

 private:
  // What tells a file from the one that was there before.
  struct Mark {
    uint64_t device = 0, inode = 0;
    int64_t bytes = 0, changed_ns = 0;
    bool operator==(const Mark&) const = default;
  };
  struct Known {
    Mark mark;
    model::AdapterOffer offer;
  };
  absl::StatusOr<model::AdapterOffer> ReadFile(const std::string& path);

  std::map<std::string, Known> known_;  // by path
};

}  // namespace reel::front
