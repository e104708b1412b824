// SPDX-License-Identifier: Apache-2.0
// Streams and files of a fleet at servers that do not have them: whoever is asked, killed or
// paused.
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/certificate_authority.h"
#include "tests/integration/door_client.h"
#include "tests/integration/fleet_site.h"

namespace reel::tests {
namespace {

constexpr char kPathOfVideos[] = "/reel/v1/";

using FleetForwardTest = FleetSite;

v1::WatchVideoRequest WatchOf(const std::string& name) {
  v1::WatchVideoRequest request;
  request.set_name(name);
  return request;
}

void ExpectWhole(const StreamResult& stream, int restarts = 0) {
  EXPECT_TRUE(stream.status.ok()) << stream.status.error_message();
  EXPECT_TRUE(stream.is_finished);
  EXPECT_EQ(stream.restarts, restarts);
  EXPECT_TRUE(stream.faults.empty()) << absl::StrJoin(stream.faults, "\n");
  EXPECT_EQ(Sha256Hex(stream.file), stream.finished.media().sha256());
}

int ProgressIn(const StreamResult& stream) {
  int progress = 0;
  for (const v1::VideoEvent& event : stream.events) progress += event.has_progress() ? 1 : 0;
  return progress;
}

// A server hears of a video a little later than the one that was asked for it.
bool Shows(Calls& at, const v1::Video& video) {
  grpc::ClientContext context;
  v1::GetVideoRequest request;
  v1::GetVideoResponse response;
  request.set_name(video.name());
  return at.videos().GetVideo(&context, request, &response).ok() &&
         response.video().SerializeAsString() == video.SerializeAsString();
}

// The same, of one that runs or has ended.
bool Knows(Calls at, const std::string& name, v1::VideoState state) {
  grpc::ClientContext context;
  v1::GetVideoRequest request;
  v1::GetVideoResponse response;
  request.set_name(name);
  return at.videos().GetVideo(&context, request, &response).ok() &&
         response.video().state() == state;
}

std::string HttpGet(const ReelServer& server, const std::string& path, int status = 200,
                    const httplib::Headers& headers = {}) {
  const auto reply = ClientOf(server.http_address()).Get(path, headers);
  EXPECT_TRUE(reply && reply->status == status) << path << ": " << (reply ? reply->status : 0);
  return reply ? reply->body : "";
}

TEST_F(FleetForwardTest, AnyServerAnswersAnyCallForAnyVideo) {
  ReelServer& a = Add("a", 20);
  ReelServer& b = Add("b", 20);
  ReelServer& g = AddGateway("g");
  const std::vector<ReelServer*> servers = {&a, &b, &g};
  const auto rendered = [](ReelServer& at) {
    return at.Metric("reel_requests_total", "outcome=\"ok\"");
  };
  std::vector<v1::Video> videos;
  // Both render some: whom a video suits best is chance, and on a busy machine the other may come
  // first.
  for (size_t i = 0; i < 6 || rendered(a) < 1 || rendered(b) < 1; ++i) {
    ASSERT_LT(i, 60u) << "one server renders everything";
    const std::string name = At(*servers[i % 3]).Create(Spec(absl::StrCat("any ", i))).name();
    videos.push_back(At(*servers[i % 3]).Await(name));
    ASSERT_EQ(videos.back().state(), v1::VIDEO_STATE_SUCCEEDED) << videos.back().DebugString();
  }
  for (const v1::Video& video : videos) {
    const std::string path = kPathOfVideos + video.name();
    std::optional<std::string> file;
    for (ReelServer* const server : servers) {
      Calls at = At(*server);
      EXPECT_TRUE(Eventually([&] { return Shows(at, video); }));
      std::string whole, rest;
      v1::MediaInfo media;
      EXPECT_TRUE(at.Download(video.name(), 0, &whole, &media).ok());
      EXPECT_EQ(media.SerializeAsString(), video.media().SerializeAsString());
      EXPECT_EQ(Sha256Hex(whole), video.media().sha256());
      EXPECT_EQ(file.value_or(whole), whole);
      file = whole;
      const auto half = static_cast<int64_t>(whole.size() / 2);
      EXPECT_TRUE(at.Download(video.name(), half, &rest).ok());
      EXPECT_EQ(rest, whole.substr(static_cast<size_t>(half)));
      const StreamResult stream = at.Watch(WatchOf(video.name()));
      ExpectWhole(stream);
      EXPECT_EQ(stream.file, whole);
      EXPECT_EQ(stream.finished.SerializeAsString(), video.SerializeAsString());
      EXPECT_EQ(HttpGet(*server, path + "/media"), whole);
      EXPECT_EQ(HttpGet(*server, path + "/media", 206, {{"Range", "bytes=5-9"}}),
                whole.substr(5, 5));
      EventReader events;
      events.Feed(HttpGet(*server, path + "/events"));
      ASSERT_GE(events.events.size(), 3U);
      EXPECT_EQ(events.events.front().name, "accepted");
      EXPECT_EQ(events.events[events.events.size() - 2].name, "media");
      EXPECT_EQ(events.events.back().name, "finished");
    }
  }
  EXPECT_EQ(At(g).List().size(), videos.size());
  for (size_t i = 0; i < videos.size(); ++i) {
    grpc::ClientContext context;
    v1::DeleteVideoRequest request;
    v1::DeleteVideoResponse response;
    request.set_name(videos[i].name());
    EXPECT_TRUE(At(*servers[i % 3]).videos().DeleteVideo(&context, request, &response).ok());
  }
  for (ReelServer* const server : servers) {
    EXPECT_TRUE(Eventually([&] { return At(*server).List().empty(); }));
  }
}

TEST_F(FleetForwardTest, AGatewayStreamsWhatOthersRender) {
  Add("a", 20);
  ReelServer& g = AddGateway("g");
  grpc::ClientContext context;
  v1::ListModelsResponse models;
  ASSERT_TRUE(At(g).server().ListModels(&context, {}, &models).ok());
  ASSERT_EQ(models.models_size(), 1);
  EXPECT_TRUE(models.models(0).ready());
  const StreamResult stream = At(g).Generate(Spec("over a gateway"));
  ExpectWhole(stream);
  EXPECT_GE(ProgressIn(stream), 3);
  EXPECT_EQ(g.Children().size(), 0U);
  // A page's events and its file, while the video is made.
  httplib::Client http = ClientOf(g.http_address());
  const std::string id = CreateOverHttp(http, ClipSpec(40));
  const std::string path = absl::StrCat(kPathOfVideos, "videos/", id);
  std::string growing;
  std::thread reader([&] { growing = HttpGet(g, path + "/media"); });
  EventReader events;
  events.Feed(HttpGet(g, path + "/events"));
  reader.join();
  int progress = 0, media = 0;
  for (const HttpEvent& event : events.events) {
    progress += event.name == "progress" ? 1 : 0;
    media += event.name == "media" ? 1 : 0;
  }
  EXPECT_GE(progress, 3);
  EXPECT_GE(media, 1);
  EXPECT_EQ(events.events.back().name, "finished");
  EXPECT_EQ(Sha256Hex(growing), At(g).Get("videos/" + id).media().sha256());
}

TEST_F(FleetForwardTest, AVideoEndsWithItsCallersStreamAtAGateway) {
  ReelServer& a = Add("a", kSlow);
  ReelServer& g = AddGateway("g");
  std::string name;
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = Spec("left");
  At(g).Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_accepted()) name = event.accepted().name();
    return !event.has_progress() || event.progress().step() < 1;
  });
  EXPECT_TRUE(Eventually([&] { return Knows(At(a), name, v1::VIDEO_STATE_CANCELLED); }));
}

