// SPDX-License-Identifier: Apache-2.0
#include "server/front/model_reload.h"

#include <utility>

#include "server/front/configured_models.h"
#include "server/logging/log.h"

namespace reel::front {

void ReadModelsAgain(const AppOptions& options, AdapterRegistry& adapters, Dispatcher& jobs) {
  if (options.read_again == nullptr || options.config.fleet().gateway()) return;
  const LoadedConfig loaded = options.read_again();
  for (const std::string& problem : loaded.problems) {
    Log(LogLevel::kError, "the configuration is invalid; the models stay as they are",
        {{"error", problem}});
  }
  if (!loaded.problems.empty()) return;
  auto registered = adapters.Read(loaded.config);
  if (!registered.ok()) {
    return Log(LogLevel::kError, "an adapter cannot be used; models and adapters stay as they are",
               {{"error", registered.status()}});
  }
  Log(LogLevel::kInfo,
      "read the models and adapters of the configuration; other changes need a restart",
      {{"adapters", static_cast<int64_t>(registered->size())}});
  jobs.SetAdapters(*std::move(registered));
  jobs.SetModels(SourcesOf(loaded.config));
}

}  // namespace reel::front
