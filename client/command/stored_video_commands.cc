// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/command/commands.h"
#include "client/command/follow.h"
#include "client/command/json_output.h"
#include "client/command/progress_line.h"
#include "client/command/video_text.h"
#include "client/save_video.h"
#include "kernels/base/program/flag_checks.h"

namespace reel::client {
namespace {

struct FetchFlags {
  std::string name;
  std::string output;
};

std::string WithPath(const std::string& member, const google::protobuf::Message& message,
                     const std::string& path) {
  return absl::StrCat("{\"", member, "\":", JsonOf(message), ",\"path\":", JsonString(path), "}\n");
}

ExitCode Watch(Session& session, const FetchFlags& flags) {
  if (const auto refused = session.RefuseStdout(flags.output)) return *refused;
  v1::WatchVideoRequest request;
  request.set_name(FullName(flags.name));
  request.set_without_media(flags.output.empty());
  FollowOptions options;
  options.output = flags.output;
  const Followed followed = Follow(session, std::move(request), options);
  if (followed.signal != 0 && !followed.video.ok()) {
    return static_cast<ExitCode>(128 + followed.signal);
  }
  if (!followed.video.ok()) return session.Fail(followed.video.status());
  if (flags.output == "-") return ExitCode::kOk;
  if (flags.output.empty()) return session.Show(*followed.video, DescribeVideo(*followed.video));
  session.console.Print(session.json ? WithPath("video", *followed.video, flags.output)
                                     : flags.output + "\n");
  return ExitCode::kOk;
}

ExitCode Download(Session& session, const FetchFlags& flags) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const std::string name = FullName(flags.name);
  // Only for the progress bar; the download itself reports a better error.
  const auto video = (*client)->Get(name);
  const int64_t size = video.ok() ? video->media().size_bytes() : 0;
  const auto media = SaveDownload(**client, name, flags.output, [&session, size](int64_t received) {
    ProgressView view;
    view.stage = "download";
    view.bytes = received;
    if (size > 0) view.fraction = static_cast<double>(received) / static_cast<double>(size);
    session.console.Progress([&view](int width) { return RenderProgress(view, width); }, false);
  });
  session.console.ClearProgress();
  if (!media.ok()) return session.Fail(media.status());
  session.console.Print(session.json ? WithPath("media", *media, flags.output)
                                     : flags.output + "\n");
  return ExitCode::kOk;
}

}  // namespace

void AddWatch(CLI::App& app, Action& action) {
  auto flags = std::make_shared<FetchFlags>();
  CLI::App& command = *app.add_subcommand("watch", "Follow a video until it is finished");
  command.add_option("name", flags->name, "videos/ID, or the ID")->required();
  command.add_option("-o,--output", flags->output, "Write the file as well; - for stdout")
      ->check(WhyNotMp4);
  command.callback(
      [flags, &action] { action = [flags](Session& session) { return Watch(session, *flags); }; });
}

void AddDownload(CLI::App& app, Action& action) {
  auto flags = std::make_shared<FetchFlags>();
  CLI::App& command =
      *app.add_subcommand("download", "Fetch a finished video; resumes an interrupted download");
  command.add_option("name", flags->name, "videos/ID, or the ID")->required();
  command.add_option("-o,--output", flags->output, "File to write")
      ->required()
      ->check(WhyNotMp4)
      ->check([](const std::string& path) {
        return path == "-" ? "only a file can be resumed; `reel watch NAME -o -` writes to stdout"
                           : std::string();
      });
  command.callback([flags, &action] {
    action = [flags](Session& session) { return Download(session, *flags); };
  });
}

}  // namespace reel::client
