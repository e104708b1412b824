// SPDX-License-Identifier: Apache-2.0
// An engine on a thread of its own, with the test card as its model.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/dispatch/kernel_catalog.h"
#include "model/resolve.h"
#include "model/testcard/test_card.h"
#include "server/worker/engine/engine.h"
#include "tests/unit/server/worker/engine/recording_events.h"

namespace reel::worker {

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    test_card_.step_time = absl::Milliseconds(1);
    test_card_.step_time_per_extra_job = absl::ZeroDuration();
    test_card_.decode_time_per_frame = absl::ZeroDuration();
    options_.device = "cpu";
  }
  // Not in the destructor: the engine may call what a derived fixture has.
  void TearDown() override { Stop(); }

  // Starts the loop after the commands that were posted so far, so that they meet in one batch.
  void Start() {
    // Made here, for two threads may not both find that there is none.
    thread_ = std::thread([&made = engine()] { made.Run(); });
  }
  void Stop() {
    events_.ReleaseAll();
    if (engine_ != nullptr) engine_->Stop();
    if (thread_.joinable()) thread_.join();
    engine_ = nullptr;
  }
  // Waits for Run to return by itself.
  void Join() { thread_.join(); }

  Engine& engine() {
    if (engine_ == nullptr) {
      engine_ = std::make_unique<Engine>(options_, catalog_, events_);
      model::LoadOptions load;
      load.name = "testcard";
      load.test_card = test_card_;
      load.warm_up = warm_up_;
      engine_->Post(LoadModel{load});
    }
    return *engine_;
  }

  static model::GenerationSpec Spec(const std::string& prompt, uint64_t seed = 7) {
    model::GenerationSpec spec;
    spec.prompt = prompt;
    spec.seed = seed;
    spec.width = spec.height = 64;
    spec.num_frames = 9;
    spec.num_inference_steps = 4;
    return Resolved(spec);
  }
  static model::GenerationSpec Resolved(const model::GenerationSpec& spec) {
    const auto resolved =
        model::Resolve(spec, model::TestCardModelCard("testcard"), model::RequestLimits(), 1);
    EXPECT_TRUE(resolved.ok());
    return resolved.spec;
  }
  static Assignment Job(const std::string& name, model::GenerationSpec spec, double order_key = 0) {
    Assignment job;
    job.ref.job = name;
    job.spec = std::move(spec);
    job.order_key = order_key;
    return job;
  }
  void Assign(const std::string& name, double order_key = 0) {
    engine().Post(Job(name, Spec(name), order_key));
  }

  EngineOptions options_;
  model::TestCardOptions test_card_;
  model::WarmUp warm_up_;
  kernels::KernelCatalog catalog_;
  RecordingEvents events_;

 private:
  std::unique_ptr<Engine> engine_;
  std::thread thread_;
};

}  // namespace reel::worker
