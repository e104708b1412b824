// SPDX-License-Identifier: Apache-2.0
// Models of a running server, as an admin sees and changes them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {

class ModelCalls {
 public:
  explicit ModelCalls(const ReelServer& server) : calls_(server.Connect()) {}

  // One that is not listed has no name.
  v1::Model Get(const std::string& name) {
    grpc::ClientContext context;
    v1::ListModelsResponse models;
    EXPECT_TRUE(calls_.server().ListModels(&context, {}, &models).ok());
    for (const v1::Model& model : models.models()) {
      if (model.name() == name) return model;
    }
    return {};
  }
  grpc::Status Load(const std::string& name) {
    v1::LoadModelRequest request;
    request.set_model(name);
    v1::LoadModelResponse response;
    grpc::ClientContext context;
    return calls_.server().LoadModel(&context, request, &response);
  }
  grpc::Status Unload(const std::string& name) {
    v1::UnloadModelRequest request;
    request.set_model(name);
    v1::UnloadModelResponse response;
    grpc::ClientContext context;
    return calls_.server().UnloadModel(&context, request, &response);
  }
  bool Await(const std::string& name, v1::ModelState state) {
    return Eventually([&] { return Get(name).state() == state; });
  }
  // The old one serves on.
  bool AwaitProblem(const std::string& name) {
    return Eventually([&] {
      const v1::Model model = Get(name);
      return model.state() == v1::MODEL_STATE_READY && !model.problem().empty();
    });
  }

 private:
  Calls calls_;
};

// Callers who ask for one video after the other until they are stopped.
class SteadyCallers {
 public:
  SteadyCallers(const ReelServer& server, int callers, const v1::VideoSpec& spec) {
    for (int i = 0; i < callers; ++i) {
      threads_.emplace_back([this, spec, channel = server.Connect()] {
        Calls calls(channel);
        while (!stopped_) {
          const StreamResult result = calls.Generate(spec);
          ++asked_;
          if (result.status.ok() && result.is_finished) continue;
          ++failed_;
          ADD_FAILURE() << result.reason() << ": " << result.status.error_message();
        }
      });
    }
  }
  ~SteadyCallers() { Stop(); }
  void Stop() {
    stopped_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // That many more videos have been made.
  bool AwaitMore(int videos) {
    const int before = asked_;
    return Eventually([&] { return asked_ - before >= videos; });
  }
  int asked() const { return asked_; }
  int failed() const { return failed_; }

 private:
  std::atomic<bool> stopped_ = false;
  std::atomic<int> asked_ = 0, failed_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace reel::tests
