// SPDX-License-Identifier: Apache-2.0
// The HTTP door as a client meets it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "httplib.h"
#include "tests/integration/reel_server.h"

namespace reel::tests {

inline ServerSetup WithDoor(const std::string& config = "") {
  ServerSetup setup;
  setup.config = config;
  setup.flags = {"--http=127.0.0.1:0"};
  return setup;
}

inline nlohmann::json ClipSpec(int steps = 4) {
  return {{"prompt", "a red circle"}, {"width", 256}, {"height", 256},
          {"numFrames", 49},          {"seed", "7"},  {"numInferenceSteps", steps}};
}

inline std::string BodyOfSpec(const nlohmann::json& spec) {
  return nlohmann::json{{"spec", spec}}.dump();
}

// The id of a new video.
inline std::string CreateOverHttp(httplib::Client& client, const nlohmann::json& spec) {
  const auto created = client.Post("/reel/v1/videos", BodyOfSpec(spec), "application/json");
  EXPECT_TRUE(created && created->status == 200) << (created ? created->body : "no reply");
  const std::string name = nlohmann::json::parse(created->body)["video"]["name"];
  return name.substr(std::string("videos/").size());
}

inline httplib::Client ClientOf(const std::string& address) {
  httplib::Client client("http://" + address);
  client.set_read_timeout(60, 0);
  return client;
}

struct HttpEvent {
  std::string name, data;
  uint64_t id = 0;
};

// Events as a browser keeps them: the last id is remembered, a block counts with its blank line.
struct EventReader {
  std::string rest, last_id;
  std::vector<HttpEvent> events;
  void Feed(std::string_view bytes) {
    rest += bytes;
    for (size_t end = 0; (end = rest.find("\n\n")) != std::string::npos;) {
      const std::string block = rest.substr(0, end);
      rest.erase(0, end + 2);
      HttpEvent event;
      for (const std::string& line : std::vector<std::string>(absl::StrSplit(block, '\n'))) {
        if (absl::StartsWith(line, "event: ")) event.name = line.substr(7);
        if (absl::StartsWith(line, "data: ")) event.data = line.substr(6);
        if (absl::StartsWith(line, "id: ")) last_id = line.substr(4);
        if (absl::StartsWith(line, "id: ")) event.id = std::stoull(last_id);
      }
      if (!event.name.empty()) events.push_back(event);
    }
  }
  // Once; the status of the reply, 0 where it broke off.
  int Read(const std::string& address, const std::string& id) {
    httplib::Client client = ClientOf(address);
    httplib::Headers headers;
    if (!last_id.empty()) headers.emplace("Last-Event-ID", last_id);
    rest.clear();
    const auto result = client.Get("/reel/v1/videos/" + id + "/events", headers,
                                   [this](const char* bytes, size_t size) {
                                     Feed({bytes, size});
                                     return true;
                                   });
    return result ? result->status : 0;
  }
};

}  // namespace reel::tests
