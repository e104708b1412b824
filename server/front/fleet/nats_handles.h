// SPDX-License-Identifier: Apache-2.0
// Handles of libnats, each with the one function that frees it.
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
// Of one that may have messages only by LogConnection::Retire.
using NatsSubscriptionPtr =
    std::unique_ptr<natsSubscription, NatsDeleter<natsSubscription_Destroy>>;
using NatsMessagePtr = std::unique_ptr<natsMsg, NatsDeleter<natsMsg_Destroy>>;
using JetStreamPtr = std::unique_ptr<jsCtx, NatsDeleter<jsCtx_Destroy>>;
using PublishAckPtr = std::unique_ptr<jsPubAck, NatsDeleter<jsPubAck_Destroy>>;
using StreamInfoPtr = std::unique_ptr<jsStreamInfo, NatsDeleter<jsStreamInfo_Destroy>>;

// Headers that the broker gives to messages, and an error that it gives.

inline constexpr char kMessageIdHeader[] = "Nats-Msg-Id";
// Of the copies that it sends of what it has stored. It puts its own behind those that a message
// was stored with, and those may say anything.
inline constexpr char kSequenceHeader[] = "Nats-Sequence";

// Of JetStream, and libnats 3.4 has no name for it: what is stored last is not what the writer
// says.
inline constexpr int kWrongLastSequence = 10071;

// Empty: it has none.
inline std::string HeaderOf(natsMsg& message, const char* name) {
  const char* value = nullptr;
  if (natsMsgHeader_Get(&message, name, &value) != NATS_OK || value == nullptr) return "";
  return value;
}

// Of several of a name, the one that was put there last. Empty: it has none.
inline std::string LastHeaderOf(natsMsg& message, const char* name) {
  const char** values = nullptr;
  int count = 0;
  if (natsMsgHeader_Values(&message, name, &values, &count) != NATS_OK) return "";
  std::string last = count > 0 ? values[count - 1] : "";
  std::free(values);  // the list, which is the caller's; its texts are the message's
  return last;
}

}  // namespace reel::front
