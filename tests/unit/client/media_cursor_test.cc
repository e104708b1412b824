// SPDX-License-Identifier: Apache-2.0
#include "client/media_cursor.h"

#include <gtest/gtest.h>

#include "kernels/base/digest/crc32c.h"

namespace reel::client {
namespace {

using Verdict = MediaCursor::Verdict;

v1::MediaChunk Chunk(int64_t offset, const std::string& data, int attempt = 1) {
  v1::MediaChunk chunk;
  chunk.set_offset(offset);
  chunk.set_data(data);
  chunk.set_crc32c(Crc32c(data));
  chunk.set_attempt(attempt);
  return chunk;
}

Verdict Take(MediaCursor& cursor, v1::MediaChunk chunk) { return cursor.Take(chunk); }

v1::MediaInfo Info(const std::string& content) {
  Sha256 sha256;
  sha256.Update(content);
  v1::MediaInfo info;
  info.set_size_bytes(static_cast<int64_t>(content.size()));
  info.set_sha256(sha256.Hex());
  return info;
}

TEST(MediaCursor, AcceptsAFileInOrder) {
  MediaCursor cursor;
  EXPECT_EQ(Take(cursor, Chunk(0, "abc")), Verdict::kNew);
  EXPECT_EQ(Take(cursor, Chunk(3, "de")), Verdict::kNew);
  EXPECT_EQ(cursor.offset(), 5);
  EXPECT_TRUE(cursor.CheckComplete(Info("abcde")).ok());
}

TEST(MediaCursor, CutsOffWhatItHas) {
  MediaCursor cursor;
  EXPECT_EQ(Take(cursor, Chunk(0, "abc")), Verdict::kNew);
  EXPECT_EQ(Take(cursor, Chunk(1, "bc")), Verdict::kOld);
  v1::MediaChunk overlap = Chunk(2, "cde");
  EXPECT_EQ(cursor.Take(overlap), Verdict::kNew);
  EXPECT_EQ(overlap.data(), "de");
  EXPECT_EQ(overlap.offset(), 3);
  EXPECT_EQ(overlap.crc32c(), Crc32c("de"));
  EXPECT_TRUE(cursor.CheckComplete(Info("abcde")).ok());
}

TEST(MediaCursor, RefusesGapsAndDamageWithoutMoving) {
  MediaCursor cursor;
  EXPECT_EQ(Take(cursor, Chunk(1, "bc")), Verdict::kGap);
  v1::MediaChunk damaged = Chunk(0, "abc");
  damaged.set_crc32c(damaged.crc32c() + 1);
  EXPECT_EQ(cursor.Take(damaged), Verdict::kCorrupt);
  EXPECT_EQ(cursor.offset(), 0);
}

TEST(MediaCursor, NeverMixesAttempts) {
  MediaCursor cursor;
  EXPECT_EQ(Take(cursor, Chunk(0, "abc", 1)), Verdict::kNew);
  EXPECT_EQ(Take(cursor, Chunk(3, "xyz", 2)), Verdict::kNewAttempt);
  EXPECT_EQ(cursor.offset(), 3);
  cursor.Restart(2);
  EXPECT_EQ(Take(cursor, Chunk(3, "def", 1)), Verdict::kOld);
  EXPECT_EQ(Take(cursor, Chunk(0, "xyz", 2)), Verdict::kNew);
  EXPECT_TRUE(cursor.CheckComplete(Info("xyz")).ok());
}

TEST(MediaCursor, TellsMissingBytesFromWrongOnes) {
  MediaCursor cursor;
  EXPECT_EQ(Take(cursor, Chunk(0, "abc")), Verdict::kNew);
  EXPECT_EQ(cursor.CheckComplete(Info("abcd")).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(cursor.CheckComplete(Info("ab")).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(cursor.CheckComplete(Info("abd")).code(), absl::StatusCode::kDataLoss);
}

TEST(MediaCursor, ChecksOnlyTheSizeOfAFileTakenUpInItsMiddle) {
  MediaCursor cursor;
  cursor.Start(3, 1);
  EXPECT_EQ(Take(cursor, Chunk(3, "de")), Verdict::kNew);
  EXPECT_TRUE(cursor.CheckComplete(Info("?????")).ok());
  EXPECT_FALSE(cursor.CheckComplete(Info("????")).ok());
}

}  // namespace
}  // namespace reel::client
