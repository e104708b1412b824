// SPDX-License-Identifier: Apache-2.0
// Whoever has the broker's disk and the store's, and not the fleet's key, reads no prompt and sees
// no picture.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/integration/broker_and_store.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

constexpr char kPrompt[] = "a zyzzyva weevil knits quincunxes";
constexpr char kNegative[] = "no sphinx of black quartz";
constexpr char kRequestId[] = "8c5b0f60-7a11-4000-8000-000000000001";

std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FleetPromptsTest : public BrokerAndStoreTest {
 protected:
  void SetUp() override {
    BrokerAndStoreTest::SetUp();
    if (IsSkipped()) return;
    store_ = std::make_unique<S3Server>(disk_.File("store"));
    // Its middle: a head of a format is no secret.
    picture_ =
        ReadWhole(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/pictures/rgb.png");
    ASSERT_GT(picture_.size(), 300U);
  }
  std::string KeyFile(const std::string& letters) {
    std::string keys;
    for (const char letter : letters) {
      absl::StrAppend(&keys, absl::BytesToHexString(std::string(32, letter)), "\n");
    }
    const std::string path = disk_.Write("prompts-" + letters, keys);
    ::chmod(path.c_str(), 0600);
    return path;
  }
  // Without letters: without a key.
  std::unique_ptr<ReelServer> Start(const std::string& node, const std::string& letters,
                                    bool gateway = false) {
    const std::string key =
        letters.empty() ? "" : absl::StrCat(" encrypt_prompts_key_file: '", KeyFile(letters), "'");
    ServerSetup setup;
    setup.config = absl::StrCat(
        gateway
            ? ""
            : absl::StrCat("models { name: 'tiny' path: '", model_.path(), "' dtype: 'fp32' }\n"),
        "data { max_bytes: 1000000000 }\n fleet { name: 'prod' node: '", node,
        "' listen: '127.0.0.1:0' nats { urls: '", cluster_->urls()[0], "' max_bytes: 67108864 }",
        " objects { endpoint: '", store_->endpoint(), "' bucket: 'reel' credentials_file: '",
        store_->credentials_file(), "' } beat { nanos: 200000000 } silence { seconds: 1 }",
        " lease { seconds: 4 }", gateway ? " gateway: true" : "", key, " }\n");
    return std::make_unique<ReelServer>(setup);
  }
  v1::VideoSpec Spec() const {
    v1::VideoSpec spec = TinyModelSpec(17);
    spec.set_prompt(kPrompt);
    spec.set_negative_prompt(kNegative);
    spec.set_guidance_scale(3);
    spec.set_keep_state(true);  // in which the spec stands, too
    spec.add_conditions()->set_image(picture_);
    return spec;
  }
  // A video asked of one server and rendered by another.
  v1::Video Render(ReelServer& at) {
    Calls calls(at.Connect());
    const v1::Video video = calls.Await(calls.Create(Spec(), kRequestId).name());
    EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.error().message();
    EXPECT_EQ(video.spec().prompt(), kPrompt);
    return video;
  }
  // What there is of it in every file of a folder; `bytes` grows by what was searched.
  std::vector<std::string> Found(const std::string& folder, size_t& bytes) const {
    const std::string middle = picture_.substr(picture_.size() / 2, 64);
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string content = ReadWhole(entry.path());
      bytes += content.size();
      const auto look = [&](const char* what, const std::string& part) {
        if (absl::StrContains(content, part) || absl::StrContains(entry.path().string(), part)) {
          found.push_back(absl::StrCat(what, " in ", entry.path().string()));
        }
      };
      look("prompt", "zyzzyva");
      look("negative prompt", "sphinx");
      look("picture", middle);
      look("hash of the picture", Sha256Hex(picture_));
    }
    return found;
  }
  static bool Has(const std::vector<std::string>& found, const std::string& what) {
    return std::any_of(found.begin(), found.end(),
                       [&](const auto& one) { return absl::StartsWith(one, what + " in "); });
  }
  static void ExpectNoPromptIn(const std::vector<const ReelServer*>& servers) {
    for (const ReelServer* const server : servers) {
      EXPECT_FALSE(absl::StrContains(server->Log(), "zyzzyva"));
      EXPECT_FALSE(absl::StrContains(server->Log(), absl::BytesToHexString("kkkk")));
    }
  }

  const model::ltx::TinyFolder model_{"0.9.5"};
  testing::TempFolder disk_;
  std::unique_ptr<S3Server> store_;
  std::string picture_;
};

TEST_F(FleetPromptsTest, NothingThatACallerWroteIsReadableOnTheDisksOfBrokerAndStore) {
  auto node = Start("node", "k");
  auto gateway = Start("gateway", "k", true);
  const v1::Video video = Render(*gateway);
  // Results are not encrypted, and tell nothing of the prompt.
  ASSERT_EQ(store_->Keys("prod/media/").size(), 2U) << "the file and the state";
  EXPECT_GT(video.state_size_bytes(), 0);
  ASSERT_EQ(store_->Keys("prod/conditions/").size(), 1U);
  size_t broker_bytes = 0, store_bytes = 0;
  EXPECT_EQ(Found(cluster_->DiskOf(0), broker_bytes), std::vector<std::string>());
  EXPECT_EQ(Found(disk_.File("store"), store_bytes), std::vector<std::string>());
  EXPECT_GT(broker_bytes, 1000U);
  EXPECT_GT(store_bytes, 1000U);
  std::cout << "FIGURE searched " << broker_bytes << " bytes of the broker, " << store_bytes
            << " of the store\n";
  ExpectNoPromptIn({node.get(), gateway.get()});
  // Who has the key reads it all, also with another one first.
  auto later = Start("later", "lk", true);
  Calls calls(later->Connect());
  EXPECT_EQ(calls.Get(video.name()).spec().negative_prompt(), kNegative);
  // Who has not says so, and finds its own way.
  auto keyless = Start("keyless", "", true);
  Calls at_keyless(keyless->Connect());
  v1::GetVideoRequest request;
  request.set_name(video.name());
  v1::GetVideoResponse none;
  grpc::ClientContext context;
  const grpc::Status refused = at_keyless.videos().GetVideo(&context, request, &none);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(absl::StrContains(refused.error_message(), "does not have"))
      << refused.error_message();
  EXPECT_TRUE(at_keyless.List().empty());
}

// The same search, so that it can find.
TEST_F(FleetPromptsTest, WithoutTheKeyAllOfItIsThere) {
  auto node = Start("node", "");
  auto gateway = Start("gateway", "", true);
  Render(*gateway);
  size_t bytes = 0;
  const auto broker = Found(cluster_->DiskOf(0), bytes);
  EXPECT_TRUE(Has(broker, "prompt"));
  EXPECT_TRUE(Has(broker, "negative prompt"));
  EXPECT_TRUE(Has(broker, "hash of the picture"));
  const auto store = Found(disk_.File("store"), bytes);
  EXPECT_TRUE(Has(store, "picture"));
  EXPECT_TRUE(Has(store, "hash of the picture"));
  EXPECT_TRUE(Has(store, "prompt")) << "of the state";
  ExpectNoPromptIn({node.get(), gateway.get()});
}

}  // namespace
}  // namespace reel::tests
