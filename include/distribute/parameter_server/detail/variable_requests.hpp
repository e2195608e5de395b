#pragma once
/// Requests for one variable of a server: its values and its rows, read and written.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/applied_updates.hpp>
#include <distribute/parameter_server/detail/link_stream.hpp>
#include <distribute/parameter_server/detail/stored_variable.hpp>

namespace distribute::parameter_server {

/// Handlers, each of which reads the bytes behind the request's head and answers.
/// Throws  InvalidArgumentError when they do not fit the variable, before it has changed.
void assign(LinkStream& stream, StoredVariable& variable);
/// Adds unless the variable has had this update of a function before.
void assign_add(LinkStream& stream, StoredVariable& variable, const UpdateOrigin& origin,
                AppliedUpdates& applied);
void fill(LinkStream& stream, StoredVariable& variable, double number);
void read_rows(LinkStream& stream, StoredVariable& variable, const RowsRequest& request);
void write_rows(LinkStream& stream, StoredVariable& variable, const RowsRequest& request);
void gather(LinkStream& stream, StoredVariable& variable, const RowsRequest& request);

}  // namespace distribute::parameter_server
