// SPDX-License-Identifier: Apache-2.0
#include "client/command/man_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/command/flag_list.h"

namespace reel::client {
namespace {

// Escapes lines that begin with a dot or a quote, and "-", which would become a hyphen.
std::string Plain(const std::string& text) {
  return absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"\n", "\n.br\n"}});
}

std::string Flag(const FlagText& flag) {
  std::string names = "\\fB" + Plain(absl::StrJoin(flag.names, ", ")) + "\\fR";
  const std::string value = flag.choices.empty() ? flag.value : absl::StrJoin(flag.choices, "|");
  if (!flag.positional && !value.empty()) absl::StrAppend(&names, " \\fI", Plain(value), "\\fR");
  return absl::StrCat(".TP\n", names, "\n\\&", Plain(flag.help), "\n");
}

}  // namespace

std::string ManPage(const CLI::App& app, const std::string& version) {
  std::string page = absl::StrCat(
      ".TH REEL 1 \"\" \"reel ", version, "\" \"Reel\"\n.SH NAME\nreel \\- ",
      Plain(app.get_description()),
      "\n.SH SYNOPSIS\n\\fBreel\\fR [\\fIflags\\fR] \\fIcommand\\fR [\\fIarguments\\fR]\n"
      ".SH FLAGS OF EVERY COMMAND\n");
  for (const FlagText& flag : FlagsOf(app)) page += Flag(flag);
  absl::StrAppend(&page, ".SH COMMANDS\n");
  for (const CommandText& command : CommandsOf(app)) {
    absl::StrAppend(&page, ".SS reel ", Plain(command.name), "\n", Plain(command.help), ".\n");
    for (const FlagText& flag : command.flags) {
      if (flag.names[0] != "--help") page += Flag(flag);
    }
  }
  absl::StrAppend(&page,
                  ".SH ENVIRONMENT\n.TP\n\\fBREEL_SERVER\\fR\nThe server, where "
                  "\\fB\\-\\-server\\fR does not name it.\n.TP\n\\fBNO_COLOR\\fR\n"
                  "No colours, if it is not empty.\n.SH EXIT STATUS\n",
                  Plain(app.get_footer()));
  return page;
}

}  // namespace reel::client
