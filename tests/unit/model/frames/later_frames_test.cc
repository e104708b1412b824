// SPDX-License-Identifier: Apache-2.0
#include "model/frames/later_frames.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/model/bridge/test_run.h"

namespace reel::model {
namespace {

// Frames in pieces of these sizes, each of its number.
class Numbered final : public FrameSource {
 public:
  explicit Numbered(std::vector<int64_t> pieces) : pieces_(std::move(pieces)) {}
  Frames Next(const Ops&) override {
    const int64_t count = pieces_[next_++];
    const at::Tensor numbers = at::arange(first_, first_ + count, at::kFloat);
    first_ += count;
    return {numbers.view({1, 1, count, 1, 1}), next_ == pieces_.size()};
  }

 private:
  const std::vector<int64_t> pieces_;
  size_t next_ = 0;
  int64_t first_ = 0;
};

TEST(LaterFrames, AreAllBehindTheFirstSoManyWhateverThePieces) {
  const TestRun test;
  for (const std::vector<int64_t>& pieces :
       {std::vector<int64_t>{12}, {1, 8, 3}, {8, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}) {
    for (const int64_t count : {0, 1, 8, 9, 11}) {
      const FrameSourcePtr later = WithoutFirst(count, std::make_unique<Numbered>(pieces));
      std::vector<at::Tensor> seen;
      for (bool last = false; !last;) {
        const Frames frames = later->Next(Ops(test.run));
        seen.push_back(frames.x.flatten());
        EXPECT_GT(seen.back().size(0), 0);
        last = frames.last;
      }
      EXPECT_TRUE(at::cat(seen).equal(at::arange(count, 12, at::kFloat))) << count;
    }
  }
}

}  // namespace
}  // namespace reel::model
