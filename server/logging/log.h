// SPDX-License-Identifier: Apache-2.0
// Structured logging: a JSON object a line on stderr, or plain text on a terminal. The sink is the
// one global of the tree, set once in main before any thread starts. Prompts are never fields.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace reel {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  bool json = true;
};

// A value by name: Field("steps", 30).
struct Field {
  using Value = std::variant<std::string, int64_t, double, bool>;
  Field(std::string_view k, std::string_view v) : key(k), value(std::string(v)) {}
  Field(std::string_view k, const std::string& v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(std::string(v)) {}
  Field(std::string_view k, bool v) : key(k), value(v) {}
  Field(std::string_view k, int v) : key(k), value(int64_t{v}) {}
  Field(std::string_view k, int64_t v) : key(k), value(v) {}
  Field(std::string_view k, uint64_t v) : key(k), value(static_cast<int64_t>(v)) {}
  Field(std::string_view k, double v) : key(k), value(v) {}
  Field(std::string_view k, absl::Duration v);  // seconds
  Field(std::string_view k, const absl::Status& v);
  std::string_view key;
  Value value;
};

void InitLog(const LogOptions& options);
void Log(LogLevel level, std::string_view message, absl::Span<const Field> fields);
inline void Log(LogLevel level, std::string_view message,
                std::initializer_list<Field> fields = {}) {
  Log(level, message, absl::MakeConstSpan(fields.begin(), fields.size()));
}
// Passes on a line of a worker's stderr: JSON objects get a "worker" field, anything else becomes
// the message of one.
void LogForwarded(std::string_view worker, std::string_view line);
// "debug", "info", "warning" or "error".
absl::Status ParseLogLevel(std::string_view text, LogLevel& level);
// The lines written so far, by level, for the metrics.
int64_t LoggedLines(LogLevel level);

}  // namespace reel
