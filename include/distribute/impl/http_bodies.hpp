#pragma once
/// The bodies that http.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/http_src.hpp>

#include <distribute/base/impl/descriptors.ipp>
#include <distribute/base/impl/error.ipp>
#include <distribute/base/impl/file_size_signal.ipp>
#include <distribute/base/impl/json.ipp>
#include <distribute/base/impl/ordered_json.ipp>
#include <distribute/base/impl/pipe_signal.ipp>
#include <distribute/base/impl/status.ipp>

#include <distribute/io/impl/file_system.ipp>
#include <distribute/io/impl/local_file_system.ipp>
#include <distribute/io/impl/path.ipp>
#include <distribute/io/impl/ram_file_system.ipp>

#include <distribute/base/detail/macros_back.inc>
