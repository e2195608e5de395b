#pragma once
/// All bodies of the annex http.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

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

#include <distribute/base/detail/macros_back.inc>
