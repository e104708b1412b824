// SPDX-License-Identifier: Apache-2.0
// Handles of libnats, each with the one function that frees it.
#pragma once

#include <nats/nats.h>

#include <memory>

namespace reel::front {

template <auto Destroy>
struct NatsDeleter {
  template <typename T>
  void operator()(T* handle) const {
    Destroy(handle);
  }
};

using NatsOptionsPtr = std::unique_ptr<natsOptions, NatsDeleter<natsOptions_Destroy>>;
// Closes the connection too.
using NatsConnectionPtr = std::unique_ptr<natsConnection, NatsDeleter<natsConnection_Destroy>>;
// Of one that may have messages only by LogConnection::Retire.
using NatsSubscriptionPtr =
    std::unique_ptr<natsSubscription, NatsDeleter<natsSubscription_Destroy>>;
using NatsMessagePtr = std::unique_ptr<natsMsg, NatsDeleter<natsMsg_Destroy>>;
using JetStreamPtr = std::unique_ptr<jsCtx, NatsDeleter<jsCtx_Destroy>>;
using PublishAckPtr = std::unique_ptr<jsPubAck, NatsDeleter<jsPubAck_Destroy>>;
using StreamInfoPtr = std::unique_ptr<jsStreamInfo, NatsDeleter<jsStreamInfo_Destroy>>;

}  // namespace reel::front
