// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "client/command/commands.h"
#include "client/command/repeated_look.h"
#include "client/command/top_view.h"

namespace reel::client {
namespace {

constexpr int kMostJobs = 200;  // videos a page
constexpr int kFinished = 10;
constexpr size_t kRows = 15;
constexpr size_t kAllRows = 1000;

// Polls a server, and asks only once for what does not change.
class Watcher {
 public:
  explicit Watcher(const VideoClient& client) : client_(client) {}

  absl::StatusOr<TopView> Look(const std::string& server) {
    TopView view;
    view.server = server;
    auto info = client_.Info();
    if (!info.ok()) return info.status();
    view.info = *std::move(info);
    v1::ListVideosRequest open;
    open.set_page_size(kMostJobs);
    open.add_states(v1::VIDEO_STATE_QUEUED);
    open.add_states(v1::VIDEO_STATE_RUNNING);
    const auto jobs = client_.List(open);
    if (!jobs.ok()) return jobs.status();
    view.jobs.assign(jobs->videos().begin(), jobs->videos().end());
    view.more_jobs = !jobs->next_page_token().empty();
    if (absl::Status read = ReadFinished(view); !read.ok()) return read;
    return view;
  }

 private:
  // Lists do not have statistics.
  absl::Status ReadFinished(TopView& view) {
    v1::ListVideosRequest request;
    request.set_page_size(kFinished);
    request.add_states(v1::VIDEO_STATE_SUCCEEDED);
    const auto list = client_.List(request);
    if (!list.ok()) return list.status();
    std::map<std::string, v1::Video> read;
    for (const v1::Video& listed : list->videos()) {
      const auto known = finished_.find(listed.name());
      absl::StatusOr<v1::Video> video =
          known == finished_.end() ? client_.Get(listed.name()) : std::move(known->second);
      if (absl::IsNotFound(video.status())) continue;  // deleted meanwhile
      if (!video.ok()) return video.status();
      view.finished.push_back(*video);
      read.emplace(listed.name(), *std::move(video));
    }
    finished_ = std::move(read);
    return absl::OkStatus();
  }

  const VideoClient& client_;
  std::map<std::string, v1::Video> finished_;  // by name, from the previous poll
};

ExitCode Top(Session& session, const LookFlags& flags) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  Watcher watcher(**client);
  return LookAgainAndAgain(session, flags, [&](bool is_live) -> absl::StatusOr<Look> {
    const auto view = watcher.Look(session.options.server);
    if (!view.ok()) return view.status();
    return Look{session.json ? TopJson(*view) : RenderTop(*view, is_live ? kRows : kAllRows)};
  });
}

}  // namespace

void AddTop(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "top", "Workers, jobs under way and where kernels' time goes, until Ctrl-C");
  const auto flags = AddLookFlags(command);
  command.callback(
      [flags, &action] { action = [flags](Session& session) { return Top(session, *flags); }; });
}

}  // namespace reel::client
