// SPDX-License-Identifier: Apache-2.0
#include "client/command/top_view.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/command/json_output.h"
#include "client/command/progress_line.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"
#include "client/command/video_text.h"
#include "client/command/worker_table.h"

namespace reel::client {
namespace {

constexpr int kBarColumns = 20;
constexpr size_t kJobPromptColumns = 30;

bool IsRunning(const v1::Video& video) { return video.state() == v1::VIDEO_STATE_RUNNING; }

std::vector<v1::Video> InOrder(std::vector<v1::Video> jobs) {
  const auto key = [](const v1::Video& job) {
    return std::make_tuple(!IsRunning(job), job.progress().queue_position(), job.name());
  };
  std::sort(jobs.begin(), jobs.end(),
            [&key](const v1::Video& a, const v1::Video& b) { return key(a) < key(b); });
  return jobs;
}

std::string Headline(const TopView& view) {
  const auto running = std::count_if(view.jobs.begin(), view.jobs.end(), IsRunning);
  const auto queued = static_cast<std::ptrdiff_t>(view.jobs.size()) - running;
  return absl::StrCat(view.server, "  ", view.info.version(), "  up ",
                      HumanDuration(FromProto(view.info.uptime())),
                      view.info.draining() ? "  draining" : "", "  ", running, " running, ",
                      view.more_jobs ? "at least " : "", queued, " queued\n");
}

void AddJob(const v1::Video& job, TextTable& table) {
  const v1::VideoSpec& spec = job.spec();
  const v1::Progress& progress = job.progress();
  const absl::Duration left = FromProto(progress.remaining());
  table.AddRow({job.name(),
                IsRunning(job) ? ViewOf(progress).stage
                               : absl::StrCat("queued, ", progress.queue_position(), " ahead"),
                absl::StrFormat("%d/%d", progress.step(), NumSteps(spec)),
                absl::StrFormat("%.0f%%", progress.fraction() * 100),
                left > absl::ZeroDuration() ? HumanDuration(left) : "", job.worker(),
                absl::StrFormat("%dx%dx%d", spec.width(), spec.height(), spec.num_frames()),
                spec.model(), Ellipsized(spec.prompt(), kJobPromptColumns)});
}

std::string Jobs(const TopView& view, size_t rows) {
  if (view.jobs.empty()) return "no jobs\n";
  TextTable table({"JOB", "STAGE", "STEP", "DONE", "LEFT", "WORKER", "SHAPE", "MODEL", "PROMPT"});
  const std::vector<v1::Video> jobs = InOrder(view.jobs);
  for (size_t i = 0; i < std::min(rows, jobs.size()); ++i) AddJob(jobs[i], table);
  std::string text = table.Render();
  if (jobs.size() > rows) absl::StrAppend(&text, "and ", jobs.size() - rows, " more\n");
  return text;
}

// Microseconds.
double ACall(const KernelShare& one) {
  return absl::ToDoubleMicroseconds(one.timed) / static_cast<double>(one.calls);
}

std::string Kernels(const TopView& view, size_t rows) {
  const std::vector<KernelShare> shares = KernelSharesOf(view.finished);
  if (shares.empty()) return "";
  TextTable table({"OP", "VARIANT", "SHARE", "", "A CALL"});
  for (size_t i = 0; i < std::min(rows, shares.size()); ++i) {
    const KernelShare& one = shares[i];
    table.AddRow({one.op, one.variant, absl::StrFormat("%.1f%%", one.share * 100),
                  Bar(one.share, kBarColumns),
                  one.calls == 0 ? "" : absl::StrFormat("%.1f us", ACall(one))});
  }
  return absl::StrCat("\nWhere the device's time went in the last ", view.finished.size(),
                      view.finished.size() == 1 ? " video" : " videos", "\n", table.Render());
}

std::string KernelJson(const KernelShare& one) {
  return absl::StrFormat(R"({"op":%s,"variant":%s,"calls":%d,"seconds":%.9f,"share":%.6f})",
                         JsonString(one.op), JsonString(one.variant), one.calls,
                         absl::ToDoubleSeconds(one.estimate), one.share);
}

}  // namespace

std::vector<KernelShare> KernelSharesOf(const std::vector<v1::Video>& videos) {
  std::map<std::pair<std::string, std::string>, KernelShare> by_name;
  absl::Duration all;
  for (const v1::Video& video : videos) {
    for (const v1::OperatorCost& cost : video.stats().operators()) {
      KernelShare& one = by_name[{cost.op(), cost.variant()}];
      one.op = cost.op();
      one.variant = cost.variant();
      one.calls += cost.calls();
      one.timed += FromProto(cost.timed());
      one.estimate += FromProto(cost.estimate());
      all += FromProto(cost.estimate());
    }
  }
  std::vector<KernelShare> shares;
  for (auto& [name, one] : by_name) {
    if (all > absl::ZeroDuration()) one.share = absl::FDivDuration(one.estimate, all);
    shares.push_back(std::move(one));
  }
  std::stable_sort(shares.begin(), shares.end(), [](const KernelShare& a, const KernelShare& b) {
    return a.estimate > b.estimate;
  });
  return shares;
}

std::string RenderTop(const TopView& view, size_t rows) {
  return absl::StrCat(Headline(view), "\n", WorkerTable(view.info), "\n", Jobs(view, rows),
                      Kernels(view, rows));
}

std::string TopJson(const TopView& view) {
  const auto jobs =
      absl::StrJoin(InOrder(view.jobs), ",",
                    [](std::string* out, const v1::Video& job) { out->append(JsonOf(job)); });
  const auto kernels =
      absl::StrJoin(KernelSharesOf(view.finished), ",",
                    [](std::string* out, const KernelShare& one) { out->append(KernelJson(one)); });
  return absl::StrCat(R"({"server":)", JsonOf(view.info), R"(,"jobs":[)", jobs, R"(],"kernels":[)",
                      kernels, "]}\n");
}

}  // namespace reel::client
