// SPDX-License-Identifier: Apache-2.0
#include "server/front/config/object_options.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "reel/config/v1/config.pb.h"

namespace reel::front {
namespace {

constexpr char kEndpoint[] = "fleet.objects.endpoint";
constexpr absl::string_view kPlain = "http://";
constexpr absl::string_view kEncrypted = "https://";

void ReadEndpoint(const std::string& endpoint, bool insecure, OptionReader& reader) {
  const bool plain = absl::StartsWith(endpoint, kPlain);
  if (!plain && !absl::StartsWith(endpoint, kEncrypted)) {
    return reader.Problem(kEndpoint, absl::StrCat("must be https://HOST[:PORT]: '", endpoint, "'"));
  }
  if (absl::StrContains(endpoint, "@")) {
    // Not shown: it has a secret.
    return reader.Problem(kEndpoint,
                          "must have no key and no secret: they belong into credentials_file");
  }
  const std::string place = endpoint.substr(plain ? kPlain.size() : kEncrypted.size());
  if (place.find_first_of("/?#% ") != std::string::npos) {
    return reader.Problem(
        kEndpoint, absl::StrCat("must be a host and a port without a path: '", endpoint, "'"));
  }
  const size_t bracket = place.find(']');
  const bool has_port =
      place.find(':', bracket == std::string::npos ? 0 : bracket) != std::string::npos;
  const Address address =
      reader.ReadAddress(kEndpoint, has_port ? place : absl::StrCat(place, plain ? ":80" : ":443"));
  if (address.host.empty()) return;
  if (address.port == 0) reader.Problem(kEndpoint, "the port must be 1..65535");
  if (plain && !address.loopback() && !insecure) {
    reader.Problem(kEndpoint, absl::StrCat("is reached without encryption (", address.ToString(),
                                           "): https://, or set insecure where the network "
                                           "encrypts"));
  }
}

}  // namespace

ObjectOptions ReadObjects(const config::v1::Objects& objects, OptionReader& reader) {
  ObjectOptions out;
  out.endpoint = objects.endpoint();
  out.bucket = objects.bucket();
  out.region = objects.region();
  out.credentials_file = objects.credentials_file();
  ReadEndpoint(out.endpoint, objects.insecure(), reader);
  out.deliver_backlog = objects.deliver_backlog();
  return out;
}

}  // namespace reel::front
