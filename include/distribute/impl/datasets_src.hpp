#pragma once
/// All bodies of the annex datasets.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/datasets/impl/archive_reader.ipp>
#include <distribute/datasets/impl/archive_reader_stub.ipp>
#include <distribute/datasets/impl/arrow_column.ipp>
#include <distribute/datasets/impl/arrow_parts.ipp>
#include <distribute/datasets/impl/directory_files.ipp>
#include <distribute/datasets/impl/image_directory.ipp>
#include <distribute/datasets/impl/resized_picture.ipp>
#include <distribute/datasets/impl/sql_dataset.ipp>
#include <distribute/datasets/impl/sql_rows.ipp>
#include <distribute/datasets/impl/sql_rows_stub.ipp>
#include <distribute/datasets/impl/table_file_arrow.ipp>
#include <distribute/datasets/impl/table_file_stub.ipp>
#include <distribute/datasets/impl/tables.ipp>
#include <distribute/datasets/impl/text_directory.ipp>
#include <distribute/datasets/impl/web_dataset.ipp>

#include <distribute/base/detail/macros_back.inc>
