// SPDX-License-Identifier: Apache-2.0
#include "client/command/several_videos.h"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/command/bill_text.h"
#include "client/command/frames_program.h"
#include "client/command/interrupt.h"
#include "client/command/json_output.h"
#include "client/command/progress_line.h"
#include "client/save_video.h"

namespace reel::client {
namespace {

struct Written {
  v1::Video video;
  std::string path;
};

class SeveralFollower {
 public:
  SeveralFollower(Session& session, const SeveralOptions& options)
      : session_(session), options_(options) {}

  ExitCode Run(const v1::CreateVideoRequest& request) {
    Interrupt interrupt([this] { OnInterrupt(); });
    auto client = session_.Open();
    if (!client.ok()) return session_.Fail(client.status());
    client_ = *std::move(client);
    auto made = client_->CreateAll(request);
    if (!made.ok()) return session_.Fail(made.status());
    if (made->size() < static_cast<size_t>(request.count())) {
      session_.console.Notice(absl::StrCat("the server made ", made->size(), " of ",
                                           request.count(), " videos: it is of an earlier build"));
    }
    SetNames(*made);
    ExitCode code = ExitCode::kOk;
    for (size_t i = 0; i < made->size() && interrupt.signal() == 0; ++i) {
      const ExitCode one = Follow((*made)[i].name(), i, made->size());
      if (code == ExitCode::kOk) code = one;
    }
    session_.console.ClearProgress();
    if (interrupt.signal() == 0) return Finish(code);
    if (session_.json) session_.Fail(absl::CancelledError("Interrupted."));
    const std::string names = absl::StrJoin(names_, ", ");
    session_.console.Notice(names + (options_.detach ? " keep running" : " were cancelled"));
    return static_cast<ExitCode>(128 + interrupt.signal());
  }

 private:
  // Saves one video from its beginning; the server renders the next ones at the same time.
  ExitCode Follow(const std::string& name, size_t index, size_t count) {
    v1::WatchVideoRequest request;
    request.set_name(name);
    VideoStream stream = client_->Watch(request);
    if (!Begin(stream)) return ExitCode::kOk;
    const std::string path = absl::StrCat(options_.stem, "-", index + 1, ".mp4");
    const std::string note = absl::StrCat("video ", index + 1, " of ", count);
    auto video = SaveVideo(stream, path, [&](const v1::VideoEvent& event) {
      Show(event, note);
      return absl::OkStatus();
    });
    if (End()) return ExitCode::kOk;
    if (!video.ok()) {
      const ExitCode code = session_.Fail(video.status());
      session_.console.Notice("video: " + name);
      return code;
    }
    for (const v1::Notice& notice : video->notices()) {
      session_.console.Notice(absl::StrCat(path, ": ", notice.message()));
    }
    if (options_.profile && !session_.json) session_.console.Error(DescribeBill(video->stats()));
    written_.push_back({*std::move(video), path});
    if (!session_.json) session_.console.Print(path + "\n");
    return ExitCode::kOk;
  }

  void Show(const v1::VideoEvent& event, const std::string& note) {
    if (!event.has_progress()) return;
    ProgressView view = ViewOf(event.progress());
    view.note = note;
    session_.console.Progress([&view](int width) { return RenderProgress(view, width); }, false);
  }

  ExitCode Finish(ExitCode code) {
    std::vector<std::string> paths, videos;
    for (const Written& one : written_) {
      paths.push_back(one.path);
      videos.push_back(
          absl::StrCat("{\"video\":", JsonOf(one.video), ",\"path\":", JsonString(one.path), "}"));
    }
    const std::string sheet = options_.stem + ".png";
    absl::Status drawn = absl::NotFoundError("no video was written");
    if (!paths.empty()) drawn = DrawOverview(session_.folder, paths, sheet);
    if (!drawn.ok() && !paths.empty()) session_.console.Notice(std::string(drawn.message()));
    if (!session_.json) {
      if (drawn.ok()) session_.console.Print(sheet + "\n");
      return code;
    }
    session_.console.Print(absl::StrCat(
        "{\"videos\":[", absl::StrJoin(videos, ","), "]",
        drawn.ok() ? absl::StrCat(",\"sheet\":", JsonString(sheet)) : std::string(), "}\n"));
    return code;
  }

  void SetNames(const std::vector<v1::Video>& videos) {
    std::vector<std::string> names;
    for (const v1::Video& video : videos) names.push_back(video.name());
    std::unique_lock<std::mutex> lock(mutex_);
    names_ = names;
    if (!interrupted_) return;
    lock.unlock();
    CancelAll(names);  // the interrupt came before there was anything to cancel
  }
  // False: it was interrupted.
  bool Begin(VideoStream& stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!interrupted_) stream_ = &stream;
    return !interrupted_;
  }
  // True likewise.
  bool End() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stream_ = nullptr;
    return interrupted_;
  }

  void CancelAll(const std::vector<std::string>& names) {
    if (options_.detach || names.empty()) return;
    session_.console.Notice("cancelling; press Ctrl-C again to exit at once");
    for (const std::string& name : names) client_->Cancel(name).IgnoreError();
  }
  // Called on the Interrupt's thread.
  void OnInterrupt() {
    std::unique_lock<std::mutex> lock(mutex_);
    interrupted_ = true;
    const std::vector<std::string> names = names_;
    lock.unlock();
    CancelAll(names);
    lock.lock();
    if (stream_ != nullptr) stream_->Stop();
  }

  Session& session_;
  const SeveralOptions& options_;
  std::unique_ptr<VideoClient> client_;  // outlives the Interrupt, which may use it
  std::vector<Written> written_;         // used by the running thread
  std::mutex mutex_;
  std::vector<std::string> names_;  // guarded by mutex_
  VideoStream* stream_ = nullptr;   // likewise
  bool interrupted_ = false;        // likewise
};

}  // namespace

ExitCode RenderSeveral(Session& session, const v1::CreateVideoRequest& request,
                       const SeveralOptions& options) {
  return SeveralFollower(session, options).Run(request);
}

}  // namespace reel::client
