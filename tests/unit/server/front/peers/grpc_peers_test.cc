// SPDX-License-Identifier: Apache-2.0
// A node that hears another one over a real listener for nodes, whose videos are scripts.
#include "server/front/peers/grpc_peers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/front/api/authorizer.h"
#include "server/front/api/video_cursor.h"
#include "server/front/node/fleet_video.h"
#include "tests/fakes/await.h"
#include "tests/fakes/temp_folder.h"
#include "tests/unit/server/front/rpc/rpc_fixture.h"

namespace reel::front {
namespace {

constexpr char kAVideo[] = "prod-abc";

RpcServerOptions ForPeers() {
  RpcServerOptions options;
  options.from_peers = true;
  return options;
}

class GrpcPeersTest : public ::testing::Test {
 protected:
  ~GrpcPeersTest() override { peers_->Stop(absl::Seconds(5)); }

  std::shared_ptr<FleetVideo> Face(FleetPhase phase, const std::string& address,
                                   const std::string& tenant = "blue") {
    FleetJob job;
    job.phase = phase;
    job.epoch = 1;
    job.owner = "there";
    job.address = address;
    Video video;
    video.id = kAVideo;
    video.tenant = tenant;
    auto face = std::make_shared<FleetVideo>(
        job, video,
        Onlooker{"here", {peers_, std::make_shared<Spool>(folder_.path(), int64_t{1} << 20)}});
    face->Listen(listener_);
    return face;
  }
  // Time passes as on a node.
  template <typename Condition>
  bool Comes(FleetVideo& face, Condition condition) {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    const absl::Time begin = absl::Now();
    while (!condition() && absl::Now() < end) {
      face.Tick(absl::Now() - begin);
      listener_->Await(absl::Milliseconds(20));
    }
    return condition();
  }

  class Woken final : public JobListener {
   public:
    void Wake() override {
      const MutexLock lock(mutex_);
      woken_ = true;
      changed_.NotifyAll();
    }
    void Await(absl::Duration limit) {
      const MutexLock lock(mutex_);
      if (!woken_) changed_.WaitFor(mutex_, limit);
      woken_ = false;
    }

   private:
    Mutex mutex_;
    CondVar changed_;
    bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  };

