// SPDX-License-Identifier: Apache-2.0
#include "client/command/console.h"

#include <cerrno>
#include <utility>

#include "absl/time/clock.h"

namespace reel::client {

constexpr absl::Duration kRedrawInterval = absl::Milliseconds(100);
constexpr char kClearLine[] = "\r\033[K";

Console::Console(std::FILE* out, std::FILE* err, Style style)
    : out_(out), err_(err), style_(std::move(style)) {}

Console::~Console() { ClearProgress(); }

bool Console::Print(const std::string& text) {
  std::lock_guard<std::mutex> lock(mutex_);
  ClearLocked();
  const bool written =
      std::fwrite(text.data(), 1, text.size(), out_) == text.size() && std::fflush(out_) == 0;
  if (!written && out_error_ == 0) out_error_ = errno;
  return written;
}

int Console::out_error() {
  std::lock_guard<std::mutex> lock(mutex_);
  return out_error_;
}

void Console::Notice(const std::string& line) {
  if (style_.quiet) return;
  Error(line + "\n");
}

void Console::Error(const std::string& text) {
  std::lock_guard<std::mutex> lock(mutex_);
  ClearLocked();
  std::fwrite(text.data(), 1, text.size(), err_);
  std::fflush(err_);
}

void Console::Progress(const std::function<std::string(int width)>& render, bool now) {
  if (!style_.live || style_.quiet) return;
  std::lock_guard<std::mutex> lock(mutex_);
  const absl::Time time = absl::Now();
  if (!now && time - last_drawn_ < kRedrawInterval) return;
  last_drawn_ = time;
  drawn_ = true;
  const std::string line = kClearLine + render(style_.width());
  std::fwrite(line.data(), 1, line.size(), err_);
  std::fflush(err_);
}

void Console::ClearProgress() {
  std::lock_guard<std::mutex> lock(mutex_);
  ClearLocked();
}

void Console::ClearLocked() {
  if (!drawn_) return;
  drawn_ = false;
  last_drawn_ = absl::InfinitePast();
  std::fputs(kClearLine, err_);
  std::fflush(err_);
}

}  // namespace reel::client
