#pragma once
/// The annex saved_model.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/saved_model/detail/registration.hpp>
#include <distribute/saved_model/loaded_model.hpp>
#include <distribute/saved_model/saved_model.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/saved_model_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
