// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/command/commands.h"
#include "client/command/interrupt.h"
#include "client/command/load_report.h"
#include "client/command/quantity.h"
#include "client/command/spec_flags.h"
#include "client/command/value_flags.h"
#include "google/protobuf/util/json_util.h"
#include "kernels/base/program/flag_checks.h"

namespace reel::client {
namespace {

constexpr int kMostRequests = 1'000'000;
constexpr size_t kMostSpecs = 1000;
constexpr absl::Duration kDefaultLength = absl::Seconds(30);

struct BenchFlags {
  SpecFlags spec;
  LoadPlan plan;
  LoadOptions options;
  std::string mix;
  bool even = false;
  std::optional<absl::Duration> length, slo, timeout;
};

// Reads a spec as JSON from each line.
absl::StatusOr<std::vector<v1::VideoSpec>> ReadMix(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::InvalidArgumentError(absl::StrCat("cannot read ", path));
  std::vector<v1::VideoSpec> specs;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    v1::VideoSpec spec;
    const auto parsed = google::protobuf::util::JsonStringToMessage(line, &spec);
    if (!parsed.ok() || specs.size() == kMostSpecs) {
      const std::string why = parsed.ok() ? absl::StrCat("more than ", kMostSpecs, " specs")
                                          : std::string(parsed.message());
      return absl::InvalidArgumentError(absl::StrCat(path, ":", number, ": ", why));
    }
    specs.push_back(std::move(spec));
  }
  if (specs.empty()) return absl::InvalidArgumentError(path + " has no specs");
  return specs;
}

std::string LabelOf(const v1::VideoSpec& spec, size_t number) {
  const std::string shape = spec.width() == 0 ? std::string("default shape")
                                              : absl::StrFormat("%dx%dx%d", spec.width(),
                                                                spec.height(), spec.num_frames());
  return absl::StrCat(number + 1, ": ", shape, ", ",
                      spec.num_inference_steps() == 0
                          ? "default steps"
                          : absl::StrCat(spec.num_inference_steps(), " steps"));
}

absl::StatusOr<std::vector<v1::VideoSpec>> SpecsOf(Session& session, const BenchFlags& flags) {
  if (!flags.mix.empty()) return ReadMix(flags.mix);
  auto spec = flags.spec.Spec(session);
  if (!spec.ok()) return spec.status();
  return std::vector<v1::VideoSpec>{*std::move(spec)};
}

ExitCode Bench(Session& session, BenchFlags& flags) {
  auto specs = SpecsOf(session, flags);
  if (!specs.ok()) return session.Fail(specs.status());
  LoadOptions options = flags.options;
  options.specs = *std::move(specs);
  if (flags.timeout) options.timeout = ToProto(*flags.timeout);
  LoadPlan plan = flags.plan;
  plan.poisson = !flags.even;
  plan.specs = options.specs.size();
  const double wanted =
      std::ceil(plan.rate * absl::ToDoubleSeconds(flags.length.value_or(kDefaultLength)));
  plan.count = static_cast<int>(std::clamp<double>(wanted, 1, kMostRequests));
  // A busy server's refusal is a result: nothing is retried.
  session.options.retry.max_attempts = 1;
  StopSignal stop;
  const Interrupt interrupt([&stop] { stop.Stop(); });
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  if (const auto info = (*client)->Info(); !info.ok()) return session.Fail(info.status());
  options.progress = [&](size_t answered) {
    const std::string line = absl::StrCat(answered, " of ", plan.count, " answered");
    session.console.Progress([&](int) { return line; }, false);
  };
  const absl::Time begin = absl::Now();
  const auto answers = RunLoad(**client, ArrivalsOf(plan), options, stop);
  const absl::Duration span = absl::Now() - begin;
  session.console.ClearProgress();
  std::vector<std::string> labels;
  for (size_t i = 0; i < plan.specs; ++i) labels.push_back(LabelOf(options.specs[i], i));
  const absl::Duration slo = flags.slo.value_or(absl::InfiniteDuration());
  const LoadReport report = ReportOf(answers, plan.specs, slo, span);
  session.console.Print(session.json ? ReportJson(report, labels, plan, slo)
                                     : RenderReport(report, labels, slo));
  if (interrupt.signal() != 0) return static_cast<ExitCode>(128 + interrupt.signal());
  return ExitCode::kOk;
}

}  // namespace

void AddBench(CLI::App& app, Action& action) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App& command = *app.add_subcommand(
      "bench", "Send requests at a steady rate, and report latencies and failures");
  flags->spec.AddTo(command, SpecUse::kLoad);
  CLI::Option* prompt = command.get_option("prompt");
  CLI::Option* mix =
      command
          .add_option("--mix", flags->mix,
                      "Instead of one spec: a file with a VideoSpec as JSON on each line, of which "
                      "each request draws one")
          ->check(CLI::ExistingFile)
          ->excludes(prompt);
  command.add_option("--rate", flags->plan.rate, "Requests a second")
      ->check(CLI::Range(0.001, 10'000.0))
      ->capture_default_str();
  AddDuration(command, "--for", flags->length, "Duration of the load (default 30s)");
  command.add_flag("--even", flags->even,
                   "Even gaps; otherwise random ones, as of independent callers (Poisson)");
  command.add_option("--load-seed", flags->plan.seed, "Same seed, same times and same draws")
      ->check(WhyNotSeed)
      ->capture_default_str();
  AddDuration(command, "--slo", flags->slo,
              "Time limit of a video; the report shows the share within it");
  AddDuration(command, "--timeout", flags->timeout, "Deadline of each job");
  command.add_flag("--with-media", flags->options.with_media, "Receive the videos' bytes as well");
  command
      .add_option("--most-under-way", flags->options.most_under_way,
                  "Most requests under way; those above it are not sent, but counted")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.callback([flags, prompt, mix, &action] {
    if (prompt->empty() && mix->empty()) throw CLI::RequiredError("a prompt or --mix");
    action = [flags](Session& session) { return Bench(session, *flags); };
  });
}

}  // namespace reel::client
