// SPDX-License-Identifier: Apache-2.0
// Runs one worker: a link to the front, and an engine on this thread.
#pragma once

#include <string>

namespace reel::worker {

struct WorkerFlags {
  std::string socket;  // the front's
  std::string name;
  std::string device = "cpu";
  int token_fd = -1;  // a pipe that holds the token
};

// Returns the process's exit status. 0: drained, or the front is gone. 1: could not start. 43: the
// device cannot be opened. A device lost later ends the process from within, with 42, or with 43 if
// it needs a reset.
int RunWorker(const WorkerFlags& flags);

}  // namespace reel::worker
