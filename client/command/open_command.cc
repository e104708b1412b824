// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/command/commands.h"
#include "client/command/page_link.h"
#include "google/protobuf/struct.pb.h"

namespace reel::client {
namespace {

// True: the program ran and reported success. Its output goes to standard error.
bool Opens(std::string program, std::string link) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  char* const words[] = {program.data(), link.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words[0], &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

ExitCode Open(Session& session) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto info = (*client)->Info();
  if (!info.ok()) return session.Fail(info.status());
  const auto link = PageLink(*info, session.options.server);
  if (!link.ok()) return session.Fail(link.status());
  const bool opened = Opens(session.browser, *link);
  if (!opened) {
    session.console.Notice(
        absl::StrCat(session.browser, " did not open it; this is the page's address"));
  }
  google::protobuf::Struct result;
  (*result.mutable_fields())["url"].set_string_value(*link);
  (*result.mutable_fields())["opened"].set_bool_value(opened);
  return session.Show(result, absl::StrCat(*link, "\n"));
}

}  // namespace

void AddOpen(CLI::App& app, Action& action) {
  app.add_subcommand("open", "The server's page in a browser ($BROWSER or xdg-open); its address")
      ->callback([&action] { action = Open; });
}

}  // namespace reel::client
