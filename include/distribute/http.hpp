#pragma once
/// The annex http.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/http/credentials.hpp>
#include <distribute/http/http_client.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/http_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
