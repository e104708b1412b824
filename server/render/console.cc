// SPDX-License-Identifier: Apache-2.0
#include "server/render/console.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

namespace reel::render {
namespace {

const char* NameOf(model::Stage stage) {
  switch (stage) {
    case model::Stage::kTextEncode:
      return "text";
    case model::Stage::kConditionEncode:
      return "conditions";
    case model::Stage::kDenoise:
      return "denoise";
    case model::Stage::kSound:
      return "sound";
    case model::Stage::kDecode:
      return "decode";
    case model::Stage::kEncode:
      return "encode";
    case model::Stage::kQueue:
    case model::Stage::kUnspecified:
      break;
  }
  return "load";
}

// The process's peak since it began.
double PeakMemoryMib() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in KiB
}

void Line(const char* what, absl::Duration took) {
  std::fprintf(stderr, "%-16s %9.3f s\n", what, absl::ToDoubleSeconds(took));
}

}  // namespace

void Console::Progress(model::Stage stage, int step, int num_steps) {
  if (!is_terminal_) return;
  std::fprintf(stderr, "\r\033[K%s %d/%d", NameOf(stage), step, num_steps);
  std::fflush(stderr);
  has_line_ = true;
}

void Console::ClearLine() {
  if (has_line_) std::fprintf(stderr, "\r\033[K");
  has_line_ = false;
}

void Console::Error(const std::string& message) {
  ClearLine();
  std::fprintf(stderr, "reel-render: %s\n", message.c_str());
}

void Console::Note(const std::string& message) { Error("note: " + message); }

void Console::Violations(const std::vector<model::FieldViolation>& violations) {
  for (const auto& violation : violations) Error(violation.field + ": " + violation.description);
}

void Console::Timings(const model::RunStats& stats, int num_steps, absl::Duration load,
                      absl::Duration total) {
  ClearLine();
  Line("load", load);
  Line("text", stats.text_encode);
  Line("denoise", stats.denoise);
  Line("  per step", stats.denoise / std::max(1, num_steps));
  if (stats.reused_steps > 0) {
    std::fprintf(stderr, "%-16s %9d of %d\n", "  reused steps", stats.reused_steps, num_steps);
  }
  Line("decode", stats.decode);
  Line("encode, exposed", stats.encode_exposed);
  Line("total", total);
  std::fprintf(stderr, "%-16s %9.1f MiB\n", "peak memory", PeakMemoryMib());
  if (stats.sound && stats.sound->loudness_lufs) {
    std::fprintf(stderr, "%-16s %9.1f LUFS\n", "loudness", *stats.sound->loudness_lufs);
  }
  for (const auto& use : stats.kernels) {
    std::fprintf(stderr, "%-16s %-16s %9lld calls\n", use.op.c_str(), use.variant.c_str(),
                 static_cast<long long>(use.calls));
  }
}

}  // namespace reel::render
