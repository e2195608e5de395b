// What device/detail/cuda_cupti.hpp declares by itself is what CUPTI's headers declare.
#include <distribute/device/detail/cuda_activity.hpp>

#include "../support/catch.hpp"
#include "../support/same_call.hpp"

#if __has_include(<cupti.h>)
#include <cupti.h>

// A translation unit of its own: cuda.h renames functions by macros.
namespace distribute::testing {

using namespace distribute::device_internal;

#define SAME(name) static_assert(SameCall<decltype(CuptiTable::name), decltype(&::name)>::value)
SAME(cuptiGetVersion);
SAME(cuptiGetResultString);
SAME(cuptiGetTimestamp);
SAME(cuptiActivityEnable);
SAME(cuptiActivityFlushAll);
#undef SAME

#define SAME(ours, member, theirs, other)                            \
  static_assert(offsetof(ours, member) == offsetof(theirs, other) && \
                sizeof(ours::member) == sizeof(theirs::other))
SAME(CuptiKernel, kind, CUpti_ActivityKernel10, kind);
SAME(CuptiKernel, start, CUpti_ActivityKernel10, start);
SAME(CuptiKernel, end, CUpti_ActivityKernel10, end);
SAME(CuptiKernel, device, CUpti_ActivityKernel10, deviceId);
SAME(CuptiKernel, stream, CUpti_ActivityKernel10, streamId);
SAME(CuptiKernel, name, CUpti_ActivityKernel10, name);
SAME(CuptiMemory, kind, CUpti_ActivityMemcpy6, kind);
SAME(CuptiMemory, copy_kind, CUpti_ActivityMemcpy6, copyKind);
SAME(CuptiMemory, bytes, CUpti_ActivityMemcpy6, bytes);
SAME(CuptiMemory, start, CUpti_ActivityMemcpy6, start);
SAME(CuptiMemory, end, CUpti_ActivityMemcpy6, end);
SAME(CuptiMemory, device, CUpti_ActivityMemcpy6, deviceId);
SAME(CuptiMemory, stream, CUpti_ActivityMemcpy6, streamId);
SAME(CuptiMemory, bytes, CUpti_ActivityMemset4, bytes);
SAME(CuptiMemory, start, CUpti_ActivityMemset4, start);
SAME(CuptiMemory, end, CUpti_ActivityMemset4, end);
SAME(CuptiMemory, device, CUpti_ActivityMemset4, deviceId);
SAME(CuptiMemory, stream, CUpti_ActivityMemset4, streamId);
SAME(CuptiMemory, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(CuptiMemory, start, CUpti_ActivityMemcpyPtoP4, start);
SAME(CuptiMemory, end, CUpti_ActivityMemcpyPtoP4, end);
SAME(CuptiMemory, device, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME(CuptiMemory, stream, CUpti_ActivityMemcpyPtoP4, streamId);
#undef SAME

static_assert(kCuptiMemcpy == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(kCuptiMemset == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(kCuptiKernel == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(kCuptiPeerCopy == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(kCuptiToGpu == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
static_assert(kCuptiFromGpu == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(kCuptiOnGpu == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
static_assert(kCuptiBetweenGpus == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
static_assert(kCuptiFlushAll == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
static_assert(sizeof(CUpti_Activity) % alignof(CuptiRecord) == 0);

// Their parameters are pointers to structures of CUPTI's own.
static_assert(sizeof(CuptiBufferWanted) == sizeof(CUpti_BuffersCallbackRequestFunc));
static_assert(std::is_same_v<CuptiBufferWanted, CUpti_BuffersCallbackRequestFunc>);

}  // namespace distribute::testing
#endif

TEST_CASE("a table of CUPTI is whole, or the reason is told", "[device][cuda_activity]") {
  distribute::device_internal::CuptiTable table;
  const std::string problem = distribute::device_internal::load_cupti(table, 0);
  CHECK(problem.empty() == (table.cuptiActivityFlushAll != nullptr));
}
