// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/flags.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "kernels/base/program/flag_spelling.h"
#include "reel/config/v1/config.pb.h"
#include "server/front/config/field_rules.h"
#include <CLI/CLI.hpp>

namespace reel::front {
namespace {

void Declare(CLI::App& app, Flags& flags) {
  app.add_option("--config", flags.config_file, "Configuration file (protobuf text format)");
  app.add_flag("--check_config", flags.check_config,
               "Check the configuration, print every problem, and exit");
  app.add_flag("--version", flags.version, "Print the version and exit");
  const auto with_default = [](const char* text, const char* field) {
    return absl::StrCat(text, " [", DefaultText(config::v1::ServerConfig(), field), "]");
  };
  app.add_option("--listen", flags.listen, with_default("gRPC address", "listen"));
  app.add_option("--metrics", flags.metrics, with_default("Metrics and probes", "metrics_listen"));
  app.add_option("--http", flags.http, "HTTP: JSON, events and media [none]");
  app.add_option("--data_dir", flags.data_dir, "Where videos are stored [the user's state folder]");
  app.add_option("--model", flags.model,
                 "Default model: a configured name, testcard, or a folder or checkpoint file");
  app.add_option(
      "--devices", flags.devices,
      "One worker each, e.g. cpu, cuda:0,cuda:1, a UUID of nvidia-smi -L, or cuda:all; one for two "
      "to four GPUs: cuda:0+cuda:1");
  app.add_option("--log", flags.log, "debug, info, warning or error");
  app.add_option("--worker_binary", flags.worker_binary, "[reel-worker beside reeld]");
  app.add_option("--port_file", flags.port_file,
                 "Write the bound addresses to this file once serving");
}

}  // namespace

ParsedFlags ParseFlags(const std::vector<std::string>& arguments) {
  ParsedFlags parsed;
  CLI::App app("Renders videos from text and streams them over gRPC and HTTP.", "reeld");
  Declare(app, parsed.flags);
  std::vector<std::string> reversed = WithFlagsSpelt('_', arguments);
  std::reverse(reversed.begin(), reversed.end());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    // CLI11 tells by exceptions what it found; they end here.
    std::ostringstream text;
    const int code = app.exit(error, text, text);
    parsed.exit_code = code == 0 ? 0 : 2;
    parsed.output = text.str();
  }
  return parsed;
}

}  // namespace reel::front
