// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/command/commands.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"
#include "client/command/video_text.h"

namespace reel::client {
namespace {

constexpr int kLargestPage = 200;
constexpr size_t kPromptColumns = 40;

struct ListFlags {
  std::vector<std::string> states;
  int limit = 50;
};

// Reads pages until there are `limit` videos or no more.
absl::StatusOr<v1::ListVideosResponse> ListUpTo(const VideoClient& client, const ListFlags& flags) {
  v1::ListVideosRequest request;
  for (const std::string& name : flags.states) {
    v1::VideoState state = v1::VIDEO_STATE_UNSPECIFIED;
    v1::VideoState_Parse("VIDEO_STATE_" + absl::AsciiStrToUpper(name), &state);
    request.add_states(state);
  }
  v1::ListVideosResponse all;
  do {
    request.set_page_size(std::min(flags.limit - all.videos_size(), kLargestPage));
    auto page = client.List(request);
    if (!page.ok()) return page.status();
    all.mutable_videos()->MergeFrom(page->videos());
    all.set_next_page_token(page->next_page_token());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && all.videos_size() < flags.limit);
  return all;
}

std::string Progress(const v1::Video& video) {
  if (video.state() == v1::VIDEO_STATE_QUEUED) {
    return absl::StrCat(video.progress().queue_position(), " ahead");
  }
  if (video.state() == v1::VIDEO_STATE_RUNNING) {
    return absl::StrFormat("%.0f%%", video.progress().fraction() * 100);
  }
  return video.media().size_bytes() > 0 ? HumanBytes(video.media().size_bytes()) : "";
}

std::string DescribeList(const v1::ListVideosResponse& list) {
  TextTable table({"NAME", "STATE", "PROGRESS", "SHAPE", "MODEL", "CREATED", "PROMPT"});
  for (const v1::Video& video : list.videos()) {
    const v1::VideoSpec& spec = video.spec();
    table.AddRow({video.name(), StateName(video.state()), Progress(video),
                  absl::StrFormat("%dx%dx%d", spec.width(), spec.height(), spec.num_frames()),
                  spec.model(), HumanTime(video.create_time()),
                  Ellipsized(spec.prompt(), kPromptColumns)});
  }
  return table.Render();
}

ExitCode List(Session& session, const ListFlags& flags) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto list = ListUpTo(**client, flags);
  if (!list.ok()) return session.Fail(list.status());
  session.Show(*list, list->videos_size() == 0 ? "" : DescribeList(*list));
  if (list->videos_size() == 0) session.console.Notice("no videos");
  if (!list->next_page_token().empty()) {
    session.console.Notice(
        absl::StrCat("showing the first ", flags.limit, " videos; --limit shows more"));
  }
  return ExitCode::kOk;
}

ExitCode Get(Session& session, const std::string& name) {
  auto client = session.Open();
  if (!client.ok()) return session.Fail(client.status());
  const auto video = (*client)->Get(FullName(name));
  if (!video.ok()) return session.Fail(video.status());
  return session.Show(*video, DescribeVideo(*video));
}

}  // namespace

void AddList(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ListFlags>();
  CLI::App& command = *app.add_subcommand("list", "Your videos, newest first");
  command.add_option("--state", flags->states, "Only videos in this state; may be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::IsMember({"queued", "running", "succeeded", "failed", "cancelled"}));
  command.add_option("--limit", flags->limit, "Most videos to list")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command.callback(
      [flags, &action] { action = [flags](Session& session) { return List(session, *flags); }; });
}

void AddGet(CLI::App& app, Action& action) {
  auto name = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("get", "Show one video");
  command.add_option("name", *name, "videos/ID, or the ID")->required();
  command.callback(
      [name, &action] { action = [name](Session& session) { return Get(session, *name); }; });
}

}  // namespace reel::client
