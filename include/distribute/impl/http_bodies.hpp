#pragma once
/// The bodies that http.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/impl/error.ipp>
#include <distribute/base/impl/json.ipp>
#include <distribute/base/impl/pipe_signal.ipp>
#include <distribute/base/impl/status.ipp>

#include <distribute/io/impl/path.ipp>

#include <distribute/http/impl/aws_profile.ipp>
#include <distribute/http/impl/digest.ipp>
#include <distribute/http/impl/digest_rsa.ipp>
#include <distribute/http/impl/digest_rsa_stub.ipp>
#include <distribute/http/impl/digest_stub.ipp>
#include <distribute/http/impl/google_auth_provider.ipp>
#include <distribute/http/impl/http_client.ipp>
#include <distribute/http/impl/http_client_stub.ipp>
#include <distribute/http/impl/http_message.ipp>
#include <distribute/http/impl/http_retry.ipp>
#include <distribute/http/impl/url.ipp>
