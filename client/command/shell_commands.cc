// SPDX-License-Identifier: Apache-2.0
// The commands that print completions and the manual page.
#include <memory>
#include <string>

#include "client/command/commands.h"
#include "client/command/completion_script.h"
#include "client/command/man_page.h"

namespace reel::client {

void AddCompletion(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App& command =
      *app.add_subcommand("completion", "Print what a shell needs to complete this command");
  command.add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.callback([shell, &app, &action] {
    action = [shell, &app](Session& session) {
      session.console.Print(*shell == "fish"  ? FishCompletion(app)
                            : *shell == "zsh" ? ZshCompletion(app)
                                              : BashCompletion(app));
      return ExitCode::kOk;
    };
  });
}

void AddMan(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("man", "Print the manual page: reel man | man -l -");
  command.callback([&app, &action] {
    action = [&app](Session& session) {
      session.console.Print(ManPage(app, session.version));
      return ExitCode::kOk;
    };
  });
}

}  // namespace reel::client
