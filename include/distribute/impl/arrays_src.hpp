#pragma once
/// All bodies of the annex arrays.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/arrays/impl/array_view.ipp>
#include <distribute/arrays/impl/npy.ipp>
#include <distribute/arrays/impl/npy_header.ipp>
#include <distribute/arrays/impl/opencv.ipp>

#include <distribute/base/detail/macros_back.inc>
