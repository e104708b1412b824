// SPDX-License-Identifier: Apache-2.0
#include "client/download_stream.h"

#include <gtest/gtest.h>

#include "tests/unit/client/client_fixture.h"

namespace reel::client {
namespace {

class DownloadStreamTest : public ClientTest {
 protected:
  v1::DownloadVideoRequest From(int64_t offset, int64_t limit = 0) const {
    v1::DownloadVideoRequest request;
    request.set_name(server_.name());
    request.set_read_offset(offset);
    request.set_read_limit(limit);
    return request;
  }

  absl::StatusOr<std::string> Read(DownloadStream stream) {
    std::string bytes;
    for (;;) {
      auto chunk = stream.Next();
      if (!chunk.ok()) return chunk.status();
      if (!*chunk) {
        media_ = stream.media();
        return bytes;
      }
      bytes += (*chunk)->data();
    }
  }

  v1::MediaInfo media_;
};

TEST_F(DownloadStreamTest, FetchesTheWholeFileAndItsHash) {
  EXPECT_EQ(*Read(client_->Download(From(0))), server_.media());
  EXPECT_EQ(media_.sha256(), server_.media_info().sha256());
}

TEST_F(DownloadStreamTest, GoesOnAfterEveryCut) {
  server_.Play({{.cut_after = 1}, {.cut_after = 70'000}, {.cut_after = 0}, {.corrupt_after = 0}});
  EXPECT_EQ(*Read(client_->Download(From(0))), server_.media());
  const auto downloads = server_.asked().downloads;
  ASSERT_EQ(downloads.size(), 5u);
  EXPECT_EQ(downloads[1].read_offset(), 65'536);
  EXPECT_EQ(downloads[3].read_offset(), downloads[4].read_offset());
}

TEST_F(DownloadStreamTest, FetchesTheRestAndNothingAtTheEnd) {
  EXPECT_EQ(*Read(client_->Download(From(1000))), server_.media().substr(1000));
  EXPECT_EQ(*Read(client_->Download(From(300'000))), "");
  EXPECT_EQ(media_.size_bytes(), 300'000);
}

TEST_F(DownloadStreamTest, KeepsToItsLimitAcrossCuts) {
  server_.Play({{.cut_after = 65'536}, {.cut_after = 0}});
  EXPECT_EQ(*Read(client_->Download(From(1000, 100'000))), server_.media().substr(1000, 100'000));
  EXPECT_EQ(server_.asked().downloads.back().read_limit(), 100'000 - 65'536);
}

TEST_F(DownloadStreamTest, RefusesAFileWithAnotherHash) {
  server_.Play({{.wrong_hash = true}});
  EXPECT_EQ(Read(client_->Download(From(0))).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(DownloadStreamTest, ReturnsRefusalsAsTheyAre) {
  EXPECT_EQ(Read(client_->Download(From(300'001))).status().code(), absl::StatusCode::kOutOfRange);
  server_.RefuseNext("DownloadVideo", fakes::MakeRefusal(9, "VIDEO_NOT_READY", "Not yet."));
  EXPECT_EQ(Read(client_->Download(From(0))).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace reel::client
