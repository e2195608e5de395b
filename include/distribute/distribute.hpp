#pragma once
/// Everything: includes every public header of the library (written by tools/check_umbrella.py).

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/status.hpp>

#include <distribute/device/backend.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/cpu_eigen.hpp>
#include <distribute/device/cpu_onednn.hpp>
#include <distribute/device/device.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/device/layout.hpp>

#include <distribute/io/atomic_file.hpp>
#include <distribute/io/crc32c.hpp>
#include <distribute/io/data_type.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/gzip.hpp>
#include <distribute/io/local_file_system.hpp>
#include <distribute/io/path.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/io/stream.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/io/wire.hpp>

#include <distribute/tensor/shape.hpp>
#include <distribute/tensor/tensor.hpp>

#include <distribute/autograd/accumulate.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/variable.hpp>

#include <distribute/replica/reduce_op.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/replica/single_replica.hpp>
#include <distribute/replica/values.hpp>

#include <distribute/checkpoint/bundle_dtype.hpp>
#include <distribute/checkpoint/bundle_table.hpp>
#include <distribute/checkpoint/tensor_slice.hpp>
