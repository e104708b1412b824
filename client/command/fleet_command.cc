// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/command/commands.h"
#include "client/command/fleet_text.h"
#include "client/command/interrupt.h"
#include "client/stop_signal.h"

namespace reel::client {
namespace {

constexpr char kClearFleet[] = "\x1b[H\x1b[2J";

struct FleetFlags {
  bool once = false;
  double every = 2;
};

ExitCode Fleet(Session& session, const FleetFlags& flags) {
  StopSignal stop;
  const Interrupt interrupt([&stop] { stop.Stop(); });
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  bool live = !flags.once && !session.json && session.console.out_is_terminal();
  do {
    const auto fleet = (*client)->Fleet();
    if (!fleet.ok()) return session.Fail(fleet.status());
    live = live && !fleet->name().empty();  // of one that is alone nothing will change
    if (!live) return session.Show(*fleet, DescribeFleet(*fleet));
    if (!session.console.Print(absl::StrCat(kClearFleet, DescribeFleet(*fleet)))) break;
  } while (stop.Sleep(absl::Seconds(flags.every)));
  return ExitCode::kOk;
}

}  // namespace

void AddFleet(CLI::App& app, Action& action) {
  auto flags = std::make_shared<FleetFlags>();
  CLI::App& command = *app.add_subcommand(
      "fleet",
      "The servers of the fleet, what waits for them, its log and its store, until Ctrl-C (for "
      "admins)");
  command.add_flag("--once", flags->once,
                   "Print it once and end, as without a terminal and with --json");
  command.add_option("--every", flags->every, "Seconds between two looks")
      ->check(CLI::Range(0.2, 3600.0))
      ->capture_default_str();
  command.callback(
      [flags, &action] { action = [flags](Session& session) { return Fleet(session, *flags); }; });
}

}  // namespace reel::client
