// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/client/command/command_fixture.h"

namespace reel::client {
namespace {

using DoctorTest = CommandTest;

TEST_F(DoctorTest, FindsNothingWrongWithAServerThatIsWell) {
  EXPECT_EQ(Run({"doctor"}), 0);
  EXPECT_EQ(out_.find("problem"), std::string::npos);
  EXPECT_NE(out_.find("ok       models: testcard ready\n"), std::string::npos);
  EXPECT_NE(out_.find("ok       fleet log: REEL\n"), std::string::npos);
  EXPECT_EQ(Run({"doctor", "--json"}), 0);
  EXPECT_EQ(out_.find("{\"checks\":[{\"name\":\"connection\",\"ok\":true"), 0u);
}

TEST_F(DoctorTest, SaysWhatIsWrong) {
  server_.Shutdown();
  EXPECT_EQ(Run({"doctor"}), 4);
  EXPECT_NE(out_.find("problem  connection"), std::string::npos);
  EXPECT_NE(out_.find("--server"), std::string::npos);
}

TEST_F(DoctorTest, SaysWhatItsFleetLacks) {
  server_.BreakFleetStore();
  EXPECT_EQ(Run({"doctor"}), 4);
  EXPECT_NE(out_.find("problem  fleet store: cannot put an object\n         Make the bucket.\n"),
            std::string::npos)
      << out_;
}

TEST_F(DoctorTest, WithoutTheRendererItSaysSo) {
  environment_.folder = folder_;
  EXPECT_EQ(Run({"doctor", "--model", "/nowhere"}), 7);
  EXPECT_NE(out_.find("problem  model: The program reel-render is not installed"),
            std::string::npos)
      << out_;
}

// A renderer that says what it is told to.
class RendererTest : public CommandTest {
 protected:
  int Doctor(const std::string& script, std::vector<std::string> flags = {}) {
    const std::string program = folder_ + "/reel-render";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    environment_.folder = folder_;
    flags.insert(flags.begin(), {"doctor", "--model", "/m"});
    server_.Shutdown();  // not needed
    return Run(flags);
  }
};

TEST_F(RendererTest, GoodWeightsAreDescribed) {
  EXPECT_EQ(
      Doctor(R"(echo '{"ok":true,"family":"LTX 9","weightBytes":3800000000,"dtype":"bf16"}')"), 0);
  EXPECT_EQ(out_, "ok       model: LTX 9, 3.8 GB as bf16\n");
  EXPECT_EQ(Doctor(R"(echo '{"ok":true,"family":"LTX 9","parts":{"vae":"/files/v.gguf"}}')"), 0);
  EXPECT_EQ(out_, "ok       model: LTX 9, vae from v.gguf\n");
  EXPECT_EQ(Doctor(R"(echo '{"ok":true,"family":"LTX 9","adapters":[{"name":"l","scale":0.5},
                             {"name":"k","scale":1,"idleLayers":3}]}')"),
            0);
  EXPECT_EQ(
      out_,
      "ok       model: LTX 9, with l times 0.5, with k times 1, which changes nothing in 3 of "
      "its layers\n");
}

TEST_F(RendererTest, AProblemComesWithWhatToDo) {
  const std::string script =
      R"(echo '{"ok":false,"problem":"no vae","advice":"Fetch it."}'; exit 7)";
  EXPECT_EQ(Doctor(script), 3);
  EXPECT_EQ(out_, "problem  model: no vae\n         Fetch it.\n");
  EXPECT_EQ(Doctor(script, {"--json"}), 3);
  EXPECT_EQ(out_, R"({"checks":[{"name":"model","ok":false,"detail":"no vae","hint":"Fetch it."}]})"
                  "\n");
}

TEST_F(RendererTest, APlanForADeviceIsToldPartByPart) {
  const std::string script =
      R"(echo '{"ok":true,"family":"LTX 9","weightBytes":38100000000,"dtype":"bf16","fit":{)"
      R"("usable":22200000000,"deviceBytes":19240000000,"hostBytes":20300000000,)"
      R"("defaultVideo":2900000000,"left":60000000,"residentBlocks":25,"streamedBlocks":23,)"
      R"("stepCopies":10800000000,"textCopies":9300000000,"parts":[)"
      R"({"name":"text encoder","device":0,"host":9500000000},)"
      R"({"name":"transformer","device":15300000000,"host":10800000000},)"
      R"({"name":"autoencoders","device":2500000000,"host":0}]}}')";
  EXPECT_EQ(Doctor(script, {"--device-memory", "24GB"}), 0);
  EXPECT_EQ(
      out_,
      "ok       model: LTX 9, 38 GB as bf16\n"
      "ok       memory: 24GB: of 22.2 GB that can be used weights take 19.2 GB, the default "
      "video 2.9 GB\n"
      "         text encoder: 9.5 GB on the host\n"
      "         transformer: 15.3 GB on the device, 10.8 GB on the host\n"
      "         autoencoders: 2.5 GB on the device\n"
      "         a new text copies 9.3 GB to the device: 372 ms at 25 GB/s\n"
      "         each step copies 10.8 GB to the device: 432 ms at 25 GB/s, beside its work; 23 "
      "of 48 blocks\n");
  EXPECT_EQ(Doctor(script, {"--device-memory", "24GB", "--json"}), 0);
  EXPECT_NE(out_.find(R"("lines":["text encoder: 9.5 GB on the host","transformer: 15.3 GB on)"),
            std::string::npos)
      << out_;
}

TEST_F(RendererTest, ADeviceForSmallVideosAloneIsToldSo) {
  const std::string script =
      R"(echo '{"ok":true,"fit":{"usable":5000000000,"deviceBytes":4000000000,)"
      R"("defaultVideo":2000000000,"left":-1000000000}}')";
  EXPECT_EQ(Doctor(script, {"--device-memory", "6GB"}), 0);
  EXPECT_NE(out_.find("the default video 2.0 GB: only smaller videos fit\n"), std::string::npos)
      << out_;
}

TEST_F(RendererTest, FlagsAreHandedOn) {
  const std::string script = R"(echo "{\"ok\":false,\"problem\":\"$*\"}")";
  EXPECT_EQ(Doctor(script, {"--dtype", "fp16", "--text-folder", "/t", "--manifest", "/s"}), 3);
  EXPECT_NE(out_.find("--check --json --model=/m --dtype=fp16 --text-folder=/t --manifest=/s"),
            std::string::npos)
      << out_;
  EXPECT_EQ(Doctor(script, {"--part", "vae=/v", "--part", "transformer=/t.gguf"}), 3);
  EXPECT_NE(out_.find("--model=/m --part=vae=/v --part=transformer=/t.gguf"), std::string::npos)
      << out_;
  EXPECT_EQ(Doctor(script, {"--adapter", "/l:0.5", "--adapter", "/k"}), 3);
  EXPECT_NE(out_.find("--model=/m --adapter=/l:0.5 --adapter=/k"), std::string::npos) << out_;
  // A GPU's type: the one of this machine's CPU would be another.
  EXPECT_EQ(Doctor(script, {"--device-memory", "24GB"}), 3);
  EXPECT_NE(out_.find("--model=/m --device-memory=24GB --dtype=bf16"), std::string::npos) << out_;
  EXPECT_EQ(Doctor(script, {"--device-memory", "24GB", "--dtype", "fp16"}), 3);
  EXPECT_NE(out_.find("--model=/m --dtype=fp16 --device-memory=24GB"), std::string::npos) << out_;
  EXPECT_EQ(Doctor(script, {"--device-memory", "much"}), 2);
  EXPECT_EQ(Run({"doctor", "--dtype", "fp16"}), 2);
  EXPECT_EQ(Run({"doctor", "--device-memory", "24GB"}), 2);
}

TEST_F(RendererTest, ARendererThatCannotStartIsQuoted) {
  EXPECT_EQ(Doctor("echo 'libtorch_cpu.so: not found' >&2; exit 127"), 7);
  EXPECT_NE(out_.find("status 127 and: libtorch_cpu.so: not found"), std::string::npos) << out_;
}

}  // namespace
}  // namespace reel::client
