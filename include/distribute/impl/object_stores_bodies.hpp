#pragma once
/// The bodies that object_stores.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/http_bodies.hpp>
#include <distribute/impl/object_stores_src.hpp>

#include <distribute/io/impl/crc32c.ipp>
#include <distribute/io/impl/gzip.ipp>
#include <distribute/io/impl/stream.ipp>
#include <distribute/io/impl/wire.ipp>

#include <distribute/base/detail/macros_back.inc>
