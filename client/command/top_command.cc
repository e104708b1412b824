// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "client/command/commands.h"
#include "client/command/interrupt.h"
#include "client/command/top_view.h"
#include "client/stop_signal.h"

namespace reel::client {
namespace {

constexpr int kMostJobs = 200;  // a page
constexpr int kFinished = 10;
constexpr size_t kRows = 15;
constexpr size_t kAllRows = 1000;
constexpr char kClearScreen[] = "\x1b[H\x1b[2J";

struct TopFlags {
  bool once = false;
  double every = 2;
};

// Looks at a server again and again, and asks for what does not change once.
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
  // Lists leave statistics out.
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
  std::map<std::string, v1::Video> finished_;  // by name, of the last look
};

ExitCode Top(Session& session, const TopFlags& flags) {
  StopSignal stop;
  const Interrupt interrupt([&stop] { stop.Stop(); });
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  Watcher watcher(**client);
  const bool live = !flags.once && !session.json && session.console.out_is_terminal();
  do {
    const auto view = watcher.Look(session.options.server);
    if (!view.ok()) return session.Fail(view.status());
    const std::string text =
        session.json ? TopJson(*view) : RenderTop(*view, live ? kRows : kAllRows);
    if (!session.console.Print(live ? kClearScreen + text : text)) break;
  } while (live && stop.Sleep(absl::Seconds(flags.every)));
  return ExitCode::kOk;
}

}  // namespace

void AddTop(CLI::App& app, Action& action) {
  auto flags = std::make_shared<TopFlags>();
  CLI::App& command = *app.add_subcommand(
      "top", "Workers, jobs under way and where kernels' time goes, until Ctrl-C");
  command.add_flag("--once", flags->once,
                   "Print it once and end, as without a terminal and with --json");
  command.add_option("--every", flags->every, "Seconds between two looks")
      ->check(CLI::Range(0.2, 3600.0))
      ->capture_default_str();
  command.callback(
      [flags, &action] { action = [flags](Session& session) { return Top(session, *flags); }; });
}

}  // namespace reel::client
