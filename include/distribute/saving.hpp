#pragma once
/// The annex saving.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/saving/detail/registration.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/saving/weight_names.hpp>
#include <distribute/saving/zip_file.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/saving_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
