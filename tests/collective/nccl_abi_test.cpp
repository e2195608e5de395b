// What collective/detail/nccl_library.hpp declares by itself is what nccl.h declares.
#include <distribute/collective/detail/nccl_library.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/same_call.hpp>

#include <cstddef>
#include <string>

#if __has_include(<nccl.h>)
#include <nccl.h>

using distribute::collective::NcclConfig;

#define SAME(name)                                                                           \
  static_assert(                                                                             \
      distribute::testing::SameCall<decltype(distribute::collective::NcclTable::nccl##name), \
                                    decltype(&::nccl##name)>::value)
SAME(GetVersion);
SAME(CommAbort);
SAME(CommGetAsyncError);
SAME(GetErrorString);
SAME(GetLastError);
SAME(GroupStart);
SAME(GroupEnd);
SAME(AllReduce);
SAME(Reduce);
SAME(ReduceScatter);
SAME(AllGather);
SAME(Broadcast);
SAME(Send);
SAME(Recv);
SAME(GetUniqueId);
SAME(CommInitRankConfig);
#undef SAME

static_assert(sizeof(distribute::collective::NcclUniqueId) == sizeof(ncclUniqueId));
static_assert(offsetof(NcclConfig, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(NcclConfig, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(NcclConfig, net_name) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(NcclConfig, split_share) == offsetof(ncclConfig_t, splitShare));

TEST_CASE("the enumerators given to NCCL are its own", "[collective][nccl]") {
  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  CHECK(NcclConfig().magic == config.magic);
  CHECK(NcclConfig().max_ctas == NCCL_CONFIG_UNDEF_INT);
  CHECK(distribute::collective::kNcclInProgress == ncclInProgress);
  CHECK((ncclUint8 == 1 && ncclInt32 == 2 && ncclInt64 == 4 && ncclFloat16 == 6));
  CHECK((ncclFloat32 == 7 && ncclBfloat16 == 9));
  CHECK((ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4));
}
#endif

TEST_CASE("a table of NCCL is whole, or the reason is told", "[collective][nccl]") {
  distribute::collective::NcclTable table;
  const std::string problem = distribute::collective::load_nccl(table);
  CHECK(problem.empty() == (table.ncclRecv != nullptr));
}
