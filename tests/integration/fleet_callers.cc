// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/fleet_callers.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/integration/calls.h"

namespace reel::tests {
namespace {

// One video is given up after it: it was lost.
constexpr absl::Duration kLost = absl::Seconds(120);
constexpr std::chrono::seconds kOneCall{20};
// Between tries at servers that are not there.
constexpr absl::Duration kPause = absl::Milliseconds(50);

bool MayPass(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
    // A server that has not heard of the video yet.
    case grpc::StatusCode::NOT_FOUND:
      return true;
    default:
      return false;
  }
}

std::string TextOf(const grpc::Status& status) {
  return absl::StrCat(static_cast<int>(status.error_code()), " ", ReasonOf(status), ": ",
                      status.error_message());
}

}  // namespace

void FleetAddresses::Set(const std::string& server, const std::string& address) {
  const std::lock_guard lock(mutex_);
  by_server_[server] = address;
}

void FleetAddresses::Remove(const std::string& server) {
  const std::lock_guard lock(mutex_);
  by_server_.erase(server);
}

std::string FleetAddresses::Pick(size_t hint) const {
  const std::lock_guard lock(mutex_);
  if (by_server_.empty()) return "";
  return std::next(by_server_.begin(), static_cast<int64_t>(hint % by_server_.size()))->second;
}

size_t FleetAddresses::size() const {
  const std::lock_guard lock(mutex_);
  return by_server_.size();
}

std::string CallersReport::ToString() const {
  return absl::StrCat(names.size(), " videos, ", restarts, " restarted (at most ", most_restarts,
                      " times one), resumed elsewhere ", resumed, " times, asked for anew ",
                      created_anew, " times; longest: to a name ",
                      absl::FormatDuration(longest_create), ", over a restart ",
                      absl::FormatDuration(longest_restart), ", over a break ",
                      absl::FormatDuration(longest_resume));
}

// One video, as its caller has it.
struct FleetCallers::Call {
  size_t caller = 0, hint = 0;
  std::string request_id, name, file;
  uint64_t sequence = 0;
  int attempt = 0, restarts = 0;
  std::optional<v1::Video> finished;
  absl::Time heard = absl::InfinitePast(), end;
  std::optional<absl::Time> broken, silent;  // since then it waits: a stream's break, an owner's
};

FleetCallers::FleetCallers(const FleetAddresses& addresses, int callers, v1::VideoSpec spec)
    : addresses_(addresses), spec_(std::move(spec)), finished_by_(static_cast<size_t>(callers)) {
  for (int i = 0; i < callers; ++i) {
    threads_.emplace_back([this, i] { Run(static_cast<size_t>(i)); });
  }
}

FleetCallers::~FleetCallers() { Stop(); }

std::vector<int> FleetCallers::finished_by_caller() {
  const std::lock_guard lock(mutex_);
  return finished_by_;
}

CallersReport FleetCallers::Stop() {
  stopping_ = true;
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  return report_;
}

void FleetCallers::Fault(const Call& call, const std::string& what) {
  const std::lock_guard lock(mutex_);
  report_.faults.push_back(absl::StrCat(call.name, " ", call.request_id, ": ", what));
}

