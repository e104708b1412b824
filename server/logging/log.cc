// SPDX-License-Identifier: Apache-2.0
#include "server/logging/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace reel {
namespace {

// Note: [The log sink] the one mutable global of the tree: a log call must work at any depth,
// without every object carrying a logger. Set before the first thread starts, then only read.
struct Sink {
  std::shared_ptr<spdlog::logger> logger =
      std::make_shared<spdlog::logger>("reel", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  LogOptions options;
  std::array<std::atomic<int64_t>, 4> lines{};
  Sink() { logger->set_pattern("%v"); }
};
Sink& sink() {
  static Sink* const instance = new Sink;  // never destroyed: threads may log until the very end
  return *instance;
}

constexpr const char* kLevelNames[] = {"debug", "info", "warning", "error"};

// Returns plain ASCII: control characters of any alphabet are escaped, invalid UTF-8 becomes
// replacement characters. A library may print anything to a worker's stderr.
std::string JsonString(std::string_view text) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/true, kReplace);
}

std::string ValueText(const Field::Value& value, bool json) {
  std::string out;
  if (const auto* text = std::get_if<std::string>(&value)) {
    // Control bytes are escaped in text logs too: a value cannot forge a line.
    out = JsonString(*text);
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    absl::StrAppend(&out, *integer);
  } else if (const auto* number = std::get_if<double>(&value)) {
    if (json && !std::isfinite(*number)) return "null";
    absl::StrAppendFormat(&out, "%.*g", json ? 9 : 4, *number);
  } else {
    out = std::get<bool>(value) ? "true" : "false";
  }
  return out;
}

std::string Now(bool json) {
  return absl::FormatTime(json ? "%Y-%m-%dT%H:%M:%E6SZ" : "%H:%M:%E3S", absl::Now(),
                          absl::UTCTimeZone());
}

void Write(LogLevel level, const std::string& line) {
  sink().lines[static_cast<size_t>(level)].fetch_add(1, std::memory_order_relaxed);
  sink().logger->log(spdlog::level::info, "{}", line);
}

bool Enabled(LogLevel level) { return level >= sink().options.level; }

}  // namespace

Field::Field(std::string_view k, absl::Duration v) : key(k), value(absl::ToDoubleSeconds(v)) {}
Field::Field(std::string_view k, const absl::Status& v)
    : key(k), value(std::string(v.ToString(absl::StatusToStringMode::kWithNoExtraData))) {}

void InitLog(const LogOptions& options) { sink().options = options; }

void Log(LogLevel level, std::string_view message, absl::Span<const Field> fields) {
  if (!Enabled(level)) return;
  const bool json = sink().options.json;
  const char* const name = kLevelNames[static_cast<size_t>(level)];
  std::string line;
  if (json) {
    absl::StrAppend(&line, "{\"time\":\"", Now(true), "\",\"level\":\"", name,
                    "\",\"msg\":", JsonString(message));
    for (const Field& field : fields) {
      absl::StrAppend(&line, ",", JsonString(field.key), ":", ValueText(field.value, true));
    }
    line += '}';
  } else {
    absl::StrAppendFormat(&line, "%s %-7s ", Now(false), name);
    line.append(message);
    for (const Field& field : fields) {
      line.append(" ").append(field.key).append("=").append(ValueText(field.value, false));
    }
  }
  Write(level, line);
}

void LogForwarded(std::string_view worker, std::string_view line) {
  constexpr std::string_view kPrefix = "{\"time\":";
  if (sink().options.json && line.substr(0, kPrefix.size()) == kPrefix &&
      nlohmann::json::accept(line)) {
    std::string forwarded(line.substr(0, line.rfind('}')));
    absl::StrAppend(&forwarded, ",\"worker\":", JsonString(worker), "}");
    Write(LogLevel::kInfo, forwarded);
  } else {
    Log(LogLevel::kInfo, line, {Field("worker", worker)});
  }
}

absl::Status ParseLogLevel(std::string_view text, LogLevel& level) {
  for (size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (text == kLevelNames[i]) {
      level = static_cast<LogLevel>(i);
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("The log level must be debug, info, warning or error, not '",
                   absl::string_view(text.data(), text.size()), "'"));
}

int64_t LoggedLines(LogLevel level) {
  return sink().lines[static_cast<size_t>(level)].load(std::memory_order_relaxed);
}

}  // namespace reel
