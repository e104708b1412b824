// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/server/reeld_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace reel::server {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);  // sanitizers on a busy machine

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

// Another process tells by a file: nothing to wait on but time.
template <typename F>
void WaitFor(const char* what, const F& condition) {
  const absl::Time end = absl::Now() + kPatience;
  while (!condition()) {
    if (absl::Now() > end) {
      ADD_FAILURE() << "nothing came: " << what;
      std::abort();
    }
    absl::SleepFor(absl::Milliseconds(5));
  }
}

pid_t Spawn(const std::vector<std::string>& arguments, const std::string& errors) {
  const char* bin = std::getenv("REEL_BIN");
  const std::string program = absl::StrCat(bin == nullptr ? "." : bin, "/reeld");
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ), 0)
      << program;
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

int Decode(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status); }

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = testing::TempDir() + "/reeld_test_XXXXXX";
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ReeldProcess::ReeldProcess(const std::string& folder, const std::string& config,
                           bool wait_until_ready) {
  const std::string port_file = folder + "/ports";
  std::filesystem::remove(port_file);
  std::vector<std::string> arguments = {"--listen=127.0.0.1:0", "--metrics=127.0.0.1:0",
                                        "--data_dir=" + folder + "/data",
                                        "--port_file=" + port_file};
  if (!config.empty()) {
    std::ofstream(folder + "/reel.textproto") << config;
    arguments.push_back("--config=" + folder + "/reel.textproto");
  }
  pid_ = Spawn(arguments, folder + "/log");
  WaitForPorts(port_file);
  auto channel = grpc::CreateChannel(grpc_address_, grpc::InsecureChannelCredentials());
  video_ = v1::VideoService::NewStub(channel);
  server_ = v1::ServerService::NewStub(channel);
  health_ = grpc::health::v1::Health::NewStub(channel);
  if (wait_until_ready) WaitForWarmth();
}

ReeldProcess::~ReeldProcess() {
  if (exit_) return;
  kill(pid_, SIGKILL);
  WaitForExit();
}

void ReeldProcess::WaitForPorts(const std::string& port_file) {
  WaitFor("ports", [&] { return std::filesystem::exists(port_file); });
  std::istringstream lines(ReadFile(port_file));
  std::string name, address;
  while (std::getline(lines, name, '=') && std::getline(lines, address)) {
    if (name == "grpc") grpc_address_ = address;
    if (name == "metrics") metrics_address_ = address;
  }
}

void ReeldProcess::WaitForWarmth() {
  grpc::ClientContext context;
  grpc::health::v1::HealthCheckRequest request;
  auto reader = health_->Watch(&context, request);
  grpc::health::v1::HealthCheckResponse response;
  while (reader->Read(&response) &&
         response.status() != grpc::health::v1::HealthCheckResponse::SERVING) {
  }
  EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::SERVING);
  context.TryCancel();
  (void)reader->Finish();
}

void ReeldProcess::Signal(int number) const { kill(pid_, number); }

int ReeldProcess::WaitForExit() {
  if (!exit_) {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    exit_ = Decode(status);
  }
  return *exit_;
}

std::vector<pid_t> ReeldProcess::Workers() const {
  std::vector<pid_t> workers;
  std::error_code error;
  for (const auto& task :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", pid_, "/task"), error)) {
    std::istringstream children(ReadFile(task.path().string() + "/children"));
    pid_t child = 0;
    while (children >> child) workers.push_back(child);
  }
  return workers;
}

std::string ReeldProcess::Get(const std::string& path) const {
  const size_t colon = metrics_address_.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(metrics_address_.substr(colon + 1))));
  inet_pton(AF_INET, metrics_address_.substr(0, colon).c_str(), &address.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(got));
    }
  }
  close(fd);
  const size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

RunResult RunReeld(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const absl::Time start = absl::Now();
  const pid_t pid = Spawn(arguments, folder.path() + "/errors");
  int status = 0;
  waitpid(pid, &status, 0);
  return {Decode(status), ReadFile(folder.path() + "/errors"), absl::Now() - start};
}

std::string SlowConfig(int step_ms, const std::string& more) {
  return absl::StrCat("models { name: 'testcard' test_card { step_time { nanos: ",
                      step_ms * 1'000'000, " } } }\n", more);
}

std::string ReasonIn(const grpc::Status& status) {
  google::rpc::Status proto;
  proto.ParseFromString(status.error_details());
  google::rpc::ErrorInfo info;
  for (const auto& any : proto.details()) {
    if (any.UnpackTo(&info)) return info.reason();
  }
  return "";
}

}  // namespace reel::server
