// SPDX-License-Identifier: Apache-2.0
// A video may be deleted while it is read: every reader gets the whole file or hears that it is
// gone, and nobody is told of damage.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/integration/calls.h"
#include "tests/integration/door_client.h"

namespace reel::tests {
namespace {

constexpr int kVideos = 25;
constexpr int kReaders = 4;  // over each door

std::string IdOf(const std::string& name) { return name.substr(name.find('/') + 1); }

struct Tally {
  std::atomic<int> whole = 0, gone = 0, wrong = 0;
  void Count(bool is_whole, bool is_gone) { ++(is_whole ? whole : is_gone ? gone : wrong); }
};

// Reads until the video is gone.
void ReadOverGrpc(Calls& calls, const std::string& name, Tally& tally) {
  for (bool gone = false; !gone;) {
    std::string bytes;
    v1::MediaInfo media;
    const grpc::Status status = calls.Download(name, 0, &bytes, &media);
    gone = !status.ok();
    tally.Count(status.ok() && Sha256Hex(bytes) == media.sha256(),
                ReasonOf(status) == "VIDEO_NOT_FOUND");
  }
}

void ReadOverHttp(const std::string& address, const std::string& id, size_t size, Tally& tally) {
  httplib::Client client = ClientOf(address);
  for (bool gone = false; !gone;) {
    const auto reply = client.Get("/reel/v1/videos/" + id + "/media");
    gone = !reply || reply->status != 200;
    tally.Count(!gone && reply->body.size() == size, reply && reply->status == 404);
  }
}

TEST(Deletion, ReadersGetTheWholeFileOrNotFound) {
  ReelServer server(WithDoor());
  Calls calls(server.Connect());
  Tally tally;
  for (int i = 0; i < kVideos; ++i) {
    const StreamResult made = calls.Generate(SmallSpec("read", static_cast<uint64_t>(i)));
    ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    const std::string name = made.accepted.name();
    std::vector<std::thread> readers;
    for (int reader = 0; reader < kReaders; ++reader) {
      readers.emplace_back([&] { ReadOverGrpc(calls, name, tally); });
      readers.emplace_back(
          [&] { ReadOverHttp(server.http_address(), IdOf(name), made.file.size(), tally); });
    }
    const int before = tally.whole;
    EXPECT_TRUE(Eventually([&] { return tally.whole >= before + kReaders; }));
    grpc::ClientContext context;
    v1::DeleteVideoRequest request;
    request.set_name(name);
    v1::DeleteVideoResponse deleted;
    EXPECT_TRUE(calls.videos().DeleteVideo(&context, request, &deleted).ok());
    for (std::thread& reader : readers) reader.join();
  }
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_EQ(tally.gone, kVideos * 2 * kReaders);
  EXPECT_FALSE(absl::StrContains(server.Log(), "damaged"));
}

TEST(Deletion, AFileThatNobodyDeletedIsDamage) {
  ReelServer server(WithDoor());
  Calls calls(server.Connect());
  const StreamResult made = calls.Generate(SmallSpec("lost"));
  ASSERT_TRUE(made.status.ok()) << made.status.error_message();
  const std::string id = IdOf(made.accepted.name());
  ASSERT_TRUE(std::filesystem::remove(server.data_folder() + "/media/" + id + ".1.mp4"));
  std::string bytes;
  EXPECT_EQ(ReasonOf(calls.Download(made.accepted.name(), 0, &bytes)), "MEDIA_CORRUPT");
  EXPECT_TRUE(absl::StrContains(server.Log(), "A stored video is damaged"));
}

}  // namespace
}  // namespace reel::tests
