#pragma once
/// Products of matrices by oneDNN, and bfloat16 convolutions that it computes faster as products;
/// only cpu_onednn*.ipp may include this.

#include <distribute/device/detail/cpu_onednn.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

#include <string>

#include <dnnl.hpp>  // only cpu_onednn* may include it

namespace distribute::onednn_internal {

/// Whether the CPU has these instructions, the library's own loops use vectors of that size, and
/// neither ONEDNN_MAX_CPU_ISA nor a program has told oneDNN to do without them.
bool has_instructions(dnnl::cpu_isa needed);

/// Returns oneDNN's kernel for products of bfloat16 or float16; empty if the CPU has no
/// instructions for them or oneDNN no kernel, so that float32 is faster. It is determined once a
/// process, with a line in the log.
const std::string& half_product_kernel(DType dtype);
/// Returns "bfloat16 by oneDNN's brg:avx512_core_amx_bf16, float16 widened to float32".
std::string half_products_text();

/// Whether the product is the gradient of a dense kernel for a small batch: its result is far
/// larger than its operands.
bool is_small_batch_gradient(const MatmulShape& s);
/// Computes a product of floating operands by oneDNN's matmul, as Backend::matmul describes it.
Array matrix_product(const MatmulShape& s, const Array& a, const Array& b, const Array* bias,
                     Epilogue epilogue);
/// Computes the product as cpu_multiply_block().
void multiply_block(const CpuBlockProduct& s, const void* a, const void* b, void* c);

/// Whether a bfloat16 convolution with 1x1 kernels over row-major images is computed as a product
/// of matrices, which is 2 to 10 times as fast backwards (AMX, oneDNN 2.6).
bool is_product(const Conv2DShape& s, const Array& a, const Array& b);
/// Computes dx [pixels, in_channels] = dy times the transposed filters.
Array product_backprop_input(const Conv2DShape& s, const Array& dy, const Array& w);

/// Whether the gradient of filters is computed as a product as well, with the image's windows
/// written out: that is faster for many channels and for the few of a photograph, as far as they
/// fit in a cache or two.
bool writes_windows_out(const Conv2DShape& s, const Array& x, const Array& dy);
/// Computes dw [window, out_channels] = the transposed windows of x times dy, in float32; 1x1
/// windows of stride 1 are x itself.
Array product_backprop_filter(const Conv2DShape& s, const Array& x, const Array& dy);

/// Returns the layout of a 1x1 filter's gradient with which oneDNN's forward kernel reads the
/// updated filters without conversion, [out / 8][in][8]; null: row-major.
LayoutPtr direct_gradient_layout(const Conv2DShape& s);

}  // namespace distribute::onednn_internal