// What a stream heard of a death, and when.
struct Heard {
  absl::Time killed = absl::InfiniteFuture(), restarted = absl::InfiniteFuture(),
             went_on = absl::InfiniteFuture();
};

StreamResult WatchWhile(Calls at, const std::string& name, Heard& heard,
                        const std::function<void()>& strike) {
  return at.Watch(WatchOf(name), [&](const v1::VideoEvent& event) {
    const absl::Time now = absl::Now();
    if (event.has_progress() && event.progress().step() > 0 &&
        heard.killed == absl::InfiniteFuture()) {
      heard.killed = now;
      strike();
    } else if (event.has_restarted()) {
      heard.restarted = now;
    } else if (heard.restarted < now) {
      heard.went_on = std::min(heard.went_on, now);
    }
    return true;
  });
}

TEST_F(FleetForwardTest, AKilledOwnersStreamGoesOnOverTheSameConnection) {
  ReelServer& a = Add("a", kSlow);
  const std::string name = At(a).Create(Spec("owner dies")).name();
  ASSERT_TRUE(Eventually([&] { return At(a).Get(name).progress().step() > 0; }));
  Add("b", 10);
  ReelServer& g = AddGateway("g");
  Heard heard;
  const StreamResult stream = WatchWhile(At(g), name, heard, [&] { a.Signal(SIGKILL); });
  ExpectWhole(stream, 1);
  std::cout << "FIGURE restarted " << heard.restarted - heard.killed << ", went on "
            << heard.went_on - heard.killed << " after the kill; silence " << kSilenceSeconds
            << " s\n";
  EXPECT_LE(heard.went_on - heard.killed, absl::Seconds(kSilenceSeconds + 2));
}

