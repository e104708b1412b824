// SPDX-License-Identifier: Apache-2.0
// reel-frames: measures how far two videos differ, or draws several in one picture. `reel compare`,
// `reel ab` and `reel generate --count` run it.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "client/frames/file_comparison.h"
#include "client/frames/overview.h"
#include "client/frames/png.h"
#include "kernels/base/program/part_file.h"
#include "kernels/base/status_macros.h"
#include <CLI/CLI.hpp>

extern "C" {
#include <libavutil/log.h>
}

namespace {

constexpr int kInvalid = 3, kFailed = 7;  // the same as reel's

absl::Status WriteSheet(const reel::model::RgbImage& sheet, const std::string& path) {
  REEL_ASSIGN_OR_RETURN(const std::string png, reel::client::EncodePng(sheet));
  REEL_ASSIGN_OR_RETURN(reel::PartFile file,
                        reel::PartFile::Open(path, reel::PartFile::Mode::kScratch));
  REEL_RETURN_IF_ERROR(file.Append(png));
  return file.Commit();
}

// One line of JSON. Equal videos have no PSNR, which would be infinite.
std::string Line(const reel::client::PictureDistance& distance) {
  const bool same = std::isinf(distance.psnr_db());
  return absl::StrFormat("{\"frames\":%d,\"identical\":%s%s,\"ssim\":%.6f}\n", distance.frames(),
                         same ? "true" : "false",
                         same ? "" : absl::StrFormat(",\"psnrDb\":%.3f", distance.psnr_db()),
                         distance.ssim());
}

int Refuse(absl::string_view why) {
  std::fprintf(stderr, "error: %s\n", std::string(why).c_str());
  return kInvalid;
}

int WriteOverview(const std::vector<std::string>& videos, const std::string& path) {
  const auto overview = reel::client::DrawOverview(videos);
  absl::Status status = overview.status();
  if (status.ok()) status = WriteSheet(*overview, path);
  return status.ok() ? 0 : Refuse(status.message());
}

}  // namespace

int main(int argc, char** argv) {
  av_log_set_level(AV_LOG_QUIET);  // CLI11's own messages are no sentences
  CLI::App app("Compares two videos: PSNR and SSIM of their frames.", "reel-frames");
  app.set_version_flag("--version", "reel-frames " REEL_VERSION);
  std::vector<std::string> videos;
  std::string sheet, overview;
  app.add_option("videos", videos, "Two videos of one size and length")->required();
  app.add_option("--sheet", sheet, "Write frames of both and their differences to this PNG");
  app.add_option("--overview", overview,
                 "Compare nothing: write frames of the videos, a row each, to this PNG")
      ->excludes("--sheet");
  CLI11_PARSE(app, argc, argv);
  if (!overview.empty()) return WriteOverview(videos, overview);
  if (videos.size() != 2) return Refuse("two videos are compared, or --overview shows any number");
  const auto comparison = reel::client::CompareFiles(videos[0], videos[1]);
  absl::Status status = comparison.status();
  if (status.ok() && !sheet.empty()) status = WriteSheet(comparison->sheet, sheet);
  if (!status.ok()) return Refuse(status.message());
  if (std::fputs(Line(comparison->distance).c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    std::fputs("error: stdout cannot be written\n", stderr);
    return kFailed;
  }
  return 0;
}
