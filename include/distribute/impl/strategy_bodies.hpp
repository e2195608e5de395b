#pragma once
/// The bodies that strategy.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/cluster_shared.hpp>

#include <distribute/tensor/impl/dlpack.ipp>

#include <distribute/autograd/impl/custom_gradient.ipp>

#include <distribute/ops/impl/map_fn.ipp>
#include <distribute/ops/impl/recompute_grad.ipp>
#include <distribute/ops/impl/resize_spans.ipp>

#include <distribute/nn/impl/flatten.ipp>
#include <distribute/nn/impl/padding.ipp>
#include <distribute/nn/impl/reshaping.ipp>
#include <distribute/nn/impl/resizing.ipp>

#include <distribute/data/impl/bad_pictures.ipp>
#include <distribute/data/impl/cifar.ipp>
#include <distribute/data/impl/decode_image.ipp>
#include <distribute/data/impl/example.ipp>
#include <distribute/data/impl/group_by_reducer.ipp>
#include <distribute/data/impl/group_by_window.ipp>
#include <distribute/data/impl/idx.ipp>
#include <distribute/data/impl/image_adjust.ipp>
#include <distribute/data/impl/image_crop.ipp>
#include <distribute/data/impl/image_folder.ipp>
#include <distribute/data/impl/image_resize.ipp>
#include <distribute/data/impl/jpeg.ipp>
#include <distribute/data/impl/jpeg_stub.ipp>
#include <distribute/data/impl/mnist.ipp>
#include <distribute/data/impl/padded_batching.ipp>
#include <distribute/data/impl/pass_number.ipp>
#include <distribute/data/impl/picture.ipp>
#include <distribute/data/impl/pictures.ipp>
#include <distribute/data/impl/png.ipp>
#include <distribute/data/impl/png_stub.ipp>
#include <distribute/data/impl/ragged_batch.ipp>
#include <distribute/data/impl/rejection_resample.ipp>
#include <distribute/data/impl/sampling.ipp>
#include <distribute/data/impl/sequence_example.ipp>
#include <distribute/data/impl/timeseries.ipp>
#include <distribute/data/impl/window.ipp>

#include <distribute/strategy/impl/central_storage_strategy.ipp>
#include <distribute/strategy/impl/make_strategy.ipp>
#include <distribute/strategy/impl/mirrored_strategy.ipp>
#include <distribute/strategy/impl/multi_worker_mirrored_strategy.ipp>
#include <distribute/strategy/impl/nccl_replicas.ipp>
#include <distribute/strategy/impl/nccl_replicas_stub.ipp>

#if DISTRIBUTE_HAS_CUDA
#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_feed.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>
#endif

#include <distribute/base/detail/macros_back.inc>
