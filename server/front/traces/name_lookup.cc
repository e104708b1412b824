// SPDX-License-Identifier: Apache-2.0
#include "server/front/traces/name_lookup.h"

#include <algorithm>
#include <string>

namespace reel::front {
namespace {

// Between two looks at the time left, which may be brought forward.
constexpr absl::Duration kPiece = absl::Milliseconds(50);

}  // namespace

// What the resolver's own thread reads and writes.
struct NameLookup::Request {
  explicit Request(const Address& address)
      : host(address.host), port(std::to_string(address.port)) {
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    lookup.ar_name = host.c_str();
    lookup.ar_service = port.c_str();
    lookup.ar_request = &hints;
  }
  const std::string host, port;
  addrinfo hints{};
  gaicb lookup{};
};

NameLookup::NameLookup(const Address& address) : address_(address) {}

NameLookup::~NameLookup() {
  if (request_ == nullptr || gai_cancel(&request_->lookup) != EAI_NOTCANCELED) return;
  // The resolver's thread goes on writing to it, and nobody can tell it to stop.
  static_cast<void>(request_.release());
}

AddressList NameLookup::Find(absl::FunctionRef<absl::Duration()> left) {
  if (request_ == nullptr) {
    auto request = std::make_unique<Request>(address_);
    gaicb* list[] = {&request->lookup};
    if (getaddrinfo_a(GAI_NOWAIT, list, 1, nullptr) != 0) return {nullptr, &freeaddrinfo};
    request_ = std::move(request);
  }
  int result = EAI_INPROGRESS;
  const gaicb* const list[] = {&request_->lookup};
  while ((result = gai_error(&request_->lookup)) == EAI_INPROGRESS) {
    const absl::Duration wait = std::min(left(), kPiece);
    if (wait <= absl::ZeroDuration()) return {nullptr, &freeaddrinfo};
    const timespec limit = absl::ToTimespec(wait);
    gai_suspend(list, 1, &limit);
  }
  AddressList found(result == 0 ? request_->lookup.ar_result : nullptr, &freeaddrinfo);
  request_.reset();
  return found;
}

}  // namespace reel::front
