// SPDX-License-Identifier: Apache-2.0
#include "server/worker/plugin_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "kernels/base/dtype.h"
#include "kernels/open_device.h"
#include "model/registry.h"
#include "server/worker/plugin_loader.h"

extern char** environ;

namespace reel::worker {
namespace {

// The end of a child's output is kept.
constexpr size_t kMaxWords = 2048;
constexpr int kFirstOwnDescriptor = 3;

absl::Status Refused(const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("The plug-in failed its probe: ", why));
}

// Reads the child's output until it ends; false at the deadline.
bool ReadWords(int fd, absl::Time deadline, std::string& words) {
  std::array<char, 1024> buffer;
  while (true) {
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return false;
    pollfd poll_fd{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&poll_fd, 1, static_cast<int>(absl::ToInt64Milliseconds(left)) + 1);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t size = read(fd, buffer.data(), buffer.size());
    if (size <= 0) return true;
    words.append(buffer.data(), static_cast<size_t>(size));
    if (words.size() > kMaxWords) words.erase(0, words.size() - kMaxWords);
  }
}

std::vector<std::string> ArgumentsOf(const ProbeFlags& flags) {
  std::vector<std::string> arguments = {"reel-worker",
                                        absl::StrCat("--probe_plugin=", flags.plugin.name),
                                        absl::StrCat("--plugin_root=", flags.plugin.root),
                                        absl::StrCat("--plugin_folder=", flags.plugin.folder),
                                        absl::StrCat("--device=", flags.device),
                                        absl::StrCat("--parent_pid=", getpid())};
  // A flag without a value would consume the next one.
  if (!flags.plugin.sha256.empty()) {
    arguments.push_back(absl::StrCat("--plugin_sha256=", flags.plugin.sha256));
  }
  return arguments;
}

// Starts the child, with its standard error on `errors`, and returns its id.
absl::StatusOr<pid_t> Spawn(const ProbeFlags& flags, const std::string& program, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  absl::Cleanup free_actions = [&] { posix_spawn_file_actions_destroy(&actions); };
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, kFirstOwnDescriptor);
  std::vector<std::string> arguments = ArgumentsOf(flags);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  if (error != 0) return absl::ErrnoToStatus(error, "The plug-in's probe cannot be started");
  return pid;
}

// "fp32, bf16"
std::string DtypeNames(kernels::DtypeMask mask) {
  std::vector<std::string> names;
  for (const auto dtype : {kernels::Dtype::kF32, kernels::Dtype::kBf16, kernels::Dtype::kF16}) {
    if ((mask & kernels::MaskOf(dtype)) != 0) names.emplace_back(kernels::DtypeName(dtype));
  }
  return absl::StrJoin(names, ", ");
}

void PrintVariants(const kernels::KernelCatalog& catalog, const kernels::PluginListing& listing) {
  std::printf("%s (%s) can be opened\n", listing.name.c_str(), listing.id.c_str());
  for (const kernels::OpListing& op : catalog.List()) {
    for (const kernels::CatalogVariant& variant : catalog.Variants(op.op)) {
      if (!variant.is_plugin()) continue;
      std::printf("  %s=%s: %s\n", op.op.c_str(), variant.variant.name,
                  DtypeNames(variant.variant.dtypes).c_str());
    }
  }
  if (!listing.reason.empty()) std::printf("not used: %s\n", listing.reason.c_str());
}

}  // namespace

absl::Status ProbePlugin(const ProbeFlags& flags, const ProbeOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return absl::ErrnoToStatus(errno, "Cannot make a pipe for the probe");
  const auto pid = Spawn(flags, options.program, ends[1]);
  close(ends[1]);
  std::string words;
  const bool ended = pid.ok() && ReadWords(ends[0], absl::Now() + options.timeout, words);
  close(ends[0]);
  if (!pid.ok()) return pid.status();
  if (!ended) kill(*pid, SIGKILL);
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    return Refused(absl::StrCat("it did not end within ", absl::FormatDuration(options.timeout)));
  }
  if (WIFSIGNALED(status)) {
    return Refused(absl::StrCat("it was ended by signal ", WTERMSIG(status), " (",
                                strsignal(WTERMSIG(status)), ")"));
  }
  if (WEXITSTATUS(status) == 0) return absl::OkStatus();
  return Refused(std::string(absl::StripAsciiWhitespace(words)));
}

int RunProbe(const ProbeFlags& flags) {
  auto opened = kernels::OpenDevice(flags.device, kernels::CudaLibraryPath());
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", std::string(opened.status().message()).c_str());
    return 1;
  }
  model::AddModelVariants(opened->catalog);
  PluginLoader loader(opened->catalog, opened->stream, nullptr);
  const auto listing = loader.Open(flags.plugin);
  if (!listing.ok()) {
    std::fprintf(stderr, "%s\n", std::string(listing.status().message()).c_str());
    return 1;
  }
  PrintVariants(opened->catalog, *listing);
  return 0;
}

}  // namespace reel::worker
