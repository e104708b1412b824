// SPDX-License-Identifier: Apache-2.0
// The progress line of reel-render on stderr, redrawn in place; only on a terminal.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "model/resolve.h"
#include "model/run_stats.h"

namespace reel::render {

class Console {
 public:
  explicit Console(bool is_terminal) : is_terminal_(is_terminal) {}

  void Progress(model::Stage stage, int step, int num_steps);
  // Ends the line being redrawn.
  void ClearLine();
  void Error(const std::string& message);
  void Note(const std::string& message);
  void Violations(const std::vector<model::FieldViolation>& violations);
  void Timings(const model::RunStats& stats, int num_steps, absl::Duration load,
               absl::Duration total);

 private:
  const bool is_terminal_;
  bool has_line_ = false;
};

}  // namespace reel::render
