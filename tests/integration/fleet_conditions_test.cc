// SPDX-License-Identifier: Apache-2.0
// A picture that one server of a fleet was given reaches the one that renders from it.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "tests/fakes/tiny_ltx.h"
#include "tests/integration/broker_and_store.h"
#include "tests/integration/calls.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {
namespace {

class FleetConditionsTest : public BrokerAndStoreTest {
 protected:
  void SetUp() override {
    BrokerAndStoreTest::SetUp();
    if (IsSkipped()) return;
    store_ = std::make_unique<S3Server>();
  }
  std::unique_ptr<ReelServer> Start(const std::string& node) {
    ServerSetup setup;
    setup.config =
        absl::StrCat("models { name: 'tiny' path: '", folder_.path(), "' dtype: 'fp32' }\n",
                     "data { max_bytes: 1000000000 }\n fleet { name: 'prod' node: '", node,
                     "' advertise: '", node, ".test:50051' nats { urls: '", cluster_->urls()[0],
                     "' max_bytes: 67108864 }", " objects { endpoint: '", store_->endpoint(),
                     "' bucket: 'reel' credentials_file: '", store_->credentials_file(), "' }",
                     " beat { nanos: 200000000 } silence { seconds: 1 } lease { seconds: 4 } }\n");
    return std::make_unique<ReelServer>(setup);
  }
  static std::string Picture() {
    std::ifstream in(std::string(std::getenv("REEL_SOURCE")) + "/tests/golden/pictures/rgb.png",
                     std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static v1::VideoSpec Spec(bool with_picture) {
    v1::VideoSpec spec = TinyModelSpec(17);
    if (with_picture) spec.add_conditions()->set_image(Picture());
    return spec;
  }

  const model::ltx::TinyFolder folder_{"0.9.5"};
  std::unique_ptr<S3Server> store_;
};

TEST_F(FleetConditionsTest, APictureGivenToOneServerIsRenderedFromByAnother) {
  auto a = Start("a");
  Calls at_a(a->Connect());
  const std::string picture = Picture();
  const std::string here = at_a.Create(Spec(true)).name();
  const std::string plain = at_a.Create(Spec(false)).name();
  const v1::Video first = at_a.Await(here);
  ASSERT_EQ(first.state(), v1::VIDEO_STATE_SUCCEEDED) << first.DebugString();
  EXPECT_NE(first.media().sha256(), at_a.Await(plain).media().sha256());
  // By hash: one object, however often it is sent.
  EXPECT_EQ(store_->Keys("prod/conditions/"),
            std::vector<std::string>{"prod/conditions/default/" + Sha256Hex(picture)});
  // What it is given while it dies another one renders, with the picture and all.
  v1::VideoSpec slow = Spec(true);
  slow.set_num_inference_steps(100);
  const std::string orphan = at_a.Create(slow).name();
  ASSERT_TRUE(Eventually([&] { return at_a.Get(orphan).progress().step() > 0; }));
  a->Signal(SIGKILL);
  ASSERT_TRUE(a->WaitForExit().ok());
  auto b = Start("b");
  Calls at_b(b->Connect());
  const v1::Video second = at_b.Await(orphan);
  ASSERT_EQ(second.state(), v1::VIDEO_STATE_SUCCEEDED) << second.DebugString();
  EXPECT_GT(second.attempt(), 1);
  const v1::Video again = at_b.Await(at_b.Create(slow).name());
  EXPECT_EQ(second.media().sha256(), again.media().sha256());
  std::string file;
  EXPECT_TRUE(at_b.Download(here, 0, &file).ok());
  EXPECT_EQ(Sha256Hex(file), first.media().sha256());
}

}  // namespace
}  // namespace reel::tests
