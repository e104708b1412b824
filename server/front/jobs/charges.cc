// SPDX-License-Identifier: Apache-2.0
#include "server/front/jobs/charges.h"

namespace reel::front {

void Charges::Add(const std::string& tenant, absl::Duration device_time) {
  if (device_time <= absl::ZeroDuration()) return;
  const absl::Duration now = clock_.Monotonic();
  ledger_.AddDeviceSeconds(tenant, absl::ToDoubleSeconds(device_time), now);
  records_.KeepUse(tenant, ledger_.Keep(tenant, now, clock_.Wall()));
}

}  // namespace reel::front
