// SPDX-License-Identifier: Apache-2.0
// A clip that is refined gives the same bytes whoever dies in between, in the steps of the second
// pass alone, and with its own sound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"
#include "tests/fakes/decoded_video.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kCard[] = " pictures: true sound: true";

v1::VideoSpec Refining(const std::string& clip) {
  v1::VideoSpec spec = RefinementSpec();
  spec.mutable_conditions(0)->set_video(clip);
  return spec;
}

class Refinement : public Conformance {
 protected:
  static std::string FileOf(Service& service, const v1::Video& video) {
    std::string bytes;
    EXPECT_TRUE(service.Connect().Download(video.name(), 0, &bytes).ok()) << video.name();
    return bytes;
  }
  static std::string Clip(Service& service) {
    return FileOf(service, Caller(service.server()).Finish(ClipSpec()));
  }
  static std::string WhyRefused(Caller& caller, const v1::VideoSpec& spec) {
    const Answer refused = caller.Create(spec);
    EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return refused.status.error_message();
  }
};

TEST_P(Refinement, IsTheClipInTheStepsOfTheSecondPassWithItsSound) {
  Service service(GetParam(), {.step_ms = 5, .faults = kCard});
  Caller caller(service.server());
  const std::string clip = Clip(service);
  const v1::Video video = caller.Finish(Refining(clip));
  EXPECT_EQ(video.stats().full_steps(), 2);
  EXPECT_EQ(video.notices_size(), 0) << video.DebugString();
  EXPECT_DOUBLE_EQ(video.spec().denoise_strength(), 0.9);
  EXPECT_EQ(video.spec().conditions(0).use(), v1::CONDITION_USE_REFINE);
  EXPECT_FALSE(video.spec().conditions(0).has_strength());
  const auto before = reel::testing::Decode(clip);
  const auto after = reel::testing::Decode(FileOf(service, video));
  ASSERT_TRUE(before.ok() && after.ok()) << before.status() << after.status();
  EXPECT_EQ(after->luma.size(), 25U);
  EXPECT_EQ(after->height, 128);
  ASSERT_EQ(after->sound.size(), before->sound.size());
  double errors = 0, squares = 0;
  for (size_t i = 0; i < before->sound.size(); ++i) {
    const double error = after->sound[i] - before->sound[i];
    errors += error * error;
    squares += double{before->sound[i]} * before->sound[i];
  }
  EXPECT_LT(std::sqrt(errors / squares), 0.05) << "AAC once more, and in step";
}

TEST_P(Refinement, OutlivesItsWorkerAndItsServer) {
  // Its two steps are long enough to be killed in.
  Service service(GetParam(), {.step_ms = 1000, .faults = kCard});
  const std::string clip = Clip(service);
  std::string undisturbed, name;
  {
    Caller caller(service.server());
    undisturbed = caller.Finish(Refining(clip)).media().sha256();
    name = caller.Create(Refining(clip)).video.name();
    caller.AwaitStep(name);
    service.KillWorkers();
    EXPECT_TRUE(Eventually([&] { return caller.Get(name).video.attempt() > 1; }));
  }
  service.Restart(SIGKILL);
  Caller caller(service.server());
  const v1::Video video = caller.Await(name);
  EXPECT_EQ(video.state(), v1::VIDEO_STATE_SUCCEEDED) << video.DebugString();
  EXPECT_EQ(video.media().sha256(), undisturbed);
}