std::shared_ptr<grpc::Channel> FleetCallers::Connect(Call& call) {
  const std::string address = addresses_.Pick(call.hint++);
  if (address.empty()) return nullptr;
  grpc::ChannelArguments arguments;
  // A server that is new at an old address is not the one that was refused.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

void FleetCallers::Run(size_t caller) {
  for (size_t round = 0; !stopping_; ++round) {
    Call call;
    call.caller = caller;
    call.hint = caller + round;
    call.request_id = NewRequestId();
    call.end = absl::Now() + kLost;
    while (!Create(call)) {
      if (absl::Now() > call.end) return Fault(call, "was never taken");
      absl::SleepFor(kPause);
    }
    while (!Stream(call)) {
      if (absl::Now() > call.end) return Fault(call, "was lost");
      absl::SleepFor(kPause);
    }
    if (!call.finished) return;  // it is told
    if (Sha256Hex(call.file) != call.finished->media().sha256()) Fault(call, "has other bytes");
    if (call.finished->state() != v1::VIDEO_STATE_SUCCEEDED) Fault(call, "did not succeed");
    const std::lock_guard lock(mutex_);
    report_.names.push_back(call.name);
    report_.restarts += call.restarts;
    report_.most_restarts = std::max(report_.most_restarts, call.restarts);
    ++finished_;
    ++finished_by_[caller];
  }
}

bool FleetCallers::Create(Call& call) {
  const absl::Time began = call.end - kLost;
  const auto channel = Connect(call);
  if (channel == nullptr) return false;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kOneCall);
  v1::CreateVideoRequest request;
  *request.mutable_spec() = spec_;
  request.set_request_id(call.request_id);
  v1::CreateVideoResponse response;
  const grpc::Status status =
      v1::VideoService::NewStub(channel)->CreateVideo(&context, request, &response);
  const std::lock_guard lock(mutex_);
  if (status.ok()) {
    call.name = response.video().name();
    report_.longest_create = std::max(report_.longest_create, absl::Now() - began);
    return true;
  }
  ++report_.created_anew;
  if (!MayPass(status)) report_.faults.push_back("a call was refused: " + TextOf(status));
  return false;
}

void FleetCallers::Hear(Call& call, const v1::VideoEvent& event) {
  const absl::Time now = absl::Now();
  if (event.has_progress() && event.progress().step() > 0) ++steps_;
  call.sequence = std::max(call.sequence, event.sequence());
  if (call.broken) {
    const std::lock_guard lock(mutex_);
    report_.longest_resume = std::max(report_.longest_resume, now - *call.broken);
    call.broken.reset();
  }
  if (event.has_restarted()) {
    ++call.restarts;
    if (!call.silent) call.silent = call.heard;
    call.attempt = event.restarted().attempt();
    call.file.clear();
  } else if (event.has_media()) {
    const v1::MediaChunk& chunk = event.media();
    if (chunk.attempt() != call.attempt) {
      call.attempt = chunk.attempt();
      call.file.clear();
    }
    if (chunk.offset() != static_cast<int64_t>(call.file.size())) {
      Fault(call, absl::StrCat("bytes at ", chunk.offset(), " after ", call.file.size()));
    }
    call.file += chunk.data();
  } else if (event.has_finished()) {
    call.finished = event.finished();
  } else if (event.has_progress() && event.progress().step() > 0 && call.silent) {
    const std::lock_guard lock(mutex_);
    report_.longest_restart = std::max(report_.longest_restart, now - *call.silent);
    call.silent.reset();
  }
  call.heard = now;
}

// True: it is over.
bool FleetCallers::Stream(Call& call) {
  const auto channel = Connect(call);
  if (channel == nullptr) return false;
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(call.end));
  v1::WatchVideoRequest request;
  request.set_name(call.name);
  request.set_after_sequence(call.sequence);
  request.set_attempt(call.attempt);
  request.set_media_offset(static_cast<int64_t>(call.file.size()));
  const auto stub = v1::VideoService::NewStub(channel);
  const auto reader = stub->WatchVideo(&context, request);
  v1::WatchVideoResponse response;
  bool heard = false;
  while (reader->Read(&response)) {
    heard = true;
    Hear(call, response.event());
  }
  const grpc::Status status = reader->Finish();
  if (call.finished) return true;
  if (status.ok() || !MayPass(status)) {
    Fault(call, "its stream ended: " + TextOf(status));
    return true;
  }
  if (heard) {
    const std::lock_guard lock(mutex_);
    ++report_.resumed;
  }
  if (!call.broken) call.broken = absl::Now();
  return false;
}

}  // namespace reel::tests
