// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/reel_server.h"

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "httplib.h"

extern char** environ;

namespace reel::tests {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Binary(const std::string& name) {
  const char* const folder = std::getenv("REEL_BIN");
  return absl::StrCat(folder == nullptr ? "build/release/bin" : folder, "/", name);
}

std::string Tail(const std::string& text, size_t bytes) {
  return text.size() <= bytes ? text : text.substr(text.size() - bytes);
}

}  // namespace

bool Eventually(const std::function<bool()>& condition, absl::Duration timeout) {
  const absl::Time end = absl::Now() + timeout;
  while (!condition()) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "reel-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no scratch folder: " << name;
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::path(const std::string& below) const {
  return below.empty() ? path_ : absl::StrCat(path_, "/", below);
}

ReelServer::ReelServer(ServerSetup setup) : setup_(std::move(setup)) {
  if (setup_.data_folder.empty()) setup_.data_folder = scratch_.path("data");
  const std::string port_file = scratch_.path("ports");
  std::vector<std::string> arguments = {Binary("reeld"),    "--listen",    "127.0.0.1:0",
                                        "--metrics",        "127.0.0.1:0", "--data_dir",
                                        setup_.data_folder, "--port_file", port_file};
  // A fixed limit: with the default one, a machine whose disk is nearly full refuses jobs.
  std::ofstream(scratch_.path("reel.textproto"))
      << setup_.config << "\ndata { max_bytes: 1000000000 }\n";
  arguments.insert(arguments.end(), {"--config", scratch_.path("reel.textproto")});
  arguments.insert(arguments.end(), setup_.flags.begin(), setup_.flags.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, scratch_.path("log").c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int rc = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (rc != 0) {
    pid_ = -1;
    ADD_FAILURE() << "cannot start " << arguments[0] << ": " << strerror(rc);
    return;
  }
  const bool up = Eventually([&] {
    for (absl::string_view line : absl::StrSplit(ReadFile(port_file), '\n')) {
      const std::pair<std::string, std::string> entry =
          absl::StrSplit(line, absl::MaxSplits('=', 1));
      if (entry.first == "grpc") grpc_ = entry.second;
      if (entry.first == "metrics") metrics_ = entry.second;
    }
    return (!grpc_.empty() && !metrics_.empty()) || !Alive();
  });
  if (!up || grpc_.empty() ||
      (setup_.wait_ready && !Eventually([&] { return !Get("/readyz").empty(); }))) {
    ADD_FAILURE() << "reeld did not come up; its log:\n" << Tail(Log(), 4000);
  }
}

ReelServer::~ReelServer() {
  if (pid_ > 0 && !reaped_) {
    Signal(SIGTERM);
    Signal(SIGTERM);  // the second one means now
    if (!WaitForExit(absl::Seconds(20)).ok()) {
      ADD_FAILURE() << "reeld did not leave after two SIGTERM";
      Signal(SIGKILL);
      WaitForExit(absl::Seconds(5)).IgnoreError();
    }
  }
  const std::string log = Log();
  // A sanitizer's report is a failure even where nobody looked at the exit status.
  EXPECT_EQ(log.find("Sanitizer"), std::string::npos) << Tail(log, 8000);
  EXPECT_EQ(log.find("runtime error:"), std::string::npos) << Tail(log, 8000);
  if (::testing::Test::HasFailure()) std::cerr << "reeld's log:\n" << Tail(log, 6000) << "\n";
}

std::shared_ptr<grpc::Channel> ReelServer::Connect() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(8 << 20);
  return grpc::CreateCustomChannel(grpc_, grpc::InsecureChannelCredentials(), arguments);
}

std::string ReelServer::data_folder() const { return setup_.data_folder; }

void ReelServer::Signal(int signal) const {
  if (pid_ > 0 && !reaped_) ::kill(pid_, signal);
}

absl::StatusOr<int> ReelServer::WaitForExit(absl::Duration timeout) {
  int status = 0;
  const bool ended = Eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, timeout);
  if (!ended) return absl::DeadlineExceededError("reeld is still there");
  reaped_ = true;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool ReelServer::Alive() const { return pid_ > 0 && !reaped_ && ::kill(pid_, 0) == 0; }

std::vector<pid_t> ReelServer::Children() const {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    int pid = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &pid)) continue;
    const std::string stat = ReadFile(entry.path().string() + "/stat");
    const size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    const std::vector<std::string> fields =
        absl::StrSplit(stat.substr(name_end + 2), ' ');  // state, ppid, ...
    if (fields.size() > 1 && fields[0] != "Z" && fields[1] == absl::StrCat(pid_)) {
      children.push_back(pid);
    }
  }
  return children;
}

int64_t ReelServer::MemoryBytes() const {
  const std::vector<std::string> fields =
      absl::StrSplit(ReadFile(absl::StrCat("/proc/", pid_, "/statm")), ' ');
  int64_t pages = 0;
  return fields.size() > 1 && absl::SimpleAtoi(fields[1], &pages) ? pages * ::sysconf(_SC_PAGESIZE)
                                                                  : 0;
}

std::string ReelServer::Log() const { return ReadFile(scratch_.path("log")); }

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

}  // namespace reel::tests
