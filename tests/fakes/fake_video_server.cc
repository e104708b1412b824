// SPDX-License-Identifier: Apache-2.0
// The fake server as a program, for clients in other languages:
//   fake_video_server PORT_FILE [PAUSE_MS]
// writes "grpc=HOST:PORT" to PORT_FILE and serves until its stdin ends.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fakes/fake_video_service.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: fake_video_server PORT_FILE [PAUSE_MS]\n", stderr);
    return 2;
  }
  reel::fakes::FakeVideoService service;
  if (argc > 2) service.SetPause(std::atoi(argv[2]));
  // Renamed into place, so that nobody reads half a line.
  const std::string path = argv[1];
  std::ofstream(path + ".new") << "grpc=" << service.address() << "\n";
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0) return 1;
  while (std::getchar() != EOF) {
  }
  return 0;
}
