// SPDX-License-Identifier: Apache-2.0
// reeld: reads the command line and the environment, then runs the app until a signal ends it.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernels/base/program_folder.h"
#include "model/bundled_model.h"
#include "server/front/app.h"
#include "server/front/config/default_config.h"
#include "server/front/config/load_config.h"
#include "server/front/rpc/grpc_server.h"
#include "server/logging/log.h"

namespace {

using reel::Log;
using reel::LogLevel;
using reel::front::App;
using reel::front::AppOptions;
using reel::front::LoadedConfig;

constexpr int kExitBadConfig = 1;
constexpr int kExitCannotStart = 1;
constexpr int kExitListenerDead = 3;
constexpr int kExitDrainHung = 4;

std::optional<absl::string_view> GivenEnvironment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? std::nullopt : std::optional<absl::string_view>(value);
}

std::string Environment(const char* name) {
  return std::string(GivenEnvironment(name).value_or(""));
}

// lib/ beside the folder of the workers' program, where they look for it too.
std::string CudaLibrary(const std::string& worker_binary) {
  std::error_code ignored;
  const std::filesystem::path folder =
      worker_binary.empty()
          ? reel::kernels::ProgramFolder()
          : std::filesystem::weakly_canonical(worker_binary, ignored).parent_path();
  return (folder.parent_path() / "lib" / "libreel_cuda.so").string();
}

// As a legal name; empty where there is none.
std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0) return "";
  std::string legal;
  for (const char* c = name; *c != 0 && legal.size() < 63; ++c) {
    const char lower = *c >= 'A' && *c <= 'Z' ? static_cast<char>(*c - 'A' + 'a') : *c;
    legal += lower;
  }
  return legal;
}

int PrintProblems(const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) std::fprintf(stderr, "reeld: %s\n", problem.c_str());
  std::fprintf(stderr, "reeld: the configuration has %zu problem%s\n", problems.size(),
               problems.size() == 1 ? "" : "s");
  return kExitBadConfig;
}

// Before the first thread, so that all inherit it: signals come to sigwait alone.
sigset_t BlockSignals() {
  signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

bool InitLogging(const reel::config::v1::Telemetry& telemetry) {
  reel::LogOptions log;
  const std::string& format = telemetry.log_format();
  log.json = format.empty() ? isatty(STDERR_FILENO) == 0 : format == "json";
  // The level was checked with the configuration.
  if (!ParseLogLevel(telemetry.log_level(), log.level).ok()) log.level = LogLevel::kInfo;
  reel::InitLog(log);
  reel::front::TakeGrpcLog();
  reel::front::TakeProtobufLog();
  return log.json;
}

// The process must end though something hangs, before whoever started it loses patience.
void StartWatchdog(absl::Duration limit) {
  std::thread([limit] {
    absl::SleepFor(limit);
    Log(LogLevel::kError, "the drain hangs; exiting");
    _exit(kExitDrainHung);
  }).detach();
}

// Serves until a drain is through. A first SIGTERM or SIGINT begins it, a second one hurries it.
void ServeUntilSignalled(App& app, const sigset_t& signals) {
  std::thread drain;
  for (;;) {
    int number = 0;
    if (sigwait(&signals, &number) != 0) continue;
    if (number == SIGUSR1) break;
    if (number == SIGHUP) {
      app.Reload();
    } else if (drain.joinable()) {
      app.Hurry();
    } else {
      StartWatchdog(app.longest_drain());
      drain = std::thread([&app] {
        app.Drain();
        kill(getpid(), SIGUSR1);  // wakes sigwait
      });
    }
  }
  if (drain.joinable()) drain.join();
}

int Run(AppOptions options, const LoadedConfig& loaded, const sigset_t& signals) {
  const int64_t descriptors = reel::front::RaiseDescriptorLimit();
  reel::front::KeepGrpc();
  Log(LogLevel::kInfo, "starting",
      {{"version", options.version},
       {"revision", options.revision},
       {"pid", static_cast<int64_t>(getpid())},
       {"max_fds", descriptors},
       {"config", loaded.effective}});
  for (const std::string& warning : loaded.warnings) Log(LogLevel::kWarning, warning);
  auto app = App::Start(std::move(options), [] { _exit(kExitListenerDead); });
  if (!app.ok()) {
    Log(LogLevel::kError, "cannot start", {{"error", app.status()}});
    return kExitCannotStart;
  }
  Log(LogLevel::kInfo, "serving",
      {{"grpc", (*app)->grpc_address()},
       {"metrics", (*app)->metrics_address()},
       {"health", (*app)->health_address()},
       {"http", (*app)->http_address()}});
  ServeUntilSignalled(**app, signals);
  app->reset();
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = reel::front::ParseFlags({argv + 1, argv + argc});
  if (parsed.exit_code) {
    std::fputs(parsed.output.c_str(), *parsed.exit_code == 0 ? stdout : stderr);
    return *parsed.exit_code;
  }
  if (parsed.flags.version) {
    std::puts("reeld " REEL_VERSION " " REEL_REVISION);
    return 0;
  }
  const reel::front::Surroundings surroundings = {
      .xdg_state_home = Environment("XDG_STATE_HOME"),
      .home = Environment("HOME"),
      .models_folder = reel::model::BundledModelsFolder(),
      .cuda_library = CudaLibrary(parsed.flags.worker_binary),
      .host_name = HostName(),
      .visible_gpus = reel::front::VisibleGpus("/dev", GivenEnvironment("CUDA_VISIBLE_DEVICES"))};
  const auto loaded = reel::front::LoadConfig(parsed.flags, surroundings);
  if (!loaded.problems.empty()) return PrintProblems(loaded.problems);
  if (parsed.flags.check_config) {
    std::puts("The configuration is valid.");
    return 0;
  }
  const sigset_t signals = BlockSignals();
  AppOptions options;
  options.json_log = InitLogging(loaded.config.telemetry());
  options.config = loaded.config;
  options.tokens = loaded.tokens;
  options.prompt_keys = loaded.prompt_keys;
  options.read_again = [flags = parsed.flags, surroundings] {
    return reel::front::LoadConfig(flags, surroundings);
  };
  options.worker_binary = parsed.flags.worker_binary;
  options.port_file = parsed.flags.port_file;
  options.runtime_base = Environment("XDG_RUNTIME_DIR");
  options.version = REEL_VERSION;
  options.revision = REEL_REVISION;
  return Run(std::move(options), loaded, signals);
}
