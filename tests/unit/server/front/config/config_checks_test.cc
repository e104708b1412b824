// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/config_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/unit/server/front/config/checked_text.h"

namespace reel::front {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

CheckedConfig Check(const std::string& text) { return CheckText(text); }

TEST(ConfigChecks, TheDefaultsAreLegal) {
  const CheckedConfig checked = Check("");
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_THAT(checked.warnings, IsEmpty());
  EXPECT_TRUE(checked.config.reflection());
}

TEST(ConfigChecks, ListsEveryProblemWithItsKey) {
  const CheckedConfig checked = Check(R"(
    listen: "nowhere"
    workers { device: "gpu" }
    models { name: "Bad Name" path: "/m" dtype: "bf61" }
    models { name: "empty" }
    scheduler { order: "step" max_queued_jobs: -1 }
    timing { heartbeat { seconds: 60 } drain { seconds: -1 } }
    telemetry { log_level: "warn" }
    auth { tokens_file: "/t" tenants { name: "t" weight: -1 } }
    data { replica: "eu-1" }
  )");
  EXPECT_THAT(
      checked.problems,
      UnorderedElementsAre(
          StartsWith("listen:"), StartsWith("workers[0].device:"), StartsWith("models[0].name:"),
          AllOf(StartsWith("models[0].dtype:"), HasSubstr("nearest is 'bf16'")),
          StartsWith("models[1]:"), AllOf(StartsWith("data.replica:"), HasSubstr("'eu-1'")),
          AllOf(StartsWith("scheduler.order:"), HasSubstr("nearest is 'steps'")),
          StartsWith("scheduler.max_queued_jobs:"), StartsWith("timing.heartbeat:"),
          StartsWith("timing.drain:"), StartsWith("telemetry.log_level:"),
          StartsWith("auth.tenants[0].weight:")));
}

TEST(ConfigChecks, TheFlagOfTheExperimentIsStillReadAndSaysThatItDoesNothing) {
  const CheckedConfig checked = Check("data { experimental_log: true }");
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_THAT(checked.warnings, ElementsAre(StartsWith("data.experimental_log:")));
}

TEST(ConfigChecks, BeyondLoopbackNeedsTlsOrAWord) {
  EXPECT_THAT(Check("listen: '0.0.0.0:1'").problems, ElementsAre(StartsWith("listen:")));
  const CheckedConfig insecure = Check("listen: '0.0.0.0:1' insecure_listen: true");
  EXPECT_THAT(insecure.problems, IsEmpty());
  EXPECT_THAT(insecure.warnings, SizeIs(1));
  EXPECT_FALSE(insecure.config.reflection());
  const CheckedConfig tls =
      Check("listen: '0.0.0.0:1' tls { certificate_file: 'c' key_file: 'k' } reflection: true");
  EXPECT_THAT(tls.problems, IsEmpty());
  EXPECT_THAT(tls.warnings, IsEmpty());
  EXPECT_TRUE(tls.config.reflection());
}

TEST(ConfigChecks, TheDoorIsEncryptedWhereOthersReachIt) {
  const std::string tls = " tls { certificate_file: 'c' key_file: 'k' }";
  EXPECT_THAT(Check("http { listen: '0.0.0.0:1' }").problems,
              ElementsAre(StartsWith("http.listen:")));
  EXPECT_THAT(Check("http { listen: '127.0.0.1:1' tls: true }").problems,
              ElementsAre(StartsWith("http.tls:")));
  EXPECT_TRUE(Check("http { listen: '0.0.0.0:1' }" + tls).config.http().tls());
  EXPECT_FALSE(Check("http { listen: '127.0.0.1:1' }" + tls).config.http().tls());
  EXPECT_TRUE(Check("http { listen: '127.0.0.1:1' tls: true }" + tls).config.http().tls());
  EXPECT_THAT(Check("http { listen: '0.0.0.0:1' tls: false }" + tls).problems,
              ElementsAre(StartsWith("http.listen:")));
  EXPECT_TRUE(Check("http { listen: '127.0.0.1:1' }").config.http().playground());
}

TEST(ConfigChecks, StreamsAreBoundedWhereTokensTellTenantsApart) {
  const auto most = [](const std::string& text) {
    return Check(text).config.http().max_streams_per_tenant();
  };
  EXPECT_EQ(most(""), 0);
  EXPECT_EQ(most("auth { tokens_file: '/t' } http {}"), 64);
  EXPECT_EQ(most("auth { tokens_file: '/t' } http { max_streams_per_tenant: 1000 }"), 1000);
  EXPECT_EQ(most("http { max_streams_per_tenant: 7 }"), 7);
  EXPECT_THAT(Check("http { max_streams_per_tenant: -1 }").problems,
              ElementsAre(StartsWith("http.max_streams_per_tenant:")));
}

TEST(ConfigChecks, AWarmUpHasSizesOrIsOff) {
  const auto problems = [](const std::string& warm_up) {
    return Check("models { name: 'm' path: '/m' warm_up { " + warm_up + " } }").problems;
  };
  EXPECT_THAT(problems("off: true"), IsEmpty());
  EXPECT_THAT(problems("sizes { width: 768 height: 512 num_frames: 49 } sizes {}"), IsEmpty());
  EXPECT_THAT(problems("off: true sizes {}"), ElementsAre(StartsWith("models[0].warm_up:")));
  EXPECT_THAT(problems("sizes { width: -1 }"),
              ElementsAre(StartsWith("models[0].warm_up.sizes[0].width:")));
  std::string many;
  for (int i = 0; i < 17; ++i) many += "sizes {} ";
  EXPECT_THAT(problems(many), ElementsAre(StartsWith("models[0].warm_up.sizes:")));
}

TEST(ConfigChecks, HalfATlsIsAProblem) {
  EXPECT_THAT(Check("tls { certificate_file: 'c' }").problems, ElementsAre(StartsWith("tls:")));
  EXPECT_THAT(Check("tls { client_ca_file: 'c' }").problems,
              ElementsAre(StartsWith("tls.client_ca_file:")));
}

TEST(ConfigChecks, AWorkerMayHaveAGroupOfDevices) {
  const CheckedConfig checked = Check(
      "workers { device: 'cuda:0+cuda:1' } workers { device: 'cpu+cpu' } "
      "workers { device: 'cuda:2+cuda:3+cuda:4+cuda:5' }");
  EXPECT_THAT(checked.problems, ::testing::IsEmpty());
  EXPECT_THAT(Check("workers { device: 'cuda:0+cuda:0' }").problems,
              Contains(AllOf(StartsWith("workers[0].device:"), HasSubstr("each device once"))));
  EXPECT_THAT(Check("workers { device: 'cuda:0+cpu' }").problems,
              Contains(AllOf(StartsWith("workers[0].device:"), HasSubstr("of one kind"))));
  EXPECT_THAT(Check("workers { device: 'GPU-8932f937-d72c-4106-c12f-20bd9faed9f6' }").problems,
              IsEmpty());
  EXPECT_THAT(Check("workers { device: 'GPU-8932f937-d72c+cuda:1' }").problems,
              Contains(AllOf(StartsWith("workers[0].device:"), HasSubstr("not by both"))));
  EXPECT_THAT(Check("workers { device: 'cuda:all' }").problems,
              Contains("workers[0].device: cuda:all, and no GPU can be seen here"));
  EXPECT_THAT(Check("workers { device: 'cpu+cpu+cpu+cpu+cpu' }").problems,
              Contains(AllOf(StartsWith("workers[0].device:"), HasSubstr("4 devices at most"))));
}

TEST(ConfigChecks, NamesAreUniqueAndReferencesHold) {
  EXPECT_THAT(Check("models { name: 'a' path: 'x' } models { name: 'a' path: 'y' }").problems,
              Contains(HasSubstr("twice")));
  EXPECT_THAT(Check("workers { device: 'cpu' } workers { device: 'cpu' }").problems,
              Contains(StartsWith("workers[1].name:")));
  EXPECT_THAT(Check("workers { device: 'cpu' models: 'tescard' }").problems,
              ElementsAre(HasSubstr("nearest is 'testcard'")));
  EXPECT_THAT(Check("kernel_profiles { name: 'auto' }").problems, Contains(HasSubstr("built-in")));
  EXPECT_THAT(
      Check("kernel_profiles { name: 'p' base: 'q' } kernel_profiles { name: 'q' }").problems,
      ElementsAre(StartsWith("kernel_profiles[0].base:")));
}

TEST(ConfigChecks, TestCardFaultsAreKnownKinds) {
  const CheckedConfig good = Check(
      "models { name: 't' test_card { faults { kind: 'exit' step: 3 prompt_contains: 'x' times: 1 "
      "} } }");
  EXPECT_THAT(good.problems, IsEmpty());
  EXPECT_THAT(Check("models { name: 't' test_card { faults { kind: 'crash' } } }").problems,
              ElementsAre(StartsWith("models[0].test_card.faults[0].kind:")));
}

TEST(ConfigChecks, AModelsPartsMayBeFilesOfTheirOwn) {
  const auto problems = [](const std::string& parts) {
    return Check("models { name: 'm' path: '/m' " + parts + " }").problems;
  };
  EXPECT_THAT(problems("parts { part: 'transformer' path: '/t.gguf' } "
                       "parts { part: 'text_encoder' path: '/e.gguf' }"),
              IsEmpty());
  EXPECT_THAT(problems("parts { part: 'unet' path: '/t' }"),
              ElementsAre(AllOf(StartsWith("models[0].parts[0].part:"), HasSubstr("\"unet\""),
                                HasSubstr("audio_vae"))));
  EXPECT_THAT(problems("parts { part: 'vae' path: '/a' } parts { part: 'vae' path: '/b' }"),
              ElementsAre(StartsWith("models[0].parts[1].part: two files")));
  EXPECT_THAT(problems("parts { part: 'vae' }"),
              ElementsAre(StartsWith("models[0].parts[0].path:")));
  EXPECT_THAT(problems("random_weights {} parts { part: 'vae' path: '/a' }"),
              ElementsAre(StartsWith("models[0].parts: random weights")));
}

TEST(ConfigChecks, TenantsNeedTokensSinceWithoutThemEverybodyIsTheSameAdmin) {
  EXPECT_THAT(Check("auth { tenants { name: 'studio' } }").problems,
              ElementsAre(AllOf(StartsWith("auth.tenants[0].name:"), HasSubstr("tokens_file"),
                                HasSubstr("admin"))));
  EXPECT_THAT(Check("auth { tokens_file: '/t' tenants { name: 'studio' } }").problems, IsEmpty());
  // The one tenant that there is without tokens can have limits.
  EXPECT_THAT(Check("auth { tenants { name: 'default' max_jobs: 3 } }").problems, IsEmpty());
}

TEST(ConfigChecks, TheTestCardHasNoWeightsToSayAnythingOf) {
  EXPECT_THAT(Check("models { name: 't' test_card {} dtype: 'bf16' manifest_file: '/m' "
                    "text_folder: '/t' random_weights {} parts { part: 'vae' path: '/v' } }")
                  .problems,
              UnorderedElementsAre(
                  StartsWith("models[0].dtype:"), StartsWith("models[0].manifest_file:"),
                  StartsWith("models[0].text_folder:"), StartsWith("models[0].random_weights:"),
                  StartsWith("models[0].parts:")));
}

TEST(ConfigChecks, WeightsAreOnTheDeviceOrOnTheHost) {
  const auto problems = [](const std::string& offload) {
    return Check("models { name: 'm' path: '/m' offload { " + offload + " } }").problems;
  };
  EXPECT_THAT(problems("text: 'host' resident_blocks: 0"), IsEmpty());
  EXPECT_THAT(problems("text: 'disk'"), ElementsAre(StartsWith("models[0].offload.text:")));
  EXPECT_THAT(problems("resident_blocks: -1"),
              ElementsAre(StartsWith("models[0].offload.resident_blocks:")));
}

TEST(ConfigChecks, WeightsAreHeldInAFormThatIsKnown) {
  EXPECT_THAT(Check("models { name: 'm' path: '/m' weights_form: 'e4m3' }").problems, IsEmpty());
  EXPECT_THAT(Check("models { name: 'm' path: '/m' weights_form: 'int4' }").problems,
              ElementsAre(AllOf(StartsWith("models[0].weights_form:"), HasSubstr("e4m3"))));
  EXPECT_THAT(Check("models { name: 'm' test_card {} weights_form: 'e4m3' }").problems,
              ElementsAre(AllOf(StartsWith("models[0].weights_form:"), HasSubstr("no weights"))));
  EXPECT_THAT(Check("models { name: 'm' path: '/m' text_form: 'e4m3' }").problems, IsEmpty());
  EXPECT_THAT(Check("models { name: 'm' path: '/m' decoder: 'diffusion' }").problems, IsEmpty());
  EXPECT_THAT(Check("models { name: 'm' path: '/m' decoder: 'tiny' }").problems,
              ElementsAre(AllOf(StartsWith("models[0].decoder:"), HasSubstr("diffusion"))));
  EXPECT_THAT(Check("models { name: 'm' test_card {} decoder: 'diffusion' }").problems,
              ElementsAre(AllOf(StartsWith("models[0].decoder:"), HasSubstr("no weights"))));
  EXPECT_THAT(Check("models { name: 'm' path: '/m' text_form: 'int4' }").problems,
              ElementsAre(AllOf(StartsWith("models[0].text_form:"), HasSubstr("e4m3"))));
}

TEST(ConfigChecks, RandomWeightsAreInNoManifest) {
  const CheckedConfig checked = Check(
      "models { name: 'm' path: '/m' random_weights { seed: 7 } } models { name: 'n' path: '/n' }");
  EXPECT_THAT(checked.problems, IsEmpty());
  EXPECT_THAT(
      Check("models { name: 'm' path: '/m' random_weights {} manifest_file: '/f' }").problems,
      ElementsAre(StartsWith("models[0].manifest_file:")));
}

TEST(ConfigChecks, WhatIsNotBuiltIsRefused) {
  EXPECT_THAT(Check("telemetry { log_prompts: true }").problems,
              ElementsAre(StartsWith("telemetry.log_prompts:")));
}

TEST(ConfigChecks, TracesGoToACollectorOrNowhere) {
  const CheckedConfig all = Check("telemetry { otlp_endpoint: 'http://collector' }");
  EXPECT_THAT(all.problems, IsEmpty());
  EXPECT_EQ(all.config.telemetry().trace_share(), 1);
  EXPECT_EQ(all.config.telemetry().kernel_sample_every(), 32);
  EXPECT_THAT(Check("telemetry { kernel_sample_every: -1 }").problems, IsEmpty());
  EXPECT_THAT(Check("telemetry { kernel_sample_every: -2 }").problems,
              ElementsAre(StartsWith("telemetry.kernel_sample_every:")));
  const CheckedConfig some = Check("telemetry { otlp_endpoint: 'http://c' trace_share: 0.25 }");
  EXPECT_EQ(some.config.telemetry().trace_share(), 0.25);
  EXPECT_EQ(Check("").config.telemetry().trace_share(), 0);

  EXPECT_THAT(Check("telemetry { trace_share: 0.5 }").problems,
              ElementsAre(StartsWith("telemetry.trace_share: needs otlp_endpoint")));
  for (const char* share : {"1.5", "-0.1", "nan"}) {
    EXPECT_THAT(
        Check(absl::StrCat("telemetry { otlp_endpoint: 'http://c' trace_share: ", share, " }"))
            .problems,
        ElementsAre(StartsWith("telemetry.trace_share: must be")))
        << share;
  }
  EXPECT_THAT(Check("telemetry { otlp_endpoint: 'collector:4318' }").problems,
              ElementsAre(StartsWith("telemetry.otlp_endpoint:")));
}

TEST(ConfigChecks, CredentialsLeaveForACollectorEncrypted) {
  const char* const files = "otlp_ca_file: '/ca' otlp_headers_file: '/headers'";
  EXPECT_THAT(Check(absl::StrCat("telemetry { otlp_endpoint: 'https://c' ", files, " }")).problems,
              IsEmpty());
  EXPECT_THAT(Check(absl::StrCat("telemetry { otlp_endpoint: 'http://c' ", files, " }")).problems,
              ElementsAre(StartsWith("telemetry.otlp_ca_file: needs https://"),
                          StartsWith("telemetry.otlp_headers_file: would be sent without")));
  EXPECT_THAT(
      Check("telemetry { otlp_endpoint: 'http://127.0.0.1' otlp_headers_file: '/h' }").problems,
      IsEmpty());
  EXPECT_THAT(Check(absl::StrCat("telemetry { ", files, " }")).problems,
              ElementsAre(StartsWith("telemetry.otlp_ca_file: needs otlp_endpoint"),
                          StartsWith("telemetry.otlp_headers_file: needs otlp_endpoint")));
}

}  // namespace
}  // namespace reel::front
