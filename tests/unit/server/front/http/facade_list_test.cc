// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/front/http/facade_bodies.h"
#include "tests/fakes/fake_job_service.h"

namespace reel::front {
namespace {

Video VideoNumber(int number) {
  Video video;
  video.id = absl::StrCat("lab-", number);
  video.create_time = absl::FromUnixSeconds(number);
  return video;
}

// Of `count` videos, newest first, as jobs/ pages them.
class ManyVideos final : public FakeJobService {
 public:
  explicit ManyVideos(int count) : count_(count) {}
  void List(ListQuery query, Answer<ListPage> done) override {
    ++pages;
    ListPage page;
    const int before =
        query.before_id.empty() ? count_ + 1 : static_cast<int>(ToUnixSeconds(query.before_time));
    for (int n = before - 1; n >= 1; --n) {
      page.more = static_cast<int>(page.videos.size()) == query.page_size;
      if (page.more) break;
      page.videos.push_back(VideoNumber(n));
    }
    done(std::move(page));
  }
  int pages = 0;

 private:
  const int count_;
};

std::string Listed(ManyVideos& jobs, int limit, bool oldest_first, int after = 0) {
  FacadeListAsk ask;
  ask.limit = limit;
  ask.oldest_first = oldest_first;
  if (after != 0) ask.after = VideoNumber(after);
  std::string text;
  ListForFacade(jobs, ask, [&](absl::StatusOr<ListPage> page) {
    if (!page.ok()) {
      text = page.status().ToString();
      return;
    }
    for (const Video& video : page->videos) absl::StrAppend(&text, video.id.substr(4), " ");
    absl::StrAppend(&text, page->more ? "more" : "");
  });
  return text;
}

TEST(FacadeList, PagesGoBothWays) {
  ManyVideos jobs(450);
  EXPECT_EQ(Listed(jobs, 3, false), "450 449 448 more");
  EXPECT_EQ(Listed(jobs, 3, false, 448), "447 446 445 more");
  EXPECT_EQ(Listed(jobs, 3, false, 3), "2 1 ");
  EXPECT_EQ(jobs.pages, 3);
  EXPECT_EQ(Listed(jobs, 3, true), "1 2 3 more");
  EXPECT_EQ(Listed(jobs, 3, true, 3), "4 5 6 more");
  EXPECT_EQ(Listed(jobs, 3, true, 448), "449 450 ");
  EXPECT_EQ(Listed(jobs, 2, true, 448), "449 450 ");
  EXPECT_EQ(Listed(jobs, 3, true, 450), "");
  ManyVideos none(0);
  EXPECT_EQ(Listed(none, 3, true), "");
}

// One that lists from either end, like jobs/.
class BothWays final : public FakeJobService {
 public:
  bool ListsOldestFirst() const override { return true; }
  void List(ListQuery query, Answer<ListPage> done) override {
    asked.push_back(query);
    done(ListPage{{VideoNumber(5)}, true});
  }
  std::vector<ListQuery> asked;
};

TEST(FacadeList, TheOldestComeInOnePageWhereTheyCan) {
  BothWays jobs;
  FacadeListAsk ask;
  ask.limit = 3;
  ask.oldest_first = true;
  ask.after = VideoNumber(4);
  bool answered = false;
  ListForFacade(jobs, ask, [&](const absl::StatusOr<ListPage>& page) {
    answered = page.ok() && page->more && page->videos.size() == 1;
  });
  EXPECT_TRUE(answered);
  ASSERT_EQ(jobs.asked.size(), 1u);
  EXPECT_TRUE(jobs.asked[0].oldest_first);
  EXPECT_EQ(jobs.asked[0].before_id, "lab-4");
  EXPECT_EQ(jobs.asked[0].page_size, 3);
}

TEST(FacadeList, TheOldestOfVeryManyAreNotSought) {
  ManyVideos jobs(10'500);
  EXPECT_THAT(Listed(jobs, 3, true), ::testing::HasSubstr("INVALID_ARGUMENT"));
  EXPECT_EQ(jobs.pages, 50);
}

}  // namespace
}  // namespace reel::front
