#pragma once
/// The structures that kernels take as arguments, for host and kernel text alike.

#include <distribute/device/detail/kernel_text.hpp>

#include <cstdint>

namespace distribute::kernels {

// clang-format off
DISTRIBUTE_KERNEL_TEXT(
    kArguments,

    // Axes of a strided walk, outermost first; steps in elements.
    struct Axes {
      int32_t count;
      int64_t size[8];
      int64_t from[8];
      int64_t to[8];
    };

    struct MapArguments {  // arguments of a kernel
      const void* a;
      const void* b;
      void* out;
      int64_t count;
      float row[4];  // the row's own numbers
    };

    // An operand of one number on the host comes as its bits instead of a pointer.
    struct BroadcastArguments {  // arguments of a kernel
      const void* a;
      const void* b;
      void* out;
      int64_t count;
      Axes axes;  // from: steps of a, to: steps of b
      int64_t a_bits;
      int64_t b_bits;
    };

    struct CopyArguments {  // arguments of a kernel
      const void* from;
      void* to;
      int64_t count;
      Axes axes;
    };

    struct SelectArguments {  // arguments of a kernel
      const bool* condition;
      const void* a;
      const void* b;
      void* out;
      int64_t count;
    };

    struct CombineArguments {  // arguments of a kernel
      const void* a;
      const void* b;
      void* out;
      int64_t count;
      float factor;
    };

    // [outer, count, inner] -> [outer, chunks, inner].
    struct ReduceArguments {  // arguments of a kernel
      const void* x;
      void* out;
      int64_t outer;
      int64_t count;
      int64_t inner;
      int64_t chunks;
      int64_t chunk_rows;
    };

    struct LineArguments {  // arguments of a kernel
      const void* x;
      void* out;
      int64_t lines;
      int64_t count;
      int64_t step;
      int32_t mode;
    };

    struct CrossEntropyArguments {  // arguments of a kernel
      const void* x;
      const int64_t* numbers;
      const float* weights;
      const float* dy;
      float* statistics;  // of each row: the largest number, 1 / sum of the powers below it
      void* out;
      int64_t rows;
      int64_t classes;
      float smoothing;
    };

    struct LayerNormArguments {  // arguments of a kernel
      const void* x;
      const void* dy;
      const float* gamma;
      const float* beta;
      float* statistics;
      void* out;
      int64_t rows;
      int64_t width;
      int64_t piece;
      float epsilon;
    };

    struct GatherArguments {  // arguments of a kernel
      const void* from;
      const int64_t* index;
      void* to;
      int64_t outer;
      int64_t size;
      int64_t inner;
      int64_t count;
      float on_value;
      float off_value;
    };

    struct RandomArguments {  // arguments of a kernel
      const void* x;
      void* out;
      int64_t count;
      uint64_t seed;
      uint64_t counter;
      const uint64_t* current;  // the counter of a recorded step; else null
      float a;
      float b;
      int64_t low;
      uint64_t width;
      int64_t first;
    };

    struct PoolArguments {  // arguments of a kernel
      const void* x;
      const void* dy;
      void* out;
      int64_t batch;
      int64_t height;
      int64_t width;
      int64_t channels;
      int64_t out_height;
      int64_t out_width;
      int32_t kernel_y;
      int32_t kernel_x;
      int32_t stride_y;
      int32_t stride_x;
      int32_t pad_y;
      int32_t pad_x;
      int32_t gate;
    };

    struct MatmulArguments {  // arguments of a kernel
      const void* a;
      const void* b;
      const void* bias;
      void* c;
      int64_t batch;
      int64_t rows;
      int64_t columns;
      int64_t inner;
      int32_t transpose_a;
      int32_t transpose_b;
      int32_t relu;
    };

    // A slice of rows for each y of the grid; sums [slices, columns].
    struct ColumnSumsArguments {  // arguments of a kernel
      const void* x;
      void* sums;
      int64_t rows;
      int64_t columns;
      int64_t rows_per_slice;
      int32_t across;  // threads with columns of their own: 8, 16 or 32 of a block
    };

    struct ConvArguments {  // arguments of a kernel
      const void* x;
      const void* w;
      const void* bias;
      void* y;
      int64_t batch;
      int64_t height;
      int64_t width;
      int64_t in_channels;
      int64_t out_height;
      int64_t out_width;
      int64_t out_channels;
      int32_t kernel_y;
      int32_t kernel_x;
      int32_t stride_y;
      int32_t stride_x;
      int32_t dilation_y;
      int32_t dilation_x;
      int32_t pad_y;
      int32_t pad_x;
      int32_t groups;
      int32_t relu;
    };

    // What every optimizer does to an element beside its own formula.
    struct UpdateSteps {  // w: weight, g: gradient
      template <typename Number>
      static Number shrunk(Number w, float decay) {
        return w - w * decay;
      }
      static float with_decay(float g, float w, float decay) { return g + decay * w; }
      static float averaged(float mean, float w, float momentum) {
        return momentum * mean + (1.0f - momentum) * w;
      }
    };

    // What an optimizer's step may change from one step to the next.
    struct UpdateNumbers {  // numbers of one step of an optimizer
      float row[8];
      float decay;
      float average_momentum;
    };

    // One launch updates up to 48 variables, with the numbers at `current` where there are some.
    struct UpdateArguments {  // arguments of a kernel
      float* weights[48];
      float* slots[48][3];
      float* average[48];
      const float* gradient[48];
      int64_t end[48];  // blocks of variables before and with this one, of 1024 elements
      int64_t count[48];
      bool decays[48];
      float coupled_decay;
      int32_t variables;
      UpdateNumbers numbers;
      const UpdateNumbers* current;
    };

    struct NumbersArguments {
      uint64_t* to;
      uint64_t numbers[128];
      int32_t count;
    };)
// clang-format on

}  // namespace distribute::kernels
