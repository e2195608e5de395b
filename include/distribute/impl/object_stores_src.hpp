#pragma once
/// All bodies of the annex object_stores.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/object_stores/impl/aws_credentials.ipp>
#include <distribute/object_stores/impl/aws_metadata.ipp>
#include <distribute/object_stores/impl/aws_metadata_roles.ipp>
#include <distribute/object_stores/impl/aws_signature.ipp>
#include <distribute/object_stores/impl/gcs_client.ipp>
#include <distribute/object_stores/impl/gcs_client_upload.ipp>
#include <distribute/object_stores/impl/gcs_file_system.ipp>
#include <distribute/object_stores/impl/read_ahead.ipp>
#include <distribute/object_stores/impl/registration.ipp>
#include <distribute/object_stores/impl/s3_client.ipp>
#include <distribute/object_stores/impl/s3_client_upload.ipp>
#include <distribute/object_stores/impl/s3_file_system.ipp>
#include <distribute/object_stores/impl/s3_options.ipp>
#include <distribute/object_stores/impl/s3_transport.ipp>
#include <distribute/object_stores/impl/s3_transport_error.ipp>
#include <distribute/object_stores/impl/webhdfs_client.ipp>
#include <distribute/object_stores/impl/webhdfs_file_system.ipp>
#include <distribute/object_stores/impl/xml.ipp>
#include <distribute/object_stores/impl/xml_stub.ipp>

#include <distribute/base/detail/macros_back.inc>
