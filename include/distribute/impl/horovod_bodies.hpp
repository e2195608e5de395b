#pragma once
/// The bodies that horovod.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/coordinator_shared.hpp>
#include <distribute/impl/horovod_src.hpp>

#include <distribute/base/detail/macros_back.inc>
