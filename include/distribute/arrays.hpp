#pragma once
/// The annex arrays.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/arrays/array_view.hpp>
#include <distribute/arrays/eigen.hpp>
#include <distribute/arrays/eigen_tensor.hpp>
#include <distribute/arrays/mdspan.hpp>
#include <distribute/arrays/npy.hpp>
#include <distribute/arrays/opencv.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/arrays_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