// Three windows of two steps, the first of which ends long before the last.
TEST_P(Refinement, ItsFramesLeaveBetweenItsWindowsAndAreThoseOfEveryOtherRun) {
  Service service(GetParam(), {.step_ms = 400, .faults = kCard});
  v1::GenerateVideoRequest request;
  *request.mutable_spec() = Refining(Clip(service));
  request.mutable_spec()->set_num_frames(601);
  Calls calls = service.Connect();
  int steps_at_first = -1, steps = 0;
  const auto note = [&](const v1::VideoEvent& event) {
    if (event.has_progress()) steps = event.progress().step();
    if (event.has_media() && steps_at_first < 0) steps_at_first = steps;
    return true;
  };
  const StreamResult undisturbed = calls.Generate(request, note);
  ASSERT_TRUE(undisturbed.status.ok()) << undisturbed.status.error_message();
  EXPECT_THAT(undisturbed.faults, IsEmpty());
  EXPECT_EQ(undisturbed.finished.stats().full_steps(), 6);
  EXPECT_GE(steps_at_first, 2);
  EXPECT_LE(steps_at_first, 4);
  EXPECT_EQ(undisturbed.restarts, 0);
  // Killed once bytes have left.
  bool is_killed = false;
  const StreamResult killed = calls.Generate(request, [&](const v1::VideoEvent& event) {
    if (event.has_media() && !std::exchange(is_killed, true)) service.KillWorkers();
    return true;
  });
  ASSERT_TRUE(killed.status.ok()) << killed.status.error_message();
  EXPECT_THAT(killed.faults, IsEmpty());
  EXPECT_EQ(killed.restarts, 1);
  EXPECT_TRUE(killed.file == undisturbed.file);
}

TEST_P(Refinement, TellsWhatItCutsAndFailsOnceForAClipThatIsNone) {
  Service service(GetParam(), {.step_ms = 5, .faults = kCard});
  Caller caller(service.server());
  const std::string clip = Clip(service);
  v1::VideoSpec spec = Refining(clip);
  spec.set_num_frames(17);
  const v1::Video cut = caller.Finish(spec);
  ASSERT_EQ(cut.notices_size(), 1);
  EXPECT_EQ(cut.notices(0).code(), "REFINED_CLIP_CUT");
  spec.set_num_frames(33);
  const v1::Video early = caller.Finish(spec);
  ASSERT_EQ(early.notices_size(), 1);
  EXPECT_EQ(early.notices(0).code(), "REFINED_CLIP_ENDS_EARLY");
  const v1::Video broken =
      caller.Await(caller.Create(Refining("1234ftypisom and no more")).video.name());
  EXPECT_EQ(ErrorOf(broken), "INVALID_SPEC");
  EXPECT_THAT(broken.error().message(), HasSubstr("conditions[0]"));
  EXPECT_EQ(broken.attempt(), 1);
}

TEST_P(Refinement, IsRefusedByNameAndField) {
  Service service(GetParam(), {.step_ms = 5, .faults = kCard});
  Caller caller(service.server());
  const auto why = [&](const std::function<void(v1::VideoSpec&)>& change) {
    v1::VideoSpec spec = Refining("1234ftyp");
    change(spec);
    return WhyRefused(caller, spec);
  };
  EXPECT_THAT(why([](auto& spec) { spec.set_preset("quick"); }), HasSubstr("spec.preset"));
  EXPECT_THAT(why([](auto& spec) { spec.mutable_conditions(0)->set_frame_index(8); }),
              HasSubstr("spec.conditions[0].frame_index"));
  EXPECT_THAT(why([](auto& spec) { spec.mutable_conditions(0)->set_strength(0.5); }),
              HasSubstr("spec.conditions[0].strength"));
  EXPECT_THAT(why([](auto& spec) { spec.mutable_conditions(0)->set_image("x"); }),
              HasSubstr("spec.conditions[0].image"));
  EXPECT_THAT(why([](auto& spec) { *spec.add_conditions() = spec.conditions(0); }),
              HasSubstr("spec.conditions[1].use"));
  EXPECT_THAT(why([](auto& spec) { spec.add_conditions()->set_image("x"); }),
              HasSubstr("spec.conditions[1].image"));
  EXPECT_THAT(why([](auto& spec) { spec.set_stop_after_pass(1); }),
              HasSubstr("spec.stop_after_pass"));
  EXPECT_THAT(why([](auto& spec) { spec.set_denoise_strength(0.95); }),
              HasSubstr("spec.denoise_strength"));
  EXPECT_THAT(why([](auto& spec) { spec.set_num_frames(753); }), HasSubstr("nearest: 745"));
}

REEL_EVERY_LIFE(Refinement);

}  // namespace
}  // namespace reel::tests
