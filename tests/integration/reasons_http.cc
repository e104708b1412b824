// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "tests/integration/calls.h"
#include "tests/integration/door_client.h"
#include "tests/integration/loopback.h"
#include "tests/integration/reasons.h"

namespace reel::tests {
namespace {

constexpr char kVideos[] = "/reel/v1/videos";
constexpr char kJsonType[] = "application/json";

// Of either shape of errors: ErrorInfo's reason, or OpenAI's code.
std::string ReasonIn(const std::string& body) {
  for (const char* key : {"\"reason\":\"", "\"code\":\""}) {
    const size_t at = body.find(key);
    if (at == std::string::npos) continue;
    const size_t begin = at + std::string(key).size();
    return body.substr(begin, body.find('"', begin) - begin);
  }
  return "";
}

std::string ReasonOf(const httplib::Result& reply) { return reply ? ReasonIn(reply->body) : ""; }

// What is answered to these bytes.
std::string ReasonOfBytes(const std::string& address, const std::string& bytes) {
  const int fd = ConnectTo(address);
  std::string answer;
  char piece[4096];
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size())) {
    for (ssize_t got = 0; (got = ::read(fd, piece, sizeof piece)) > 0;) {
      answer.append(piece, static_cast<size_t>(got));
    }
  }
  ::close(fd);
  return ReasonIn(answer);
}

// A file that grows, asked for by the attempt that was; its worker is lost meanwhile.
std::string ReasonOfOtherAttempt(ReelServer& server, httplib::Client& client) {
  Calls calls(server.Connect());
  const std::string id = CreateOverHttp(client, ClipSpec(100));
  const std::string name = "videos/" + id;
  EXPECT_TRUE(Eventually([&] { return calls.Get(name).progress().step() > 2; }));
  for (const pid_t worker : server.Children()) ::kill(worker, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return calls.Get(name).attempt() == 2; }));
  return ReasonOf(client.Get(absl::StrCat(kVideos, "/", id, "/media?attempt=1")));
}

}  // namespace

Reasons OfHttp() {
  ReelServer server(WithDoor());
  httplib::Client client = ClientOf(server.http_address());
  Reasons heard;
  const std::string post = absl::StrCat("POST ", kVideos, " HTTP/1.1\r\nHost: localhost\r\n",
                                        "Content-Type: application/json\r\n");
  heard.insert(ReasonOfBytes(server.http_address(),
                             post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"));
  heard.insert(ReasonOfBytes(server.http_address(), post + "Content-Length: 1000000000\r\n\r\n"));
  heard.insert(ReasonOf(client.Get(kVideos, {{"Host", "evil.test"}})));
  heard.insert(ReasonOf(
      client.Post(kVideos, {{"Origin", "http://evil.test"}}, BodyOfSpec(ClipSpec()), kJsonType)));
  heard.insert(ReasonOf(client.Get("/reel/v1/none")));
  heard.insert(ReasonOf(client.Put(kVideos, "{}", kJsonType)));
  heard.insert(ReasonOf(client.Post(kVideos, "x", "text/plain")));
  heard.insert(ReasonOf(client.Post(
      "/v1/videos", R"({"prompt":"x","input_reference":{"image_url":"http://evil.test/a.png"}})",
      kJsonType)));
  heard.insert(ReasonOfOtherAttempt(server, client));
  return heard;
}

}  // namespace reel::tests
