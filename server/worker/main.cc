// SPDX-License-Identifier: Apache-2.0
// reel-worker: the process of one device, started by reeld.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/base/program/flag_spelling.h"
#include "server/logging/log.h"
#include "server/worker/app.h"
#include "server/worker/plugin_probe.h"
#include <CLI/CLI.hpp>

namespace {

using reel::LogOptions;
using reel::worker::ProbeFlags;
using reel::worker::WorkerFlags;

// Ends the worker with its parent, also if the parent is already gone. A Ctrl-C reaches the whole
// group of a terminal, but the front decides when a worker leaves.
bool TieToParent(int parent_pid) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  return parent_pid == 0 || getppid() == parent_pid;
}

}  // namespace

// Checks whether a plug-in can be opened here: for a worker, and for authors of plug-ins.
void AddProbeFlags(CLI::App& cli, ProbeFlags& probe) {
  cli.add_option("--probe_plugin", probe.plugin.name,
                 "Open this plug-in, test it, say what it offers or why not, and end");
  cli.add_option("--plugin_root", probe.plugin.root, "As in the configuration");
  cli.add_option("--plugin_folder", probe.plugin.folder, "Its folder below the root");
  cli.add_option("--plugin_sha256", probe.plugin.sha256, "SHA-256 of its metadata.json");
}

int main(int argc, char** argv) {
  WorkerFlags flags;
  ProbeFlags probe;
  int parent_pid = 0;
  LogOptions log;
  std::string log_level = "info", log_format = "json";

  CLI::App cli("Drives one device for reeld, which starts this program itself.", "reel-worker");
  cli.set_version_flag("--version", "reel-worker " REEL_VERSION);
  cli.add_option("--socket", flags.socket, "The Unix socket of reeld's worker server");
  cli.add_option("--name", flags.name, "The worker's name in the configuration");
  cli.add_option("--token_fd", flags.token_fd, "An inherited pipe that holds the token");
  AddProbeFlags(cli, probe);
  cli.add_option("--parent_pid", parent_pid,
                 "reeld's process id; exit at once if it is not our parent's");
  cli.add_option("--device", flags.device,
                 "cpu, cuda:0, a UUID, or a group of up to four: cuda:0+cuda:1")
      ->capture_default_str();
  cli.add_option("--log_level", log_level, "debug, info, warning or error")->capture_default_str();
  cli.add_option("--log_format", log_format, "json or text")
      ->capture_default_str()
      ->check(CLI::IsMember({"json", "text"}));
  std::vector<std::string> arguments = reel::WithFlagsSpelt('_', {argv + 1, argv + argc});
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants a vector
  try {
    cli.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? 0 : 2;
  }
  log.json = log_format == "json";
  if (const absl::Status level = reel::ParseLogLevel(log_level, log.level); !level.ok()) {
    fprintf(stderr, "reel-worker: %s\n", std::string(level.message()).c_str());
    return 2;
  }
  InitLog(log);
  if (!TieToParent(parent_pid)) return 1;
  if (!probe.plugin.name.empty()) {
    probe.device = flags.device;
    return RunProbe(probe);
  }
  if (flags.socket.empty() || flags.name.empty() || flags.token_fd < 0) {
    fprintf(stderr, "reel-worker: --socket, --name and --token_fd are required\n");
    return 2;
  }
  return RunWorker(flags);
}
