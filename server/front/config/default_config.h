// SPDX-License-Identifier: Apache-2.0
// From file and flags to the effective configuration.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/front/config/flags.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// What main has read of the environment and of the installation.
struct Surroundings {
  std::string xdg_state_home;
  std::string home;
  std::string models_folder = {};  // with the models that came along, a folder each
  std::string cuda_library = {};   // where the workers' kernels for GPUs lie, if this build has any
  std::string host_name = {};      // of this machine
  int visible_gpus = 0;            // that a process here can use
};

// Flags win over the file. Returns the problems of the flags' values.
std::vector<std::string> ApplyFlags(const Flags& flags, const Surroundings& surroundings,
                                    config::v1::ServerConfig& config);

// Fills what is unset, so that the log shows what holds. Without models that is ltx-demo where it
// came along, with the test card behind it, else the test card alone.
void FillDefaults(const Surroundings& surroundings, config::v1::ServerConfig& config);

}  // namespace reel::front