  reel::testing::TempFolder folder_;
  std::shared_ptr<GrpcPeers> peers_ = std::make_shared<GrpcPeers>(TlsOptions());
  std::shared_ptr<Woken> listener_ = std::make_shared<Woken>();
};

TEST_F(GrpcPeersTest, AStreamHereIsTheOwners) {
  RpcServer owner(ForPeers());
  auto job = owner.jobs.Add(kAVideo, "blue");
  const auto face = Face(FleetPhase::kClaimed, owner.grpc->address());
  std::string sent;
  for (int i = 1; i <= 20; ++i) {
    job->Progress(i);
    job->Preview(i);
    const std::string piece(static_cast<size_t>(i * 100), static_cast<char>('a' + i));
    sent += piece;
    job->Media(piece);
  }
  ASSERT_TRUE(
      Comes(*face, [&] { return face->media_size() == static_cast<int64_t>(sent.size()); }));
  std::string read;
  while (read.size() < sent.size()) {
    const auto piece = face->ReadMedia(static_cast<int64_t>(read.size()), kMaxChunkBytes);
    ASSERT_TRUE(piece.ok() && !piece->bytes.empty());
    EXPECT_TRUE(piece->fragment_end);
    read += piece->bytes;
  }
  EXPECT_EQ(read, sent);
  ASSERT_TRUE(Comes(*face, [&] { return face->Snapshot().progress.step == 20; }));
}

TEST_F(GrpcPeersTest, AnOwnerThatComesBackIsHeardFromWhereItWas) {
  auto owner = std::make_unique<RpcServer>(ForPeers());
  const std::string address = owner->grpc->address();
  auto job = owner->jobs.Add(kAVideo, "blue");
  job->Progress(1);
  job->Media("abc");
  const auto face = Face(FleetPhase::kClaimed, address);
  ASSERT_TRUE(Comes(*face, [&] { return face->media_size() == 3; }));
  owner.reset();
  RpcServerOptions again = ForPeers();
  again.address = address;
  owner = std::make_unique<RpcServer>(std::move(again));
  job = owner->jobs.Add(kAVideo, "blue");
  job->Media("abc");
  job->Media("def");
  ASSERT_TRUE(Comes(*face, [&] { return face->media_size() == 6; }));
  EXPECT_EQ(face->ReadMedia(3, 10)->bytes, "def");
}

TEST_F(GrpcPeersTest, MoreVideosThanOneConnectionCarriesAreHeard) {
  RpcServer owner(ForPeers());
  std::vector<std::shared_ptr<ScriptedJob>> jobs;
  std::vector<std::shared_ptr<FleetVideo>> faces;
  for (int i = 0; i < 150; ++i) {
    jobs.push_back(owner.jobs.Add(kAVideo, "blue"));
    jobs.back()->Media("abc");
    faces.push_back(Face(FleetPhase::kClaimed, owner.grpc->address()));
    // The next one has the same name, and another job.
    ASSERT_TRUE(Comes(*faces.back(), [&] { return faces.back()->media_size() == 3; })) << i;
  }
}

// What the listener for nodes takes, and what it says to others.
grpc::Status Watch(RpcServer& server, const std::vector<std::string>& tenants) {
  grpc::ClientContext context;
  for (const std::string& tenant : tenants) context.AddMetadata(kPeersTenantKey, tenant);
  v1::WatchVideoRequest request;
  request.set_name(absl::StrCat("videos/", kAVideo));
  v1::WatchVideoResponse response;
  auto reader = server.video().WatchVideo(&context, request);
  while (reader->Read(&response)) {
  }
  return reader->Finish();
}

TEST(PeersListener, ServesTheTenantThatIsNamedAndNothingButStreams) {
  RpcServer server(ForPeers());
  auto job = server.jobs.Add(kAVideo, "blue");
  job->Media("frames");
  job->Succeed();
  EXPECT_TRUE(Watch(server, {"blue"}).ok());
  EXPECT_EQ(See(Watch(server, {"green"})).reason, "VIDEO_NOT_FOUND");
  EXPECT_EQ(See(Watch(server, {})).reason, "UNAUTHENTICATED");
  EXPECT_EQ(See(Watch(server, {"blue", "green"})).reason, "UNAUTHENTICATED");
  EXPECT_EQ(See(Watch(server, {"../blue"})).reason, "UNAUTHENTICATED");
  grpc::ClientContext context;
  context.AddMetadata(kPeersTenantKey, "blue");
  v1::CancelVideoRequest request;
  v1::CancelVideoResponse response;
  request.set_name(absl::StrCat("videos/", kAVideo));
  EXPECT_EQ(See(server.video().CancelVideo(&context, request, &response)).reason,
            "PERMISSION_DENIED");
}

TEST(PublicListener, TakesNobodysWordForATenant) {
  RpcServerOptions options;
  options.authorizer =
      std::make_unique<Authorizer>(*TokenTable::Parse(TokenLine("use", "green user")));
  RpcServer server(std::move(options));
  auto job = server.jobs.Add(kAVideo, "blue");
  job->Succeed();
  EXPECT_EQ(See(Watch(server, {"blue"})).reason, "UNAUTHENTICATED");
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer use");
  context.AddMetadata(kPeersTenantKey, "blue");
  v1::GetVideoRequest request;
  v1::GetVideoResponse response;
  request.set_name(absl::StrCat("videos/", kAVideo));
  EXPECT_EQ(See(server.video().GetVideo(&context, request, &response)).reason, "VIDEO_NOT_FOUND");
}

}  // namespace
}  // namespace reel::front
