// SPDX-License-Identifier: Apache-2.0
// reel-frames: measures how far two videos differ. `reel compare` and `reel ab` run it.
#include <cmath>
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "client/frames/file_comparison.h"
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

}  // namespace

int main(int argc, char** argv) {
  av_log_set_level(AV_LOG_QUIET);  // CLI11's own messages are no sentences
  CLI::App app("Compares two videos: PSNR and SSIM of their frames.", "reel-frames");
  app.set_version_flag("--version", "reel-frames " REEL_VERSION);
  std::string a, b, sheet;
  app.add_option("a", a, "A video")->required();
  app.add_option("b", b, "Another of the same size and length")->required();
  app.add_option("--sheet", sheet, "Write frames of both and their differences to this PNG");
  CLI11_PARSE(app, argc, argv);
  const auto comparison = reel::client::CompareFiles(a, b);
  absl::Status status = comparison.status();
  if (status.ok() && !sheet.empty()) status = WriteSheet(comparison->sheet, sheet);
  if (!status.ok()) {
    std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
    return kInvalid;
  }
  if (std::fputs(Line(comparison->distance).c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    std::fputs("error: stdout cannot be written\n", stderr);
    return kFailed;
  }
  return 0;
}
