// SPDX-License-Identifier: Apache-2.0
#include "client/command/flag_list.h"

#include "absl/strings/str_split.h"

namespace reel::client {
namespace {

FlagText TextOf(const CLI::Option& option) {
  FlagText text;
  text.help = option.get_description();
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  if (text.names.empty()) {
    text.positional = true;
    text.names.push_back(option.get_name());
  }
  if (option.get_items_expected_max() == 0) return text;
  // "TEXT:{low,normal,high}"
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  text.value = type.substr(0, type.find(':'));
  if (open != std::string::npos) {
    text.choices = absl::StrSplit(type.substr(open + 1, type.find('}') - open - 1), ',');
  }
  return text;
}

}  // namespace

std::vector<FlagText> FlagsOf(const CLI::App& level) {
  std::vector<FlagText> flags;
  for (const CLI::Option* option : level.get_options()) flags.push_back(TextOf(*option));
  return flags;
}

std::vector<CommandText> CommandsOf(const CLI::App& app) {
  std::vector<CommandText> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    commands.push_back({command->get_name(), command->get_description(), FlagsOf(*command)});
  }
  return commands;
}

}  // namespace reel::client
