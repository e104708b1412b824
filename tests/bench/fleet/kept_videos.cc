// SPDX-License-Identifier: Apache-2.0
// Fills a log with finished videos, as servers would have written them: three tenants in turn, each
// video with a request id, a claim and a result. kept_videos.py starts it. Of a fleet's log, or of
// one in a file, of a server that is alone:
//   fleet-kept-videos URL FLEET COUNT
//   fleet-kept-videos PATH NAME COUNT
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/front/fleet/embedded_log.h"
#include "server/front/fleet/fleet_view.h"
#include "server/front/fleet/log_messages.h"
#include "server/front/fleet/nats_port.h"
#include "server/front/fleet/subjects.h"
#include "server/front/jobs/video_id.h"
#include "server/front/node/object_keys.h"
#include "server/front/stored_messages.h"

namespace reel::bench {
namespace {

constexpr int kWriters = 16;
constexpr absl::Duration kPatience = absl::Seconds(20);
constexpr const char* kTenants[] = {"alice", "bob", "carol"};
constexpr char kNode[] = "renderer";

class Nobody final : public front::LogReader {
 public:
  bool OnMessages(const std::vector<front::StoredMessage>&) override { return true; }
  void OnRebuild() override {}
  bool OnCaughtUp(const front::StreamFacts&) override { return true; }
};

front::Video Asked(const std::string& fleet, int number, absl::Time created) {
  front::Video video;
  video.id = front::NewVideoId(fleet);
  video.spec.model = "testcard";
  video.spec.prompt = absl::StrCat("A red fox walks through fresh snow at dawn, take ", number,
                                   ", soft light, a slow pan from left to right");
  video.spec.width = video.spec.height = 64;
  video.spec.num_frames = 9;
  video.spec.frame_rate = 24;
  video.spec.num_inference_steps = 8;
  video.create_time = created;
  video.deadline = created + absl::Minutes(10);
  video.request_id = absl::StrCat("8c5b0f60-0000-4000-8000-",
                                  absl::Hex(0x100000000000 + int64_t{number}, absl::kZeroPad12));
  return video;
}

front::Video Finished(front::Video video) {
  video.state = front::VideoState::kSucceeded;
  video.start_time = video.create_time + absl::Seconds(1);
  video.end_time = video.create_time + absl::Seconds(3);
  video.expire_time = video.create_time + absl::Hours(24);
  video.media.size_bytes = 20'000;
  video.media.sha256 = std::string(64, 'a');
  video.media.content_type = "video/mp4";
  video.worker = "worker-0";
  video.stats.emplace();
  video.stats->device = "cpu";
  video.stats->device_seconds = 0.5;
  video.stats->denoise = absl::Seconds(1);
  video.stats->total = absl::Seconds(3);
  return video;
}

class Filler {
 public:
  Filler(front::LogPort& port, std::string fleet, int count)
      : port_(port), fleet_(std::move(fleet)), count_(count) {}

  bool Run() {
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) writers.emplace_back([this] { WriteAll(); });
    for (std::thread& writer : writers) writer.join();
    return !failed_;
  }

 private:
  void WriteAll() {
    for (int number = next_++; number < count_ && !failed_; number = next_++) WriteOne(number);
  }

  void WriteOne(int number) {
    const std::string tenant = kTenants[number % 3];
    // Ten a second, the last one now.
    const front::Video asked =
        Asked(fleet_, number, began_ - absl::Milliseconds(100) * (count_ - number));
    const front::Video finished = Finished(asked);
    Write({tenant, asked.request_id, front::LogKind::kBinding, 1},
          front::WriteBinding({asked.id, std::string(64, 'b')}));
    Write({tenant, asked.id, front::LogKind::kRequest, 0},
          front::WriteRequest({serializer_.Serialize(asked)}));
    Write({tenant, asked.id, front::LogKind::kClaim, 1}, front::WriteClaim({kNode, "127.0.0.1:1"}));
    front::FinishSaid said{kNode, front::FinishKind::kSucceeded};
    said.video = serializer_.Serialize(finished);
    said.last_sequence = 12;
    Write({tenant, asked.id, front::LogKind::kFinish, 1}, front::WriteFinish(said, ""));
  }

  void Write(const front::LogSubject& subject, const std::string& payload) {
    const auto name = front::MakeSubject(subject);
    if (!name.ok()) {
      failed_ = true;
      return;
    }
    const auto written = port_.Write({*name, payload, absl::StrCat("bench.", *name)}, kPatience);
    if (!written.ok() || written->outcome != front::WriteResult::Outcome::kWon) failed_ = true;
  }

  front::LogPort& port_;
  const std::string fleet_;
  const int count_;
  const front::StoredMessages serializer_;
  const absl::Time began_ = absl::Now();
  std::atomic<int> next_ = 0;
  std::atomic<bool> failed_ = false;
};

// Where the log is, open.
struct Place {
  front::StoredMessages serializer;
  front::LoggedVideos videos{serializer, front::Seal()};
  Nobody nobody;
  std::unique_ptr<front::FleetView> view;

  absl::StatusOr<std::unique_ptr<front::LogPort>> Open(const std::string& where,
                                                       const std::string& fleet) {
    if (absl::StartsWith(where, "/")) {
      view = std::make_unique<front::FleetView>(
          front::ViewOptions{where, "", &videos, /*holds_log=*/true});
      return front::EmbeddedLog::Open(*view);
    }
    front::FleetLogOptions log;
    log.urls = {where};
    log.fleet = fleet;
    log.max_bytes = int64_t{2} << 30;
    return front::NatsPort::Open(log, nobody);
  }
};

int Main(int argc, char** argv) {
  int count = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[3], &count)) {
    std::fprintf(stderr, "usage: fleet-kept-videos URL|PATH NAME COUNT\n");
    return 2;
  }
  Place place;
  auto port = place.Open(argv[1], argv[2]);
  if (!port.ok()) {
    std::fprintf(stderr, "%s\n", port.status().ToString().c_str());
    return 1;
  }
  if (!Filler(**port, argv[2], count).Run()) {
    std::fprintf(stderr, "a message was not written\n");
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace reel::bench

int main(int argc, char** argv) { return reel::bench::Main(argc, argv); }
