// SPDX-License-Identifier: Apache-2.0
// A client beside a fake server, with retries fast enough for a test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/video_client.h"
#include "tests/fakes/fake_video_service.h"

namespace reel::client {

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    options_.server = server_.address();
    options_.retry.initial_backoff = absl::Milliseconds(1);
    options_.retry.max_backoff = absl::Milliseconds(4);
    options_.retry.max_resumes = 4;
    options_.retry.on_retry = [this](const absl::Status&, absl::Duration) { ++retries_; };
    client_ = *VideoClient::Open(options_);
  }

  static v1::GenerateVideoRequest Prompt(bool detached = false) {
    v1::GenerateVideoRequest request;
    request.mutable_spec()->set_prompt("a lighthouse");
    request.set_detached(detached);
    return request;
  }

  v1::WatchVideoRequest Named() const {
    v1::WatchVideoRequest request;
    request.set_name(server_.name());
    return request;
  }

  fakes::FakeVideoService server_;
  ClientOptions options_;
  std::unique_ptr<VideoClient> client_;
  int retries_ = 0;
};

// What a stream told, with its media put together as a reader would.
struct Told {
  absl::Status status;
  std::string media;
  int accepted = 0, progress = 0, restarted = 0, finished = 0;
};

inline Told ReadAll(VideoStream& stream) {
  Told told;
  for (;;) {
    auto event = stream.Next();
    if (!event.ok()) told.status = event.status();
    if (!event.ok() || !*event) return told;
    const v1::VideoEvent& e = **event;
    told.accepted += e.has_accepted() ? 1 : 0;
    told.progress += e.has_progress() ? 1 : 0;
    told.finished += e.has_finished() ? 1 : 0;
    if (e.has_restarted()) {
      ++told.restarted;
      told.media.clear();
    }
    if (!e.has_media()) continue;
    EXPECT_EQ(e.media().offset(), static_cast<int64_t>(told.media.size()));
    told.media += e.media().data();
  }
}

inline Told ReadAll(VideoStream&& stream) { return ReadAll(stream); }

}  // namespace reel::client
