// SPDX-License-Identifier: Apache-2.0
#include "client/command/commands.h"
#include "client/command/fleet_text.h"
#include "client/command/json_output.h"
#include "client/command/repeated_look.h"

namespace reel::client {
namespace {

ExitCode Fleet(Session& session, const LookFlags& flags) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  return LookAgainAndAgain(session, flags, [&](bool) -> absl::StatusOr<Look> {
    const auto fleet = (*client)->Fleet();
    if (!fleet.ok()) return fleet.status();
    // A lone server's view never changes.
    return Look{session.json ? JsonOf(*fleet) + "\n" : DescribeFleet(*fleet),
                !fleet->name().empty()};
  });
}

}  // namespace

void AddFleet(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "fleet",
      "The servers of the fleet, what waits for them, its log and its store, until Ctrl-C (for "
      "admins)");
  const auto flags = AddLookFlags(command);
  command.callback(
      [flags, &action] { action = [flags](Session& session) { return Fleet(session, *flags); }; });
}

}  // namespace reel::client
