#pragma once
/// The annex metrics.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/metrics/detail/registration.hpp>
#include <distribute/metrics/metrics_server.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/metrics_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
