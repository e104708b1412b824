// SPDX-License-Identifier: Apache-2.0
// Models and adapters of a configuration that has changed under a running server.
#pragma once

#include "server/front/adapter_registry.h"
#include "server/front/app.h"
#include "server/front/jobs/dispatcher.h"

namespace reel::front {

// A configuration or an adapter that cannot be used changes nothing, and is told in the log.
void ReadModelsAgain(const AppOptions& options, AdapterRegistry& adapters, Dispatcher& jobs);

}  // namespace reel::front
