// SPDX-License-Identifier: Apache-2.0
// Models, adapters, kernel profiles and experiments of a configuration, in the form that workers
// and jobs take, and again when it has changed under a running server.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/app.h"
#include "server/front/jobs/dispatcher.h"
#include "server/front/scheduling/job_options.h"

namespace reel::front {

// The adapters of a configuration, with what their files say.
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

// Models, kernel profiles and experiments of a configuration, in the form that workers and jobs
// take.

// `config`: where the adapters are registered that the model names.
model::LoadOptions LoadOptionsOf(const config::v1::Model& model,
                                 const config::v1::ServerConfig& config);

// Each with the workers that have it.
std::vector<ModelSource> SourcesOf(const config::v1::ServerConfig& config);

// Each written out: a built-in profile, and single variants.
std::vector<KernelProfileOptions> ProfilesOf(const config::v1::ServerConfig& config);

// The shares of the arms sum to 1.
std::vector<ExperimentArm> ArmsOf(const config::v1::Experiment& experiment);

// Models and adapters of a configuration that has changed under a running server.

// A configuration or an adapter that cannot be used changes nothing, and is told in the log.
void ReadModelsAgain(const AppOptions& options, AdapterRegistry& adapters, Dispatcher& jobs);

}  // namespace reel::front
