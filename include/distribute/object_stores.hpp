#pragma once
/// The annex object_stores.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/object_stores/detail/registration.hpp>
#include <distribute/object_stores/gcs_file_system.hpp>
#include <distribute/object_stores/s3_file_system.hpp>
#include <distribute/object_stores/webhdfs_file_system.hpp>

#ifndef DISTRIBUTE_SEPARATE_COMPILATION
#include <distribute/impl/object_stores_bodies.hpp>
#endif

#include <distribute/base/detail/macros_back.inc>
