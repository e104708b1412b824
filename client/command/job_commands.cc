// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/commands.h"
#include "client/command/json_output.h"
#include "client/command/quantity.h"
#include "client/command/spec_flags.h"
#include "client/command/text_table.h"
#include "client/command/video_text.h"

namespace reel::client {
namespace {

struct CreateFlags {
  SpecFlags spec;
  JobFlags job;
  CountFlag count;
  bool validate_only = false;
};

// Only the names, for scripts.
ExitCode ShowAll(Session& session, const std::vector<v1::Video>& videos, bool validated) {
  v1::CreateVideoResponse response;
  std::string names;
  for (const v1::Video& video : videos) {
    *response.add_videos() = video;
    absl::StrAppend(&names, video.name(), "\n");
  }
  return session.Show(response, validated ? "valid\n" : names);
}

ExitCode Create(Session& session, const CreateFlags& flags) {
  v1::CreateVideoRequest request;
  auto spec = flags.spec.Spec(session);
  if (!spec.ok()) return session.Fail(spec.status());
  *request.mutable_spec() = *std::move(spec);
  flags.job.Fill(request);
  request.set_validate_only(flags.validate_only);
  request.set_count(flags.count.value());
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  if (request.count() > 0) {
    const auto videos = (*client)->CreateAll(request);
    if (!videos.ok()) return session.Fail(videos.status());
    return ShowAll(session, *videos, flags.validate_only);
  }
  const auto video = (*client)->Create(request);
  if (!video.ok()) return session.Fail(video.status());
  // Prints only the name, for scripts.
  return session.Show(*video, flags.validate_only ? "valid\n" : video->name() + "\n");
}

std::string DescribeEstimate(const v1::EstimateVideoResponse& estimate) {
  TextTable table({"queue", absl::StrCat(HumanDuration(FromProto(estimate.queue())), ", ",
                                         estimate.queue_position(), " jobs ahead")});
  if (FromProto(estimate.model_load()) > absl::ZeroDuration()) {
    table.AddRow({"model", absl::StrCat("is loaded first, in about ",
                                        HumanDuration(FromProto(estimate.model_load())))});
  }
  const auto times_of = [](const auto& run) {
    return absl::StrCat(HumanDuration(FromProto(run.run_p50())), ", 90 % within ",
                        HumanDuration(FromProto(run.run_p90())));
  };
  table.AddRow({"run", times_of(estimate)});
  for (const v1::DeviceEstimate& device : estimate.devices()) {
    table.AddRow({"  on " + device.device(),
                  device.observed() ? times_of(device)
                                    : "unknown: no video of its model has run there yet"});
  }
  const v1::VideoSpec& spec = estimate.spec();
  table.AddRow({"shape", absl::StrFormat("%dx%d, %d frames, %d steps, %d latent tokens",
                                         spec.width(), spec.height(), spec.num_frames(),
                                         NumSteps(spec), estimate.latent_tokens())});
  if (estimate.peak_memory_bytes() > 0) {
    table.AddRow({"memory", HumanBytes(estimate.peak_memory_bytes())});
  }
  table.AddRow({"charge", absl::StrFormat("%.2f device seconds", estimate.device_seconds())});
  table.AddRow({"now", estimate.admissible()
                           ? "would be accepted"
                           : "would be refused: " + estimate.refusal().message()});
  return table.Render();
}

struct EstimateFlags {
  SpecFlags spec;
  PriorityFlag priority;
  CountFlag count;
};

ExitCode Estimate(Session& session, const EstimateFlags& flags) {
  v1::EstimateVideoRequest request;
  session.only_quotes = true;
  auto spec = flags.spec.Spec(session);
  if (!spec.ok()) return session.Fail(spec.status());
  *request.mutable_spec() = *std::move(spec);
  request.set_priority(flags.priority.value());
  request.set_count(flags.count.value());
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto estimate = (*client)->Estimate(request);
  if (!estimate.ok()) return session.Fail(estimate.status());
  return session.Show(*estimate, DescribeEstimate(*estimate));
}

// Continues after an error, so that a bad name does not stop the others; the first error counts.
template <class Each>
ExitCode ForEachName(Session& session, const std::vector<std::string>& names, Each each) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  ExitCode result = ExitCode::kOk;
  for (const std::string& name : names) {
    const absl::Status status = each(**client, FullName(name));
    if (status.ok()) continue;
    const ExitCode code = session.Fail(status);
    if (result == ExitCode::kOk) result = code;
  }
  return result;
}

ExitCode Cancel(Session& session, const std::vector<std::string>& names) {
  return ForEachName(session, names, [&session](VideoClient& client, const std::string& name) {
    const auto video = client.Cancel(name);
    if (!video.ok()) return video.status();
    // Still running: it ends within a step.
    session.Show(*video, absl::StrCat(name, "  ", StateName(video->state()), "\n"));
    return absl::OkStatus();
  });
}

ExitCode Delete(Session& session, const std::vector<std::string>& names) {
  return ForEachName(session, names, [&session](VideoClient& client, const std::string& name) {
    const absl::Status status = client.Delete(name);
    if (status.ok() && !session.json) session.console.Print(name + "\n");
    if (status.ok() && session.json) {
      session.console.Print(absl::StrCat("{\"deleted\":", JsonString(name), "}\n"));
    }
    return status;
  });
}

using OnNames = ExitCode (*)(Session&, const std::vector<std::string>&);

void AddNames(CLI::App& app, Action& action, const std::string& name, const std::string& help,
              OnNames run) {
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App& command = *app.add_subcommand(name, help);
  command.add_option("name", *names, "videos/ID, or the ID; several are allowed")->required();
  command.callback([names, run, &action] {
    action = [names, run](Session& session) { return run(session, *names); };
  });
}

}  // namespace

void AddCreate(CLI::App& app, Action& action) {
  auto flags = std::make_shared<CreateFlags>();
  CLI::App& command = *app.add_subcommand("create", "Start a job, print its name and exit");
  flags->spec.AddTo(command);
  flags->job.AddTo(command);
  flags->count.AddTo(command, "So many videos, with seeds that follow each other: all or none");
  command.add_flag("--validate-only", flags->validate_only,
                   "Check the request without starting a job");
  command.callback(
      [flags, &action] { action = [flags](Session& session) { return Create(session, *flags); }; });
}

void AddEstimate(CLI::App& app, Action& action) {
  auto flags = std::make_shared<EstimateFlags>();
  CLI::App& command = *app.add_subcommand("estimate", "Estimate what a video would cost now");
  flags->spec.AddTo(command);
  flags->priority.AddTo(command);
  flags->count.AddTo(command, "So many videos: the queue of the last, the charge of all");
  command.callback([flags, &action] {
    action = [flags](Session& session) { return Estimate(session, *flags); };
  });
}

void AddCancel(CLI::App& app, Action& action) {
  AddNames(app, action, "cancel", "Cancel queued or running videos", Cancel);
}

void AddDelete(CLI::App& app, Action& action) {
  AddNames(app, action, "delete", "Delete videos that have ended, and their files", Delete);
}

}  // namespace reel::client
