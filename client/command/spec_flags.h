// SPDX-License-Identifier: Apache-2.0
// The flags that say what to render, shared by the commands that render.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/command/adapter_flags.h"
#include "client/command/condition_flags.h"
#include "client/command/guidance_flags.h"
#include "client/command/session.h"
#include "reel/v1/video_service.pb.h"
#include <CLI/App.hpp>

namespace reel::client {

// Which command takes the flags, and so which flags it has.
enum class SpecUse {
  kVideo,       // all flags
  kLoad,        // without previews, which nobody sees; the prompt is optional
  kComparison,  // without previews, and without kernels, which the arms name
  kAgain,       // without previews and drafts; the prompt is an option
  kRefine,      // without previews and drafts; the prompt is optional
};

// Sends only what was given: everything else takes the model's defaults.
class SpecFlags {
 public:
  // `command` keeps references to this object.
  void AddTo(CLI::App& command, SpecUse use = SpecUse::kVideo);
  // INVALID_ARGUMENT names a file that cannot be sent.
  absl::StatusOr<v1::VideoSpec> Spec(Session& session) const;
  // Likewise. Where a last image goes is known from `base` if no flag says it.
  absl::StatusOr<v1::VideoSpec> SpecOver(const v1::VideoSpec& base, Session& session) const;

 private:
  void AddSizeFlags(CLI::App& command);
  void AddFileFlags(CLI::App& command);
  // One that is nothing but a field of the spec.
  template <typename T>
  CLI::Option* AddField(CLI::App& command, const char* flag, void (v1::VideoSpec::*set)(T),
                        const char* help) {
    return command.add_option_function<T>(
        flag, [this, set](const T& value) { (given_.*set)(value); }, help);
  }
  v1::VideoSpec Values() const;

  v1::VideoSpec given_;  // by flags of AddField
  std::optional<uint64_t> seed_;
  std::optional<int> crf_, most_reused_;
  std::optional<double> cache_threshold_, denoise_strength_, decode_timestep_;
  std::string speed_, origin_;
  std::map<std::string, std::string> kernels_;
  GuidanceFlags guidance_;
  ConditionFlags conditions_;
  AdapterFlags adapters_;

  int preview_every_ = 0;
  bool no_sound_ = false, draft_ = false, keep_state_ = false;
  std::optional<std::string> negative_prompt_;
  std::string model_, prompt_, preset_, profile_, experiment_, arm_, worker_;
};

// --priority, shared by these commands and estimate.
class PriorityFlag {
 public:
  void AddTo(CLI::App& command);
  v1::Priority value() const;

 private:
  std::string name_;
};

// --count, of the commands that start or estimate several videos of one call.
class CountFlag {
 public:
  void AddTo(CLI::App& command, const std::string& what);
  // 0: it was not given.
  int value() const { return count_; }

 private:
  int count_ = 0;
};

// The flags of a job beside its spec, shared by generate and create.
class JobFlags {
 public:
  void AddTo(CLI::App& command);
  // For GenerateVideoRequest and CreateVideoRequest.
  template <class Request>
  void Fill(Request& request) const {
    if (!request_id_.empty()) request.set_request_id(request_id_);
    request.set_priority(priority_.value());
    if (timeout_) *request.mutable_timeout() = timeout();
    request.mutable_labels()->insert(labels_.begin(), labels_.end());
  }

 private:
  google::protobuf::Duration timeout() const;

  std::string request_id_;
  PriorityFlag priority_;
  std::optional<absl::Duration> timeout_;
  std::map<std::string, std::string> labels_;
};

}  // namespace reel::client
