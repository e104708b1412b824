// SPDX-License-Identifier: Apache-2.0
// The two outputs of a command: results on stdout; progress, notices and errors on stderr.
#pragma once

#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

#include "absl/time/time.h"

namespace reel::client {

// Thread-safe: notices come from the thread that hears Ctrl-C, too.
class Console {
 public:
  struct Style {
    bool live = false;   // stderr redraws its last line
    bool quiet = false;  // errors only
    bool color = false;
    bool out_is_terminal = false;
    std::function<int()> width = [] { return 80; };
  };

  // The files outlive it.
  Console(std::FILE* out, std::FILE* err, Style style);
  ~Console();  // clears the live line

  // To stdout, and flushed; false when it is gone. The live line makes room.
  bool Print(const std::string& text);
  // Why a Print has failed, as errno; 0: none has.
  int out_error();
  // To stderr, a line of its own, unless quiet. Prompts and names may come from elsewhere: control
  // characters are the caller's care.
  void Notice(const std::string& line);
  // To stderr, always. `text` ends with a newline.
  void Error(const std::string& text);

  // Redraws the live line with what `render` makes for the terminal's width: at most every 100 ms
  // unless `now`. Without a terminal, and when quiet, nothing is rendered.
  void Progress(const std::function<std::string(int width)>& render, bool now);
  void ClearProgress();

  bool color() const { return style_.color; }
  // Stdout is a terminal: no place for a video's bytes.
  bool out_is_terminal() const { return style_.out_is_terminal; }
  bool live() const { return style_.live && !style_.quiet; }
  bool quiet() const { return style_.quiet; }

 private:
  void ClearLocked();

  std::FILE* const out_;
  std::FILE* const err_;
  const Style style_;
  std::mutex mutex_;
  int out_error_ = 0;                             // guarded by mutex_
  bool drawn_ = false;                            // guarded by mutex_
  absl::Time last_drawn_ = absl::InfinitePast();  // guarded by mutex_
};

}  // namespace reel::client
