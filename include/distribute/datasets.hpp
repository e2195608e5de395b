#pragma once
/// The annex datasets.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/datasets/tables.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/datasets_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