TEST_F(FleetForwardTest, APausedOwnerHoldsNobodyUp) {
  ReelServer& a = Add("a", kSlow);
  const std::string name = At(a).Create(Spec("owner sleeps")).name();
  ASSERT_TRUE(Eventually([&] { return At(a).Get(name).progress().step() > 0; }));
  Add("b", 10);
  ReelServer& g = AddGateway("g");
  Heard heard;
  absl::Duration answered;
  const StreamResult stream = WatchWhile(At(g), name, heard, [&] {
    a.Signal(SIGSTOP);
    const absl::Time asked = absl::Now();
    EXPECT_EQ(At(g).Get(name).state(), v1::VIDEO_STATE_RUNNING);
    answered = absl::Now() - asked;
  });
  a.Signal(SIGCONT);
  ExpectWhole(stream, 1);
  std::cout << "FIGURE answered in " << answered << ", went on " << heard.went_on - heard.killed
            << " after the pause\n";
  EXPECT_LE(heard.went_on - heard.killed, absl::Seconds(kSilenceSeconds + 2));
}

TEST_F(FleetForwardTest, AFileOfAPausedServerIsGivenUpWithWords) {
  ReelServer& a = Add("a");
  const std::string name = At(a).Create(Spec("finished")).name();
  ASSERT_EQ(At(a).Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
  ReelServer& g = AddGateway("g");
  ASSERT_TRUE(Eventually([&] { return Knows(At(g), name, v1::VIDEO_STATE_SUCCEEDED); }));
  a.Signal(SIGSTOP);
  std::string bytes;
  const absl::Time asked = absl::Now();
  const grpc::Status status = At(g).Download(name, 0, &bytes);
  const absl::Duration took = absl::Now() - asked;
  a.Signal(SIGCONT);
  EXPECT_EQ(ReasonOf(status), "WRONG_REPLICA") << status.error_message();
  EXPECT_LE(took, absl::Seconds(20));
  EXPECT_TRUE(At(g).Download(name, 0, &bytes).ok());
}

TEST_F(FleetForwardTest, AKilledGatewaysClientResumesAtAnother) {
  ReelServer& a = AddFlood("a");
  ReelServer& g1 = AddGateway("g1");
  ReelServer& g2 = AddGateway("g2");
  v1::VideoSpec spec = SmallSpec("gateway dies");
  spec.set_model("flood");
  const std::string name = At(g1).Create(spec).name();
  uint64_t sequence = 0;
  int64_t bytes = 0;
  const StreamResult first = At(g1).Watch(WatchOf(name), [&](const v1::VideoEvent& event) {
    sequence = event.sequence();
    if (event.has_media()) bytes += static_cast<int64_t>(event.media().data().size());
    if (bytes > (8 << 20)) g1.Signal(SIGKILL);
    return true;
  });
  EXPECT_FALSE(first.status.ok());
  ASSERT_GT(first.file.size(), 8U << 20);
  v1::WatchVideoRequest rest = WatchOf(name);
  rest.set_after_sequence(sequence);
  rest.set_media_offset(static_cast<int64_t>(first.file.size()));
  rest.set_attempt(1);
  const absl::Time resumed = absl::Now();
  const StreamResult second = At(g2).Watch(rest);
  const absl::Duration took = absl::Now() - resumed;
  EXPECT_TRUE(second.is_finished) << second.status.error_message();
  EXPECT_EQ(second.restarts, 0);
  // A place in the middle is as at the owner itself.
  EXPECT_EQ(second.faults, At(a).Watch(rest).faults);
  EXPECT_EQ(Sha256Hex(first.file + second.file), second.finished.media().sha256());
  std::cout << "FIGURE " << first.file.size() << " bytes before, " << second.file.size()
            << " after the gateway's death in " << took << "\n";
  std::string whole;
  const absl::Time asked = absl::Now();
  EXPECT_TRUE(At(g2).Download(name, 0, &whole).ok());
  std::cout << "FIGURE " << whole.size() << " bytes downloaded over a gateway in "
            << absl::Now() - asked << "\n";
  EXPECT_EQ(Sha256Hex(whole), second.finished.media().sha256());
  // And it leaves in good order.
  g2.Signal(SIGTERM);
  const auto exit = g2.WaitForExit();
  ASSERT_TRUE(exit.ok()) << exit.status();
  EXPECT_EQ(*exit, 0);
}

TEST_F(FleetForwardTest, ServersKnowEachOtherByTheirCertificates) {
  const CertificateAuthority authority, stranger;
  const auto tls = [&](const Identity& identity) {
    return absl::StrCat(" tls { certificate_file: '", identity.certificate, "' key_file: '",
                        identity.key, "' client_ca_file: '", authority.root(), "' }");
  };
  ReelServer& a = Add("a", 20, tls(authority.Issue("a")));
  const std::string name = At(a).Create(Spec("encrypted")).name();
  ASSERT_EQ(At(a).Await(name).state(), v1::VIDEO_STATE_SUCCEEDED);
  ReelServer& b = Add("b", 20, tls(authority.Issue("b")));
  ASSERT_TRUE(Eventually([&] { return Knows(At(b), name, v1::VIDEO_STATE_SUCCEEDED); }));
  std::string bytes;
  EXPECT_TRUE(At(b).Download(name, 0, &bytes).ok());
  EXPECT_EQ(Sha256Hex(bytes), At(b).Get(name).media().sha256());
  // Whoever has no certificate of the fleet's is not even heard, whatever tenant it names.
  const auto read = [](const std::string& path) {
    std::ifstream in(path);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const Identity other = stranger.Issue("other");
  const std::vector<std::shared_ptr<grpc::ChannelCredentials>> strangers = {
      grpc::InsecureChannelCredentials(), grpc::SslCredentials({read(authority.root()), "", ""}),
      grpc::SslCredentials({read(authority.root()), read(other.key), read(other.certificate)})};
  for (const auto& credentials : strangers) {
    grpc::ClientContext context;
    context.AddMetadata("x-reel-tenant", "default");
    v1::WatchVideoResponse response;
    auto stub = v1::VideoService::NewStub(grpc::CreateChannel(a.fleet_address(), credentials));
    auto reader = stub->WatchVideo(&context, WatchOf(name));
    EXPECT_FALSE(reader->Read(&response));
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
}

}  // namespace
}  // namespace reel::tests
