// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/reel_server.h"

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "httplib.h"
#include "kernels/base/program/whole_file.h"
#include "tests/fakes/connected.h"

namespace reel::tests {
namespace {

std::string Tail(const std::string& text, size_t bytes) {
  return text.size() <= bytes ? text : text.substr(text.size() - bytes);
}

}  // namespace

ReelServer::ReelServer(ServerSetup setup) : setup_(std::move(setup)) {
  if (setup_.data_folder.empty()) setup_.data_folder = folder_.File("data");
  std::vector<std::string> arguments = {
      "--listen=127.0.0.1:0", "--metrics=127.0.0.1:0", "--data_dir=" + setup_.data_folder,
      "--port_file=" + folder_.File("ports"), "--config=" + WriteConfig()};
  arguments.insert(arguments.end(), setup_.flags.begin(), setup_.flags.end());
  program_ = std::make_unique<Program>(BinaryPath("reeld"), std::move(arguments));
  // Its name appears when it is whole.
  Eventually([&] { return folder_.Has("ports") || !Alive(); });
  ReadPorts();
  if (grpc_.empty() ||
      (setup_.wait_ready && !Eventually([&] { return !Get("/readyz").empty() || !Alive(); }))) {
    ADD_FAILURE() << "reeld did not come up; its log:\n" << Tail(Log(), 4000);
  }
}

std::string ReelServer::WriteConfig() {
  // Whatever model the build brings along: these tests are about the server.
  const bool has_none = absl::StrContains(setup_.config, "gateway: true");
  if (!has_none && !absl::StrContains(setup_.config, "models {")) {
    setup_.config = "models { name: 'testcard' test_card {} }\n" + setup_.config;
  }
  if (!absl::StrContains(setup_.config, "max_bytes")) {
    setup_.config += "\ndata { max_bytes: 1000000000 }\n";
  }
  return folder_.Write("reel.textproto", setup_.config);
}

void ReelServer::Reconfigure(const std::string& config) {
  setup_.config = config;
  WriteConfig();
  Signal(SIGHUP);
}

void ReelServer::ReadPorts() {
  for (absl::string_view line : absl::StrSplit(folder_.Read("ports"), '\n')) {
    const std::pair<std::string, std::string> entry = absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (entry.first == "grpc") grpc_ = entry.second;
    if (entry.first == "metrics") metrics_ = entry.second;
    if (entry.first == "http") http_ = entry.second;
    if (entry.first == "health") health_ = entry.second;
    if (entry.first == "fleet") fleet_ = entry.second;
  }
}

ReelServer::~ReelServer() {
  Signal(SIGTERM);
  if (!WaitForExit(absl::Seconds(2)).ok()) {
    Signal(SIGTERM);  // the second one means now
    EXPECT_TRUE(WaitForExit().ok()) << "reeld did not leave after two SIGTERM";
  }
  const std::string log = Log();
  // A sanitizer's report is a failure even where nobody looked at the exit status.
  EXPECT_EQ(log.find("Sanitizer"), std::string::npos) << Tail(log, 8000);
  EXPECT_EQ(log.find("runtime error:"), std::string::npos) << Tail(log, 8000);
  if (::testing::Test::HasFailure()) std::cerr << "reeld's log:\n" << Tail(log, 6000) << "\n";
}

std::shared_ptr<grpc::Channel> ReelServer::Connect(
    const std::shared_ptr<grpc::ChannelCredentials>& credentials) const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(8 << 20);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  return Connected(grpc::CreateCustomChannel(grpc_, credentials, arguments));
}

std::vector<pid_t> ReelServer::Children() const {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    const std::string stat = ReadWholeFile(entry.path().string() + "/stat").value_or("");
    const size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    const std::vector<std::string> fields =
        absl::StrSplit(stat.substr(name_end + 2), ' ');  // state, ppid, ...
    if (fields.size() > 1 && fields[0] != "Z" && fields[1] == absl::StrCat(program_->pid())) {
      children.push_back(pid);
    }
  }
  return children;
}

int64_t ReelServer::MemoryBytes() const {
  const std::vector<std::string> fields = absl::StrSplit(
      ReadWholeFile(absl::StrCat("/proc/", program_->pid(), "/statm")).value_or(""), ' ');
  int64_t pages = 0;
  return fields.size() > 1 && absl::SimpleAtoi(fields[1], &pages) ? pages * ::sysconf(_SC_PAGESIZE)
                                                                  : 0;
}

std::string ReelServer::Get(const std::string& path) const {
  httplib::Client client("http://" + metrics_);
  const httplib::Result result = client.Get(path);
  return result && result->status == 200 ? result->body : "";
}

std::map<std::string, double> ReelServer::Scrape() const {
  std::map<std::string, double> samples;
  for (absl::string_view line : absl::StrSplit(Get("/metrics"), '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const size_t space = line.rfind(' ');
    double value = 0;
    if (space != absl::string_view::npos && absl::SimpleAtod(line.substr(space + 1), &value)) {
      samples[std::string(line.substr(0, space))] = value;
    }
  }
  return samples;
}

double ReelServer::Metric(const std::string& family, const std::string& label) const {
  double sum = 0;
  for (const auto& [sample, value] : Scrape()) {
    const std::string name = sample.substr(0, sample.find('{'));
    if (name == family && sample.find(label) != std::string::npos) sum += value;
  }
  return sum;
}

std::string SlowConfig(int step_ms) {
  return absl::StrCat(
      "models { name: 'testcard' test_card { step_time { nanos: ", step_ms * 1'000'000, " } } }\n");
}

std::string FaultyConfig(const std::string& kind, int step, const std::string& prompt,
                         int step_ms) {
  return absl::StrCat(
      "models { name: 'testcard' test_card { step_time { nanos: ", step_ms * 1'000'000,
      " } faults { kind: '", kind, "' step: ", step, " prompt_contains: '", prompt, "' } } }\n");
}

}  // namespace reel::tests
