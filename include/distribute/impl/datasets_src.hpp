#pragma once
/// All bodies of the annex datasets.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/datasets/impl/archive_reader.ipp>
#include <distribute/datasets/impl/archive_reader_stub.ipp>
#include <distribute/datasets/impl/sql_dataset.ipp>
#include <distribute/datasets/impl/sql_rows.ipp>
#include <distribute/datasets/impl/sql_rows_stub.ipp>
#include <distribute/datasets/impl/web_dataset.ipp>

#include <distribute/base/detail/macros_back.inc>
