// SPDX-License-Identifier: Apache-2.0
// From file and flags to the effective configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reel::config::v1 {
class ServerConfig;
}

namespace reel::front {

// The command line of reeld: what a person changes by hand. '-' and '_' in names are alike.
struct Flags {
  std::string config_file;  // empty: none
  bool check_config = false;
  bool version = false;
  std::string listen, metrics, http, data_dir, model, devices, log;  // empty: not given
  std::string worker_binary;  // empty: reel-worker beside reeld
  std::string port_file;      // the bound addresses are written here, a "name=address" line each
};

struct ParsedFlags {
  Flags flags;
  std::optional<int> exit_code;  // set: print `output` and leave
  std::string output;
};

// `arguments` without the program's name.
ParsedFlags ParseFlags(const std::vector<std::string>& arguments);

// Counts the GPUs that a process of this machine or container can use, without asking the
// driver.

// A device that stands for all of them, a worker each.
inline constexpr char kAllGpus[] = "cuda:all";

// `devices` is /dev, with a file for each GPU that this container was given, or all. `chosen` is
// CUDA_VISIBLE_DEVICES, of which CUDA takes what comes before the first that it does not know:
// numbers count the GPUs there are, UUIDs are believed.
int VisibleGpus(const std::string& devices, std::optional<absl::string_view> chosen);

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
