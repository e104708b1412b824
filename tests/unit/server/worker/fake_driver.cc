// SPDX-License-Identifier: Apache-2.0
// A driver of two devices: the second takes twice as much energy as the first. Each reading finds
// 1.5 J more.
#include <cstdio>
#include <cstring>

namespace {

int readings = 0;
int handles[2] = {1, 2};

}  // namespace

extern "C" {

int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
int cuDeviceGet(int* device, int number) {
  *device = number;
  return number < 2 ? 0 : 101;
}
int cuDeviceGetPCIBusId(char* text, int size, int device) {
  std::snprintf(text, static_cast<size_t>(size), "0000:0%d:00.0", device + 1);
  return 0;
}
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** handle) {
  if (std::strlen(bus_id) != 12 || bus_id[6] < '1' || bus_id[6] > '2') return 6;
  *handle = &handles[bus_id[6] - '1'];
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* handle, unsigned long long* millijoules) {
  *millijoules = 1500ull * static_cast<unsigned>(++readings) *
                 static_cast<unsigned>(*static_cast<int*>(handle));
  return 0;
}

}  // extern "C"
