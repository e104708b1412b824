// SPDX-License-Identifier: Apache-2.0
#include "client/command/completion_script.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/command/flag_list.h"

namespace reel::client {
namespace {

std::vector<std::string> NamesOf(const std::vector<FlagText>& flags) {
  std::vector<std::string> names;
  for (const FlagText& flag : flags) {
    if (!flag.positional) names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  return names;
}

std::vector<std::string> NamesOf(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  for (const CommandText& command : commands) names.push_back(command.name);
  names.push_back("help");
  return names;
}

// Quotes for all three shells, in single quotes.
std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// Bash cases: a flag with a value, and its possible values.
std::string ValueCases(const std::vector<FlagText>& flags) {
  std::string cases;
  for (const FlagText& flag : flags) {
    if (flag.positional || flag.value.empty()) continue;
    absl::StrAppend(&cases, "    ", absl::StrJoin(flag.names, "|"), ") words='",
                    absl::StrJoin(flag.choices, " "), "' ;;\n");
  }
  return cases;
}

}  // namespace

// If no word fits, `-o default` offers files.
std::string BashCompletion(const CLI::App& app) {
  const std::vector<CommandText> commands = CommandsOf(app);
  const std::vector<std::string> global = NamesOf(FlagsOf(app));
  std::string flags, values;
  for (const CommandText& command : commands) {
    absl::StrAppend(&flags, "    ", command.name, ") words='",
                    absl::StrJoin(NamesOf(command.flags), " "), " ", absl::StrJoin(global, " "),
                    "' ;;\n");
    values += ValueCases(command.flags);
  }
  const std::string names = absl::StrJoin(NamesOf(commands), " ");
  return absl::StrCat(
      "# To use it: source <(reel completion bash)\n"
      "_reel() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words=\n"
      "  local each\n"
      "  for each in \"${COMP_WORDS[@]:1:$((COMP_CWORD-1))}\"; do\n"
      "    case \" ",
      names,
      " \" in *\" $each \"*) command=$each; break ;; esac\n"
      "  done\n"
      "  case $command in\n"
      "    '') words='",
      names, " ", absl::StrJoin(global, " "),
      "' ;;\n"
      "    help) words='",
      names, "' ;;\n", flags,
      "  esac\n"
      "  case $before in\n",
      ValueCases(FlagsOf(app)), values,
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}\n"
      "complete -o default -F _reel reel\n");
}

// Zsh runs the functions of bash.
std::string ZshCompletion(const CLI::App& app) {
  return absl::StrCat(
      "autoload -U +X bashcompinit && bashcompinit\n",
      absl::StrReplaceAll(BashCompletion(app), {{"completion bash", "completion zsh"}}));
}

std::string FishCompletion(const CLI::App& app) {
  std::string script = "# To use it: reel completion fish | source\n";
  const auto add = [&script](const std::string& condition, const FlagText& flag) {
    if (flag.positional) return;
    absl::StrAppend(&script, "complete -c reel");
    if (!condition.empty()) absl::StrAppend(&script, " -n ", Quoted(condition));
    for (const std::string& name : flag.names) {
      absl::StrAppend(&script,
                      name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1));
    }
    if (!flag.value.empty()) absl::StrAppend(&script, " -r");
    if (!flag.choices.empty()) {
      absl::StrAppend(&script, " -f -a ", Quoted(absl::StrJoin(flag.choices, " ")));
    }
    absl::StrAppend(&script, " -d ", Quoted(flag.help), "\n");
  };
  for (const FlagText& flag : FlagsOf(app)) add("", flag);
  for (const CommandText& command : CommandsOf(app)) {
    absl::StrAppend(&script, "complete -c reel -f -n __fish_use_subcommand -a ", command.name,
                    " -d ", Quoted(command.help), "\n");
    for (const FlagText& flag : command.flags) {
      add("__fish_seen_subcommand_from " + command.name, flag);
    }
  }
  return script;
}

}  // namespace reel::client
