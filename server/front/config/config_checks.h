// SPDX-License-Identifier: Apache-2.0
// Checks a configuration: the rules of its fields (field_rules.h), and those over several fields.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// What is wrong with a configuration. No problem hides another.
struct ConfigFindings {
  std::vector<std::string> problems;  // each with its key, as people write it: "workers[1].device"
  std::vector<std::string> warnings;  // for the log: legal, but worth a look

  // Nothing where `what` is empty.
  void Problem(const std::string& key, const std::string& what) {
    if (!what.empty()) problems.push_back(absl::StrCat(key, ": ", what));
  }
};

// The folder below which `entries` ("plugins", of which there are some or not) have their files.
void CheckRoot(const std::string& key, const std::string& root, const char* entries, bool has_some,
               ConfigFindings& findings);

// Of a configuration whose defaults are filled (default_config.h).
ConfigFindings CheckConfig(const config::v1::ServerConfig& config);

// Its parts that have a source of their own. What is served, on what, and with which kernels.
void CheckModels(const config::v1::ServerConfig& config, ConfigFindings& findings);
// The adapters that are registered, and those that models are loaded with.
void CheckAdapters(const config::v1::ServerConfig& config, ConfigFindings& findings);
// The brokers, the store, and how other servers reach this one; of a configuration with a fleet.
void CheckFleet(const config::v1::ServerConfig& config, ConfigFindings& findings);

}  // namespace reel::front
