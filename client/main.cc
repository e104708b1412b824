// SPDX-License-Identifier: Apache-2.0
// Starts the reel command. The only place of the client that reads the environment.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "client/client_options.h"
#include "client/command/command_line.h"
#include "kernels/base/program_folder.h"

namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int TerminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

int main(int argc, char** argv) {
  reel::client::Environment environment;
  environment.version = REEL_VERSION;
  environment.folder = reel::kernels::ProgramFolder().string();
  environment.server = Variable("REEL_SERVER");
  if (environment.server.empty()) environment.server = reel::client::ClientOptions().server;
  environment.browser = Variable("BROWSER");
  if (environment.browser.empty()) environment.browser = "xdg-open";
  const bool redraws = Variable("TERM") != "dumb" && isatty(STDERR_FILENO) != 0;
  environment.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  environment.live = redraws;
  environment.color = redraws && Variable("NO_COLOR").empty();
  environment.width = TerminalWidth;
  // gRPC's own lines on stderr would break the progress line; errors reach us as statuses.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  return reel::client::RunCommandLine(std::vector<std::string>(argv + 1, argv + argc), environment,
                                      stdout, stderr);
}
