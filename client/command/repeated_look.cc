// SPDX-License-Identifier: Apache-2.0
#include "client/command/repeated_look.h"

#include "absl/time/time.h"
#include "client/command/interrupt.h"
#include "client/stop_signal.h"

namespace reel::client {
namespace {

constexpr char kClearScreen[] = "\x1b[H\x1b[2J";

}  // namespace

std::shared_ptr<LookFlags> AddLookFlags(CLI::App& command) {
  auto flags = std::make_shared<LookFlags>();
  command.add_flag("--once", flags->once,
                   "Print it once and end, as without a terminal and with --json");
  command.add_option("--every", flags->every, "Seconds between two updates")
      ->check(CLI::Range(0.2, 3600.0))
      ->capture_default_str();
  return flags;
}

ExitCode LookAgainAndAgain(Session& session, const LookFlags& flags, const Looker& look) {
  StopSignal stop;
  const Interrupt interrupt([&stop] { stop.Stop(); });
  bool is_live = !flags.once && !session.json && session.console.out_is_terminal();
  do {
    const auto seen = look(is_live);
    if (!seen.ok()) return session.Fail(seen.status());
    is_live = is_live && seen->changes;
    if (!session.console.Print(is_live ? kClearScreen + seen->text : seen->text)) break;
  } while (is_live && stop.Sleep(absl::Seconds(flags.every)));
  return ExitCode::kOk;
}

}  // namespace reel::client
