#pragma once
/// All bodies of the annex metrics.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/metrics/impl/metrics_reader.ipp>
#include <distribute/metrics/impl/metrics_request.ipp>
#include <distribute/metrics/impl/metrics_server.ipp>
#include <distribute/metrics/impl/prometheus.ipp>
#include <distribute/metrics/impl/registration.ipp>

#include <distribute/base/detail/macros_back.inc>
