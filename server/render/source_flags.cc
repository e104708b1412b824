// SPDX-License-Identifier: Apache-2.0
#include "server/render/source_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/base/program/flag_checks.h"
#include <CLI/CLI.hpp>

namespace reel::render {
namespace {

using Begin = model::Source::Begin;

constexpr const char* kSourceFlags[] = {"--promote", "--extend", "--retake"};
// What an extension and a retake take from their source.
constexpr const char* kOfTheSource[] = {
    "--width",     "--height", "--num-frames", "--frame-rate", "--image",
    "--condition", "--refine", "--reference",  "--sound",      "--stop-after-pass"};

const char* FlagOf(Begin begin) {
  switch (begin) {
    case Begin::kUnspecified:
      return "";
    case Begin::kPromote:
      return "--promote";
    case Begin::kExtend:
      return "--extend";
    case Begin::kRetake:
      return "--retake";
  }
  return "";
}

void AddSource(CLI::App& app, RenderOptions& options, Begin begin, const std::string& help) {
  app.add_option_function<std::string>(
         FlagOf(begin),
         [&options, begin](const std::string& file) {
           options.source_file = file;
           options.source.begin = begin;
         },
         help)
      ->check(WhyEmpty);
}

}  // namespace

void AddSourceFlags(CLI::App& app, RenderOptions& options) {
  AddSource(app, options, Begin::kPromote,
            "The state of a draft: makes the passes that it left out, by its own request");
  AddSource(app, options, Begin::kExtend,
            "The state of a video: a clip that begins with its last frames and goes on");
  AddSource(app, options, Begin::kRetake,
            "The state of a video: the same once more, with a stretch of it made anew");
  for (const char* flag : kSourceFlags) {
    for (const char* other : kSourceFlags) {
      if (flag != other) app.get_option(flag)->excludes(app.get_option(other));
    }
  }
  model::Source& source = options.source;
  CLI::Option* const extend = app.get_option("--extend");
  app.add_option("--new-frames", source.extend.num_frames, "Frames behind the overlap")
      ->check(WhyNotAboveZero)
      ->needs(extend);
  extend->needs(app.get_option("--new-frames"));
  app.add_option("--overlap", source.extend.overlap_frames,
                 "So many of its last frames come first; default 25")
      ->check(WhyNotAboveZero)
      ->needs(extend);
  app.add_flag("--join", source.extend.join,
               "The file begins with the video's, which its state has; only for .mp4")
      ->needs(extend);
  CLI::Option* const retake = app.get_option("--retake");
  app.add_option("--from", source.retake.begin, "Seconds; default 0")->needs(retake);
  app.add_option("--to", source.retake.end, "Seconds")->needs(retake);
  retake->needs(app.get_option("--to"));
  app.add_flag("--keep-pictures", source.retake.keep_pictures,
               "Makes only the sound of the stretch anew")
      ->needs(retake);
  app.add_flag("--keep-sound", source.retake.keep_sound,
               "Makes only the pictures of the stretch anew")
      ->needs(retake);
  app.add_option("--keep-state", options.state,
                 "A file for what the video was made from, for the three")
      ->check(WhyEmpty);
}

bool NamesASource(const std::string& word) {
  return std::ranges::any_of(kSourceFlags,
                             [&](const char* flag) { return word.starts_with(flag); });
}

std::string WhyNotBesideSource(const RenderOptions& options,
                               const std::vector<const CLI::Option*>& of_the_video) {
  const Begin begin = options.source.begin;
  if (options.source.extend.join && options.output.ends_with(".safetensors")) {
    return "--join makes an .mp4 of an .mp4; a .safetensors has the frames that are made";
  }
  for (const CLI::Option* flag : of_the_video) {
    if (begin == Begin::kUnspecified || flag->count() == 0) continue;
    if (begin == Begin::kPromote) {
      return absl::StrCat("--promote takes all that the video is from its draft; leave out ",
                          flag->get_name());
    }
    if (std::ranges::find(kOfTheSource, flag->get_name()) == std::end(kOfTheSource)) continue;
    return absl::StrCat(FlagOf(begin),
                        " takes size, length and rate from the video, and holds its "
                        "latents in place of conditions; leave out ",
                        flag->get_name());
  }
  return "";
}

}  // namespace reel::render
