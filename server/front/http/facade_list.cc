// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/facade_list.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error.h"

namespace reel::front {
namespace {

constexpr int kPageSize = 200;
constexpr int kMostPages = 50;

// From the newest video down to the one that the page follows, or to the oldest.
struct Walk {
  JobService& jobs;
  const FacadeListAsk ask;
  ListQuery query;
  Answer<ListPage> done;
  std::vector<Video> kept;  // the last ones that were seen, one more than asked for
  int pages = 0;

  bool Ends(const Video& video) const {
    return ask.after && (video.id == ask.after->id || video.create_time < ask.after->create_time);
  }
  // False: this was the last one.
  bool See(ListPage page) {
    for (Video& video : page.videos) {
      if (Ends(video)) return false;
      if (kept.size() > static_cast<size_t>(ask.limit)) kept.erase(kept.begin());
      kept.push_back(std::move(video));
    }
    return page.more && !page.videos.empty();
  }
  void Finish() {
    ListPage page;
    page.videos.assign(std::make_move_iterator(kept.rbegin()),
                       std::make_move_iterator(kept.rend()));
    page.more = page.videos.size() > static_cast<size_t>(ask.limit);
    if (page.more) page.videos.pop_back();
    done(std::move(page));
  }
};

void Step(std::shared_ptr<Walk> walk) {
  if (++walk->pages > kMostPages) {
    return walk->done(
        MakeInvalid(Reason::kInvalidRequest,
                    {{"order", absl::StrCat("asc needs at most ", kMostPages * kPageSize,
                                            " videos; there are more, use desc")}}));
  }
  walk->jobs.List(walk->query, [walk](absl::StatusOr<ListPage> page) {
    if (!page.ok()) return walk->done(page.status());
    if (!page->videos.empty()) {
      walk->query.before_time = page->videos.back().create_time;
      walk->query.before_id = page->videos.back().id;
    }
    if (!walk->See(*std::move(page))) return walk->Finish();
    Step(walk);
  });
}

}  // namespace

void ListForFacade(JobService& jobs, const FacadeListAsk& ask, Answer<ListPage> done) {
  ListQuery query;
  query.reach = ask.reach;
  if (ask.oldest_first && !jobs.ListsOldestFirst()) {
    query.page_size = kPageSize;
    return Step(std::make_shared<Walk>(Walk{jobs, ask, query, std::move(done), {}}));
  }
  query.page_size = ask.limit;
  query.oldest_first = ask.oldest_first;
  if (ask.after) {
    query.before_time = ask.after->create_time;
    query.before_id = ask.after->id;
  }
  jobs.List(std::move(query), std::move(done));
}

}  // namespace reel::front
