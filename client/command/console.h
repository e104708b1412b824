// SPDX-License-Identifier: Apache-2.0
// The two outputs of a command: results on stdout; progress, notices and errors on stderr.
#pragma once

#include <cstdio>
#include <functional>
#include <mutex>
#include <string>

#include "absl/time/time.h"

namespace reel::client {

// Thread-safe: notices also come from the thread that handles Ctrl-C.
class Console {
 public:
  struct Style {
    bool live = false;   // stderr can redraw its last line
    bool quiet = false;  // errors only
    bool color = false;
    bool out_is_terminal = false;
    std::function<int()> width = [] { return 80; };
  };

  // The files must outlive it.
  Console(std::FILE* out, std::FILE* err, Style style);
  ~Console();  // clears the live line

  // Writes to stdout and flushes; false if stdout is gone. Clears the live line first.
  bool Print(const std::string& text);
  // The errno of a failed Print; 0: none failed.
  int out_error();
  // Writes a line to stderr, unless quiet. Prompts and names may come from elsewhere: callers must
  // escape control characters.
  void Notice(const std::string& line);
  // Writes to stderr, always. `text` ends with a newline.
  void Error(const std::string& text);

  // Redraws the live line with what `render` returns for the terminal's width: at most every 100 ms
  // unless `now`. Without a terminal, or when quiet, `render` is not called.
  void Progress(const std::function<std::string(int width)>& render, bool now);
  void ClearProgress();

  bool color() const { return style_.color; }
  // Stdout is a terminal: do not write a video's bytes there.
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
