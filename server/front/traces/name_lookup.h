// SPDX-License-Identifier: Apache-2.0
// Looks up the addresses of a host without waiting for longer than the caller can: the system's
// resolver may take half a minute where it reaches no name server.
#pragma once

#include <netdb.h>

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "server/front/config/address.h"

namespace reel::front {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Confined to one thread. One that is destroyed leaves a look-up that still runs to itself.
class NameLookup {
 public:
  explicit NameLookup(const Address& address);

  // Null when there is none, or none was found before `left` came to nothing; a look-up that still
  // runs is waited for by the next call.
  AddressList Find(absl::FunctionRef<absl::Duration()> left);

 private:
  struct Answer;
  bool Begin();

  const std::string host_, port_;
  std::shared_ptr<Answer> answer_;  // null: nothing is asked
};

}  // namespace reel::front
