#pragma once
/// The annex data_service.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/data_service/data_service.hpp>
#include <distribute/data_service/servers.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/data_service_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
