// SPDX-License-Identifier: Apache-2.0
#include "server/front/node/media_fetches.h"

#include <gtest/gtest.h>

#include "server/errors/error.h"
#include "tests/fakes/await.h"
#include "tests/fakes/memory_objects.h"

namespace reel::front {
namespace {

constexpr int64_t kPart = MediaFetches::kPartBytes;

class MediaFetchesTest : public ::testing::Test {
 protected:
  // As a stream does: what is on its way is asked for again when it has come.
  absl::StatusOr<std::string> Part(const StoredResult& result, int64_t offset) {
    for (;;) {
      auto woken = std::make_shared<reel::testing::Promised<bool>>();
      const auto part = fetches_.Read(result, offset, [woken] { woken->Give(true); });
      if (!part.ok()) return part.status();
      if (*part != nullptr) return **part;
      if (!woken->Take()) return absl::DeadlineExceededError("nothing came");
    }
  }

  reel::testing::MemoryObjects store_;
  StoreState state_;
  TaskPool pool_{2, 8};
  MediaFetches fetches_{store_, pool_, state_};
};

TEST_F(MediaFetchesTest, APartIsFetchedOnceAndTheNextOneAhead) {
  const std::string bytes = std::string(kPart, 'a') + std::string(kPart, 'b') + "c";
  ASSERT_TRUE(store_.PutBytes("media/a", bytes, "").ok());
  const StoredResult result{"media/a", 2 * kPart + 1};
  EXPECT_EQ(*Part(result, 0), std::string(kPart, 'a'));
  EXPECT_EQ(*Part(result, kPart - 1), std::string(kPart, 'a'));
  EXPECT_EQ(*Part(result, kPart + 7), std::string(kPart, 'b'));
  EXPECT_EQ(*Part(result, 2 * kPart), "c");
  EXPECT_EQ(*Part(result, 0), std::string(kPart, 'a'));
  EXPECT_EQ(store_.gets(), 3);
}

TEST_F(MediaFetchesTest, AnErrorIsToldOnceAndThenTriedAgain) {
  const StoredResult result{"media/a", 3};
  store_.FailWith(absl::UnavailableError("away"));
  EXPECT_EQ(ReasonOf(Part(result, 0).status()), Reason::kFleetUnavailable);
  EXPECT_FALSE(state_.good());
  store_.FailWith(absl::OkStatus());
  EXPECT_EQ(ReasonOf(Part(result, 0).status()), Reason::kMediaCorrupt);
  ASSERT_TRUE(store_.PutBytes("media/a", "ab", "").ok());
  // Shorter than said.
  EXPECT_EQ(ReasonOf(Part(result, 0).status()), Reason::kMediaCorrupt);
  EXPECT_EQ(*Part({"media/a", 2}, 0), "ab");
  EXPECT_TRUE(state_.good());
}

TEST_F(MediaFetchesTest, KeepsOnlySoManyParts) {
  ASSERT_TRUE(store_.PutBytes("media/a", "a", "").ok());
  EXPECT_EQ(*Part({"media/a", 1}, 0), "a");
  for (size_t i = 0; i < MediaFetches::kMostParts; ++i) {
    const std::string key = "media/b" + std::to_string(i);
    ASSERT_TRUE(store_.PutBytes(key, "b", "").ok());
    EXPECT_EQ(*Part({key, 1}, 0), "b");
  }
  const int before = store_.gets();
  EXPECT_EQ(*Part({"media/b9", 1}, 0), "b");
  EXPECT_EQ(store_.gets(), before);
  EXPECT_EQ(*Part({"media/a", 1}, 0), "a");
  EXPECT_EQ(store_.gets(), before + 1);
}

}  // namespace
}  // namespace reel::front
