// SPDX-License-Identifier: Apache-2.0
// reeld as one object: made, drained, gone. app.cc is the only file that wires the folders
// together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/front/config/load_config.h"

namespace reel::front {

struct AppOptions {
  config::v1::ServerConfig config;  // checked, its defaults filled
  TokenTable tokens;
  std::vector<std::string> prompt_keys;
  std::string worker_binary;  // empty: beside this program
  std::string port_file;      // empty: none
  std::string runtime_base;   // the user's run-time folder; empty: /tmp
  std::string version, revision;
  bool json_log = true;  // for the workers' own lines
  // Reads the configuration again; null: it cannot change.
  std::function<LoadedConfig()> read_again;
};

class App {
 public:
  // Serving when it returns, though workers may still load. `failed` is called once if the listener
  // is found dead: the process must end.
  static absl::StatusOr<std::unique_ptr<App>> Start(AppOptions options,
                                                    std::function<void()> failed);
  // Closes the stores; as fast as can be, when Drain was not called.
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  const std::string& grpc_address() const;
  const std::string& metrics_address() const;
  // Of the HTTP door; empty where there is none.
  std::string http_address() const;
  // Of the plaintext health port; empty where there is none.
  std::string health_address() const;

  // Ends jobs, calls and workers in good order; returns when none is left. Once.
  void Drain();
  // From another thread while Drain runs or has run: it means now.
  void Hurry();
  // The longest that Drain can take; a watchdog's time.
  absl::Duration longest_drain() const;
  // Reads tokens and the configuration's models again; certificates are looked at by each
  // connection anyway. What there was stays where the new is bad.
  void Reload();

 private:
  struct Impl;
  explicit App(std::unique_ptr<Impl> impl);
  // A "name=address" line each.
  std::string Addresses() const;
  void ReloadTokens();
  void ReloadModels();
  std::unique_ptr<Impl> impl_;
};

}  // namespace reel::front
