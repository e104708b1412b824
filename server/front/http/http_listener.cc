// SPDX-License-Identifier: Apache-2.0
#include "server/front/http/http_listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace reel::front {
namespace {

// A crowd that comes at once is taken in; whoever finds no place here tries again a second later.
constexpr int kBacklog = SOMAXCONN;

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList Resolve(const Address& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &freeaddrinfo};
}

FileDescriptor Listen(const addrinfo& place) {
  FileDescriptor socket(
      ::socket(place.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, place.ai_protocol));
  if (!socket) return {};
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(socket.get(), place.ai_addr, place.ai_addrlen) != 0) return {};
  if (listen(socket.get(), kBacklog) != 0) return {};
  return socket;
}

int PortOf(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  // The port stands at the same place in both.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

absl::StatusOr<FileDescriptor> ListenOn(Address& address) {
  const AddressList places = Resolve(address);
  for (const addrinfo* place = places.get(); place != nullptr; place = place->ai_next) {
    FileDescriptor socket = Listen(*place);
    if (!socket) continue;
    address.port = PortOf(socket.get());
    return socket;
  }
  return absl::UnavailableError(absl::StrCat(
      "The HTTP server cannot listen: the address may be in use or not of this machine: ",
      address.ToString()));
}

}  // namespace reel::front
