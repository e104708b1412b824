// SPDX-License-Identifier: Apache-2.0
#include "client/command/video_text.h"

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/command/bill_text.h"
#include "client/command/quantity.h"
#include "client/command/text_table.h"

namespace reel::client {
namespace {

std::string WithoutPrefix(std::string name, std::string_view prefix) {
  if (name.rfind(prefix, 0) == 0) name.erase(0, prefix.size());
  return absl::AsciiStrToLower(name);
}

std::string Shape(const v1::VideoSpec& spec) {
  std::string shape =
      absl::StrFormat("%dx%d, %d frames at %g fps, %d steps", spec.width(), spec.height(),
                      spec.num_frames(), spec.frame_rate(), NumSteps(spec));
  if (spec.has_guidance_scale()) {
    absl::StrAppend(&shape, absl::StrFormat(", guidance %g", spec.guidance_scale()));
  }
  if (spec.has_seed()) absl::StrAppend(&shape, ", seed ", spec.seed());
  return shape;
}

// As --adapter takes it.
std::string DescribeAdapter(const v1::Adapter& adapter) {
  std::string text = absl::StrFormat("%s:%g", adapter.name(), adapter.scale());
  const std::map<std::string, double> parts = {adapter.part_scales().begin(),
                                               adapter.part_scales().end()};
  for (const auto& [part, scale] : parts) absl::StrAppendFormat(&text, ",%s=%g", part, scale);
  if (adapter.pass_scales().empty()) return text;
  return absl::StrCat(text, ",pass=", absl::StrJoin(adapter.pass_scales(), "/"));
}

std::string Kernels(const v1::RunStats& stats) {
  std::string text;
  for (const v1::KernelUse& use : stats.kernels()) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", use.op(), "=", use.variant(),
                    use.lossy() ? " (lossy)" : "");
  }
  return text;
}

std::string DescribeSound(const v1::SoundStats& sound) {
  if (!sound.has_true_peak_dbtp()) return "silence";
  std::string text = sound.has_loudness_lufs()
                         ? absl::StrFormat("%.1f LUFS, ", sound.loudness_lufs())
                         : std::string();
  absl::StrAppendFormat(&text, "peak %.1f dBTP, %.0f %% silence", sound.true_peak_dbtp(),
                        sound.silent_share() * 100);
  if (sound.clipped_samples() > 0) {
    absl::StrAppend(&text, ", ", sound.clipped_samples(), " samples clipped");
  }
  return text;
}

void AddStats(const v1::RunStats& stats, TextTable& table) {
  const struct {
    const char* name;
    bool known;
    const google::protobuf::Duration& duration;
  } times[] = {{"queued", stats.has_queued(), stats.queued()},
               {"text", stats.has_text_encode(), stats.text_encode()},
               {"denoise", stats.has_denoise(), stats.denoise()},
               {"decode", stats.has_decode(), stats.decode()},
               {"first byte", stats.has_first_media_byte(), stats.first_media_byte()},
               {"total", stats.has_total(), stats.total()}};
  for (const auto& time : times) {
    if (time.known) table.AddRow({time.name, HumanDuration(FromProto(time.duration))});
  }
  if (!stats.device().empty()) table.AddRow({"device", stats.device()});
  if (stats.kernels_size() > 0) table.AddRow({"kernels", Kernels(stats)});
  if (stats.reused_steps() > 0) {
    table.AddRow({"steps", absl::StrCat(stats.full_steps(), " in full, ", stats.reused_steps(),
                                        " reused an earlier one's result")});
  }
  if (stats.streamed_bytes() > 0) {
    table.AddRow({"weights", absl::StrCat(HumanBytes(stats.streamed_bytes()),
                                          " streamed for steps, which waited ",
                                          HumanDuration(FromProto(stats.stream_stall())))});
  }
  if (stats.has_sound()) table.AddRow({"sound", DescribeSound(stats.sound())});
  if (stats.restarts() > 0) table.AddRow({"restarts", absl::StrCat(stats.restarts())});
}

void AddContinuations(const v1::Video& video, TextTable& table) {
  if (!video.source_video().empty()) table.AddRow({"goes on from", video.source_video()});
  if (video.state_size_bytes() > 0) {
    table.AddRow({"kept state", absl::StrCat(HumanBytes(video.state_size_bytes()), ", until ",
                                             HumanTime(video.state_expire_time()))});
  }
  for (const std::string& name : video.continued_by()) table.AddRow({"continued by", name});
}

// Of a draft, whose pictures are smaller than its spec says.
std::string DraftSize(const v1::Video& video) {
  if (!video.spec().has_stop_after_pass()) return "";
  return absl::StrCat(", a draft of ", video.media().width(), "x", video.media().height());
}

}  // namespace

int NumSteps(const v1::VideoSpec& spec) {
  return spec.timesteps().empty() ? spec.num_inference_steps() : spec.timesteps_size();
}

std::string StateName(v1::VideoState state) {
  return WithoutPrefix(v1::VideoState_Name(state), "VIDEO_STATE_");
}

std::string StateName(v1::WorkerState state) {
  return WithoutPrefix(v1::WorkerState_Name(state), "WORKER_STATE_");
}

std::string DescribeVideo(const v1::Video& video) {
  TextTable table({"name", video.name()});
  table.AddRow({"state", StateName(video.state())});
  if (video.state() == v1::VIDEO_STATE_QUEUED || video.state() == v1::VIDEO_STATE_RUNNING) {
    table.AddRow(
        {"progress", absl::StrFormat("%.0f%%, step %d of %d", video.progress().fraction() * 100,
                                     video.progress().step(), video.progress().num_steps())});
  }
  if (video.has_error()) table.AddRow({"error", video.error().message()});
  table.AddRow({"model", video.spec().model()});
  table.AddRow({"shape", Shape(video.spec())});
  table.AddRow({"prompt", video.spec().prompt()});
  for (const v1::Adapter& adapter : video.spec().adapters()) {
    table.AddRow({"adapter", DescribeAdapter(adapter)});
  }
  if (video.media().size_bytes() > 0) {
    table.AddRow({"file", HumanBytes(video.media().size_bytes()) + DraftSize(video)});
    table.AddRow({"sha256", video.media().sha256()});
  }
  table.AddRow({"created", HumanTime(video.create_time())});
  if (video.has_end_time()) table.AddRow({"ended", HumanTime(video.end_time())});
  if (video.has_expire_time()) table.AddRow({"expires", HumanTime(video.expire_time())});
  AddContinuations(video, table);
  AddStats(video.stats(), table);
  for (const auto& [label, value] : video.labels()) table.AddRow({"label", label + "=" + value});
  for (const v1::Notice& notice : video.notices()) table.AddRow({"note", notice.message()});
  const std::string bill = DescribeBill(video.stats());
  return bill.empty() ? table.Render() : absl::StrCat(table.Render(), "\n", bill);
}

}  // namespace reel::client
