// SPDX-License-Identifier: Apache-2.0
// A sound that a request brings is the video's, whoever dies in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "tests/conformance/caller.h"
#include "tests/conformance/service.h"
#include "tests/fakes/wav_file.h"

namespace reel::tests {
namespace {

using ::testing::HasSubstr;

v1::VideoSpec SpecWith(const std::string& sound) {
  v1::VideoSpec spec = SmallSpec("a red fox");
  spec.set_num_frames(25);
  spec.set_frame_rate(25);
  spec.add_conditions()->set_audio(sound);
  return spec;
}

// Long enough to be killed.
v1::VideoSpec LongSpec(int hertz) {
  v1::VideoSpec spec = SpecWith(reel::testing::WavFile(hertz, 1));
  spec.set_num_inference_steps(20);
  return spec;
}

class OwnSound : public Conformance {
 protected:
  static std::string WhyRefused(Caller& caller, const v1::VideoSpec& spec) {
    const Answer refused = caller.Create(spec);
    EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    return refused.status.error_message();
  }
};

TEST_P(OwnSound, OutlivesItsWorkerAndItsServer) {
  Service service(GetParam(), {.step_ms = 100, .faults = " sound: true"});
  std::string undisturbed, name;
  {
    Caller caller(service.server());
    const v1::Video video = caller.Finish(LongSpec(330));
    EXPECT_EQ(video.notices_size(), 0);
    undisturbed = video.media().sha256();
    EXPECT_NE(caller.Finish(LongSpec(660)).media().sha256(), undisturbed);
    name = caller.Create(LongSpec(330)).video.name();
    caller.AwaitStep(name);
    service.KillWorkers();
    EXPECT_TRUE(Eventually([&] { return caller.Get(name).video.attempt() > 1; }));
    caller.AwaitStep(name);
  }
  service.Restart(SIGKILL);
  Caller caller(service.server());
  EXPECT_EQ(caller.Await(name).media().sha256(), undisturbed);
}

TEST_P(OwnSound, IsToldAboutAndRefusedByName) {
  Service service(GetParam(), {.faults = " sound: true"});
  Caller caller(service.server());
  const v1::Video early = caller.Finish(SpecWith(reel::testing::WavFile(330, 0.5)));
  ASSERT_EQ(early.notices_size(), 1);
  EXPECT_EQ(early.notices(0).code(), "OWN_SOUND_ENDS_EARLY");
  v1::VideoSpec late = SpecWith(reel::testing::WavFile(330, 1));
  late.mutable_conditions(0)->set_frame_index(8);
  EXPECT_THAT(WhyRefused(caller, late), HasSubstr("spec.conditions[0].frame_index"));
  v1::VideoSpec two = SpecWith(reel::testing::WavFile(330, 1));
  two.add_conditions()->set_audio("RIFF");
  EXPECT_THAT(WhyRefused(caller, two), HasSubstr("spec.conditions[1].audio"));
  const v1::Video broken =
      caller.Await(caller.Create(SpecWith("RIFF1234WAVE and nothing else")).video.name());
  EXPECT_EQ(broken.state(), v1::VIDEO_STATE_FAILED);
  EXPECT_THAT(broken.error().message(), HasSubstr("conditions[0]"));
  EXPECT_EQ(caller.Finish(SpecWith(reel::testing::WavFile(330, 1))).attempt(), 1)
      << "the worker lives";
}

TEST_P(OwnSound, IsInDraftsAndTheirPromotions) {
  Service service(GetParam(), {.faults = " sound: true"});
  Caller caller(service.server());
  v1::VideoSpec spec = SpecWith(reel::testing::WavFile(330, 1));
  spec.clear_num_inference_steps();
  spec.set_preset("two-pass");
  spec.set_height(128);
  const std::string whole = caller.Finish(spec).media().sha256();
  spec.set_stop_after_pass(1);
  v1::VideoSpec promotion;
  promotion.mutable_source()->set_video(caller.Finish(spec).name());
  promotion.mutable_source()->mutable_promote();
  EXPECT_EQ(caller.Finish(promotion).media().sha256(), whole);
}

TEST_P(OwnSound, IsRefusedByModelsWithoutSound) {
  Caller caller(Shared().server());
  EXPECT_THAT(WhyRefused(caller, SpecWith(reel::testing::WavFile(330, 1))),
              HasSubstr("spec.conditions[0].audio"));
}

REEL_EVERY_LIFE(OwnSound);

}  // namespace
}  // namespace reel::tests
