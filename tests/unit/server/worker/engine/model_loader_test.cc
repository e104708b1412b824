// SPDX-License-Identifier: Apache-2.0
#include "server/worker/engine/model_loader.h"

#include <gtest/gtest.h>

namespace reel::worker {
namespace {

LoadModel LoadOf(const std::string& name, int64_t revision, const std::string& path = "") {
  model::LoadOptions options;
  options.name = name;
  options.path = path;
  return {options, revision};
}

// Thread-safe: how many loads are done.
class DoneLoads {
 public:
  void Add() {
    MutexLock lock(mutex_);
    ++count_;
    changed_.NotifyAll();
  }
  void WaitFor(int count) {
    MutexLock lock(mutex_);
    while (count_ < count) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST(ModelLoader, LoadsOneAfterTheOther) {
  DoneLoads done;
  ModelLoader loader({}, nullptr, [&] { done.Add(); });
  EXPECT_TRUE(loader.Take().empty());
  loader.Start(LoadOf("a", 1));
  loader.Start(LoadOf("b", 2, "/nowhere"));
  done.WaitFor(2);
  const auto results = loader.Take();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].options.name, "a");
  EXPECT_EQ(results[0].revision, 1);
  EXPECT_TRUE(results[0].pipeline.ok()) << results[0].pipeline.status();
  EXPECT_EQ(results[1].options.name, "b");
  EXPECT_FALSE(results[1].pipeline.ok());
  EXPECT_TRUE(loader.Take().empty()) << "they were taken";
}

}  // namespace
}  // namespace reel::worker
