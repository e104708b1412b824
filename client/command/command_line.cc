// SPDX-License-Identifier: Apache-2.0
#include "client/command/command_line.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "client/command/commands.h"
#include "client/command/session.h"
#include "kernels/base/program/flag_spelling.h"
#include "kernels/base/program/nearest_name.h"
#include <CLI/CLI.hpp>

namespace reel::client {
namespace {

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 2 usage, 3 invalid, 4 no server or busy, 5 quota, 6 deadline, 7 failed,\n"
    "8 not found, 9 conflict, 10 not authorised, 11 no verdict (ab), 130 interrupted.\n";

struct GlobalFlags {
  ClientOptions client;
  bool json = false;
  bool quiet = false;
};

void AddGlobalFlags(CLI::App& app, GlobalFlags& flags) {
  ClientOptions& client = flags.client;
  app.add_option("--server", client.server, "HOST:PORT or unix:PATH; default REEL_SERVER")
      ->capture_default_str();
  app.add_option("--token-file", client.token_file, "File with a bearer token");
  app.add_flag("--tls", client.tls, "Use TLS, with the system's certificates");
  app.add_option("--tls-ca", client.tls_ca, "Use TLS, with the certificates in this PEM file");
  app.add_option("--tls-cert", client.tls_certificate,
                 "Client certificate (PEM), if the server wants one");
  app.add_option("--tls-key", client.tls_key, "Its key (PEM)");
  app.add_flag("--json", flags.json, "Results and errors as JSON on stdout");
  app.add_flag("-q,--quiet", flags.quiet, "No progress and no notes");
}

void AddCommands(CLI::App& app, Action& action) {
  AddGenerate(app, action);
  AddPromote(app, action);
  AddAgain(app, action);
  AddExtend(app, action);
  AddRetake(app, action);
  AddRefine(app, action);
  AddCreate(app, action);
  AddWatch(app, action);
  AddDownload(app, action);
  AddList(app, action);
  AddGet(app, action);
  AddCancel(app, action);
  AddDelete(app, action);
  AddEstimate(app, action);
  AddInfo(app, action);
  AddModels(app, action);
  AddKernels(app, action);
  AddExperiments(app, action);
  AddRestore(app, action);
  AddLoad(app, action);
  AddUnload(app, action);
  AddOpen(app, action);
  AddCompare(app, action);
  AddAb(app, action);
  AddTop(app, action);
  AddFleet(app, action);
  AddBench(app, action);
  AddDoctor(app, action);
  AddCompletion(app, action);
  AddMan(app, action);
  for (CLI::App* command : app.get_subcommands(nullptr)) command->fallthrough();
}

// CLI11 expects reversed arguments; `help X` becomes `X --help`.
std::vector<std::string> ForParser(const std::vector<std::string>& arguments) {
  std::vector<std::string> parsed = WithFlagsSpelt('-', arguments);
  if (!parsed.empty() && parsed[0] == "help") {
    parsed.erase(parsed.begin());
    parsed.push_back("--help");
  }
  std::reverse(parsed.begin(), parsed.end());
  return parsed;
}

std::string Unknown(const char* what, const std::string& word,
                    const std::vector<std::string>& known) {
  const std::string nearest = NearestName(word, known);
  return std::string("unknown ") + what + " " + word +
         (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

// A sentence about the first word if it is not a command, with the nearest command; otherwise
// empty.
std::string UnknownCommand(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  if (!app.get_subcommands().empty() || words.empty() || words[0].rfind('-', 0) == 0) return "";
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) known.push_back(command->get_name());
  return Unknown("command", words[0], known);
}

// The same for commands and flags.
std::string UnknownWord(const CLI::App& app) {
  if (std::string command = UnknownCommand(app); !command.empty()) return command;
  std::vector<std::string> known;
  const auto collect = [&known](const CLI::App& level) {
    for (const CLI::Option* option : level.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  };
  collect(app);
  for (const CLI::App* chosen : app.get_subcommands()) collect(*chosen);
  for (const std::string& word : app.remaining(true)) {
    if (word.rfind("--", 0) == 0) return Unknown("flag", word.substr(0, word.find('=')), known);
  }
  return "";
}

// Help and versions go to stdout; errors go to stderr, with where to read more.
ExitCode ReportParse(const CLI::App& app, const CLI::ParseError& error, Console& console) {
  std::ostringstream text, ignored;
  // `reel help X` with an unknown X is an error, not a request for help.
  if (error.get_exit_code() == 0 && UnknownCommand(app).empty()) {
    app.exit(error, text, ignored);
    console.Print(text.str());
    return ExitCode::kOk;
  }
  std::string command = "reel";
  for (const CLI::App* chosen : app.get_subcommands()) command += " " + chosen->get_name();
  const std::string unknown = UnknownWord(app);
  console.Error("error: " + (unknown.empty() ? std::string(error.what()) : unknown) +
                "\nhint: see `" + command + " --help`.\n");
  return ExitCode::kUsage;
}

// A command that could not print its result has failed.
int Checked(Console& console, ExitCode code) {
  const int error = console.out_error();
  if (code != ExitCode::kOk || error == 0) return static_cast<int>(code);
  console.Error(std::string("error: stdout cannot be written: ") + std::strerror(error) + "\n");
  return static_cast<int>(ExitCode::kFailed);
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments, const Environment& environment,
                   std::FILE* out, std::FILE* err) {
  CLI::App app("Renders videos from text on a Reel server.", "reel");
  app.set_version_flag("--version", "reel " + environment.version);
  app.require_subcommand(1);
  app.footer(kExitCodes);
  GlobalFlags flags;
  flags.client.server = environment.server;
  AddGlobalFlags(app, flags);
  Action action;
  AddCommands(app, action);
  try {
    app.parse(ForParser(arguments));
  } catch (const CLI::ParseError& error) {
    Console console(out, err, {});
    return Checked(console, ReportParse(app, error, console));
  }
  Console console(out, err,
                  {environment.live, flags.quiet, environment.color, environment.out_is_terminal,
                   environment.width});
  Session session{flags.client,       console, flags.json, environment.version, environment.folder,
                  environment.browser};
  return Checked(console, action(session));
}

}  // namespace reel::client
