// SPDX-License-Identifier: Apache-2.0
// Owning handles of libnats objects.
#pragma once

#include <nats/nats.h>

#include <cstdlib>
#include <memory>
#include <string>

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
// A subscription that may receive messages is freed only by LogConnection::Retire.
using NatsSubscriptionPtr =
    std::unique_ptr<natsSubscription, NatsDeleter<natsSubscription_Destroy>>;
using NatsMessagePtr = std::unique_ptr<natsMsg, NatsDeleter<natsMsg_Destroy>>;
using JetStreamPtr = std::unique_ptr<jsCtx, NatsDeleter<jsCtx_Destroy>>;
using PublishAckPtr = std::unique_ptr<jsPubAck, NatsDeleter<jsPubAck_Destroy>>;
using StreamInfoPtr = std::unique_ptr<jsStreamInfo, NatsDeleter<jsStreamInfo_Destroy>>;

// Headers that the broker adds to messages, and one of its error codes.

inline constexpr char kMessageIdHeader[] = "Nats-Msg-Id";
// In copies of stored messages. The broker appends its headers to those that the message was stored
// with, which may hold anything.
inline constexpr char kSequenceHeader[] = "Nats-Sequence";

// JetStream's code for a wrong expected last sequence; libnats 3.4 has no name for it.
inline constexpr int kWrongLastSequence = 10071;

// Empty if there is none.
inline std::string HeaderOf(natsMsg& message, const char* name) {
  const char* value = nullptr;
  if (natsMsgHeader_Get(&message, name, &value) != NATS_OK || value == nullptr) return "";
  return value;
}

// The last header of that name; empty if there is none.
inline std::string LastHeaderOf(natsMsg& message, const char* name) {
  const char** values = nullptr;
  int count = 0;
  if (natsMsgHeader_Values(&message, name, &values, &count) != NATS_OK) return "";
  std::string last = count > 0 ? values[count - 1] : "";
  std::free(values);  // frees the list; its texts belong to the message
  return last;
}

}  // namespace reel::front
