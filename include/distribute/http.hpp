#pragma once
/// The annex http.
/// Written by tools/check_umbrella.py.

#include <distribute/http/google_auth_provider.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/http/http_message.hpp>
#include <distribute/http/http_retry.hpp>
#include <distribute/http/url.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/http_bodies.hpp>
#endif
