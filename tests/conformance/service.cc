// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/service.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reel::tests {
namespace {

std::string Milliseconds(const char* field, int count) {
  return absl::StrCat(field, " { seconds: ", count / 1000, " nanos: ", count % 1000 * 1'000'000,
                      " } ");
}

}  // namespace

Service::Service(Life life, ServiceSetup setup) : life_(life), setup_(std::move(setup)) {
  if (life_ == Life::kFleet) {
    broker_ = std::make_unique<NatsCluster>(1);
    store_ = std::make_unique<S3Server>();
  }
  if (!setup_.kept.empty()) {
    std::filesystem::copy(setup_.kept, folder_.File("data"),
                          std::filesystem::copy_options::recursive);
  }
  Start();
}

void Service::Stop(int signal) {
  const std::vector<pid_t> workers = server_->Children();
  server_->Signal(signal);
  const auto exit = server_->WaitForExit();
  ASSERT_TRUE(exit.ok()) << exit.status();
  EXPECT_EQ(*exit, signal == SIGTERM ? 0 : -signal);
  for (const pid_t worker : workers) {
    EXPECT_TRUE(Eventually([&] { return ::kill(worker, 0) != 0; })) << "a worker is left";
  }
}

void Service::Start() {
  server_.reset();  // its folder is one process's
  ServerSetup setup;
  setup.config = Config();
  setup.data_folder = folder_.File("data");
  server_ = std::make_unique<ReelServer>(setup);
}

void Service::ExpireFiles() {
  constexpr char kMarkers[] = "/files/";
  if (life_ == Life::kFleet) {
    for (const std::string& key : store_->Keys()) {
      if (key.find(kMarkers) != key.npos) store_->Remove(key);
    }
    return;
  }
  Stop(SIGTERM);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.File("data/objects"))) {
    if (entry.path().extension() != ".facts") continue;
    const std::string facts = folder_.Read("data/objects/" + entry.path().filename().string());
    if (facts.find(kMarkers) == facts.npos) continue;
    std::filesystem::remove(entry.path());
  }
  Start();
}

std::string Service::Config() const {
  const std::string common = absl::StrCat(
      "models { name: 'testcard' test_card { ", Milliseconds("step_time", setup_.step_ms),
      setup_.faults, " } }\ndata { max_bytes: 1000000000 ", setup_.data, " }\ntiming { ",
      Milliseconds("drain", setup_.drain_ms), setup_.timing, " }\n", setup_.more, "\n");
  if (life_ != Life::kFleet) return common;
  // Short silences, so that a restart is quick; a long lease, so that a busy machine is no reason
  // to start videos again.
  return absl::StrCat(
      common, "fleet { name: 'prod' node: 'a' nats { urls: '", broker_->urls().front(),
      "' max_bytes: 67108864 } objects { endpoint: '", store_->endpoint(),
      "' bucket: 'reel' credentials_file: '", store_->credentials_file(),
      "' } beat { nanos: 200000000 } silence { seconds: 1 } lease { seconds: 30 } }\n");
}

}  // namespace reel::tests
