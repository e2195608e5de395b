#pragma once
/// An NCCL whose ranks are communicators of this process, for fake GPUs. It sums in the order
/// of the other transports. Calls are under way until all ranks have made them, as with
/// `blocking = 0`.

#include <distribute/collective/detail/nccl_library.hpp>
#include <distribute/collective/detail/sum_order.hpp>
#include <distribute/device/dtype.hpp>

#include "fake_cuda.hpp"
#include "fake_order.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace distribute::testing {

class FakeNccl {
 public:
  enum class Kind { AllReduce, Reduce, ReduceScatter, AllGather, Broadcast };

  static collective::NcclTable table() {
    hub() = std::make_unique<Hub>();
    collective::NcclTable t;
    t.ncclGetVersion = [](int* version) {
      *version = 22809;
      return 0;
    };
    t.ncclGetUniqueId = [](collective::NcclUniqueId* id) {
      const std::lock_guard lock(hub()->mutex);
      std::memset(id->bytes, 0, sizeof id->bytes);
      const int number = ++hub()->ids;
      std::memcpy(id->bytes, &number, sizeof number);
      return 0;
    };
    t.ncclCommInitRankConfig = init;
    t.ncclCommAbort = abort;
    t.ncclCommGetAsyncError = [](CudaHandle handle, int* state) {
      const std::lock_guard lock(hub()->mutex);
      Rank& rank = *static_cast<Rank*>(handle);
      const bool met = rank.group->ranks.size() == rank.group->size;
      *state = rank.error ? rank.error : rank.pending || !met ? collective::kNcclInProgress : 0;
      return 0;
    };
    t.ncclGetErrorString = [](int code) { return code == 6 ? "remote process exited" : "failed"; };
    t.ncclGetLastError = [](CudaHandle) { return "the fake's words"; };
    t.ncclGroupStart = [] {
      ++depth();
      return 0;
    };
    t.ncclGroupEnd = group_end;
    t.ncclAllReduce = [](const void* in, void* out, size_t count, int type, int op, CudaHandle c,
                         CudaHandle stream) {
      return add({Kind::AllReduce, in, out, count, type, op, 0, stream}, c);
    };
    t.ncclReduce = [](const void* in, void* out, size_t count, int type, int op, int root,
                      CudaHandle c, CudaHandle stream) {
      return add({Kind::Reduce, in, out, count, type, op, root, stream}, c);
    };
    t.ncclReduceScatter = [](const void* in, void* out, size_t count, int type, int op,
                             CudaHandle c, CudaHandle stream) {
      return add({Kind::ReduceScatter, in, out, count, type, op, 0, stream}, c);
    };
    t.ncclAllGather = [](const void* in, void* out, size_t count, int type, CudaHandle c,
                         CudaHandle stream) {
      return add({Kind::AllGather, in, out, count, type, 0, 0, stream}, c);
    };
    t.ncclBroadcast = [](const void* in, void* out, size_t count, int type, int root, CudaHandle c,
                         CudaHandle stream) {
      return add({Kind::Broadcast, in, out, count, type, 0, root, stream}, c);
    };
    t.ncclSend = [](const void* data, size_t count, int type, int to, CudaHandle c,
                    CudaHandle stream) {
      return message(c, static_cast<Rank*>(c)->rank, to, data, nullptr, count, type, stream);
    };
    t.ncclRecv = [](void* data, size_t count, int type, int from, CudaHandle c, CudaHandle stream) {
      return message(c, from, static_cast<Rank*>(c)->rank, nullptr, data, count, type, stream);
    };
    return t;
  }

  static int calls() { return hub()->calls; }
  static int aborted() { return hub()->aborted; }
  /// Aborts of communicators whose work a graph still held: NCCL would wait for ever.
  static int stuck() { return hub()->stuck; }
  /// From now on every rank's state is this error.
  static void break_all(int error) {
    const std::lock_guard lock(hub()->mutex);
    for (auto& [id, group] : hub()->groups)
      for (auto& [number, rank] : group->ranks) rank->error = error;
  }

 private:
  struct Call {
    Kind kind;
    const void* in;
    void* out;
    size_t count;
    int type, op, root = 0;
    CudaHandle stream;
    std::shared_ptr<bool> done = nullptr;  // of a launch of the graph that holds it
  };
  /// A call that a graph holds.
  struct Recorded {
    Call call;
    bool is_under_way = false;
  };
  struct Group;
  struct Rank {
    Group* group;
    int rank, pending = 0, error = 0;
    bool aborted = false;
    std::deque<Call> calls = {};
    std::vector<std::weak_ptr<Recorded>> recorded = {};
  };
  struct Message {
    Rank* owner;
    void* data;
    size_t bytes;
    CudaHandle stream;
  };
  struct Group {
    size_t size;
    std::map<int, std::unique_ptr<Rank>> ranks;
    std::map<std::pair<int, int>, std::deque<Message>> sends, receives;
  };
  struct Hub {
    std::mutex mutex;  // guards everything
    std::map<std::string, std::unique_ptr<Group>> groups;
    int ids = 0, calls = 0, aborted = 0, stuck = 0;
  };
  static std::unique_ptr<Hub>& hub() {
    static std::unique_ptr<Hub> hub;
    return hub;
  }
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
  static std::vector<std::pair<Rank*, Call>>& waiting() {
    thread_local std::vector<std::pair<Rank*, Call>> calls;
    return calls;
  }

  static int init(CudaHandle* out, int size, collective::NcclUniqueId id, int rank,
                  collective::NcclConfig* config) {
    if (config->magic != 0xcafebeef || config->blocking != 0) return 4;
    const std::lock_guard lock(hub()->mutex);
    auto& group = hub()->groups[std::string(id.bytes, sizeof id.bytes)];
    if (!group) group = std::make_unique<Group>(Group{size_t(size), {}, {}, {}});
    auto& made = group->ranks[rank];
    if (made) return 5;
    made = std::make_unique<Rank>(Rank{group.get(), rank, {}});
    *out = made.get();
    return collective::kNcclInProgress;
  }

  static int add(Call call, CudaHandle handle) {
    if (depth() == 0) return 5;  // the library never calls outside a group
    const auto& rank = *static_cast<Rank*>(handle);
    const size_t bytes = call.count * bytes_of(call.type), all = bytes * rank.group->size;
    const bool writes = call.kind != Kind::Reduce || rank.rank == call.root;
    const bool reads = call.kind != Kind::Broadcast || rank.rank == call.root;
    const FakeRange ranges[] = {
        {reads ? call.in : nullptr, call.kind == Kind::ReduceScatter ? all : bytes, false},
        {writes ? call.out : nullptr, call.kind == Kind::AllGather ? all : bytes, true}};
    if (!watch_work(call.stream, "NCCL", ranges)) return 1;
    waiting().emplace_back(static_cast<Rank*>(handle), call);
    return 0;
  }

  /// As NCCL does, waits until no graph holds work of the rank; not for ever.
  static int abort(CudaHandle handle) {
    Rank& rank = *static_cast<Rank*>(handle);
    const auto is_held = [&] {
      const std::lock_guard lock(hub()->mutex);
      rank.aborted = true;
      return std::any_of(rank.recorded.begin(), rank.recorded.end(),
                         [](const auto& one) { return !one.expired(); });
    };
    for (int i = 0; i < 1000000 && is_held(); ++i) std::this_thread::yield();
    const bool held = is_held();
    const std::lock_guard lock(hub()->mutex);
    ++hub()->aborted;
    hub()->stuck += held;
    return held ? 5 : 0;
  }

  /// Every launch makes the call, and waits for the other ranks.
  static bool record(Rank& rank, const Call& call) {
    const auto recorded = std::make_shared<Recorded>(Recorded{call});
    {
      const std::lock_guard lock(hub()->mutex);
      rank.recorded.push_back(recorded);
    }
    return FakeCuda::on_capture(call.stream, {call.in, call.out}, [&rank, recorded] {
      const std::unique_lock lock(hub()->mutex, std::try_to_lock);
      if (!lock) return false;  // who has it may wait for this thread's locks
      if (!std::exchange(recorded->is_under_way, true)) {
        recorded->call.done = std::make_shared<bool>(false);
        ++hub()->calls;
        ++rank.pending;
        rank.calls.push_back(recorded->call);
        run(*rank.group);
      }
      const bool done = *recorded->call.done || rank.aborted;
      if (done) recorded->is_under_way = false;
      return done;
    });
  }

  static int group_end() {
    if (--depth() > 0) return 0;
    auto calls = std::exchange(waiting(), {});
    bool accepted = true;
    std::erase_if(calls, [&](const auto& one) {
      if (!FakeCuda::is_capturing(one.second.stream)) return false;
      accepted = record(*one.first, one.second) && accepted;
      return true;
    });
    if (!accepted) return 1;
    const std::lock_guard lock(hub()->mutex);
    for (auto& [rank, call] : calls) {
      ++hub()->calls;
      ++rank->pending;
      rank->calls.push_back(call);
      run(*rank->group);
    }
    return collective::kNcclInProgress;
  }

  static size_t bytes_of(int type) {
    if (type == 4) return 8;
    return type == 7 || type == 2 ? 4 : type == 1 ? 1 : 2;
  }

  static int message(CudaHandle handle, int from, int to, const void* in, void* out, size_t count,
                     int type, CudaHandle stream) {
    if (depth() == 0) return 5;
    const FakeRange range[] = {{in ? in : out, count * bytes_of(type), !in}};
    if (!watch_work(stream, "NCCL", range)) return 1;
    const std::lock_guard lock(hub()->mutex);
    Rank& rank = *static_cast<Rank*>(handle);
    Group& group = *rank.group;
    ++rank.pending;
    auto &sends = group.sends[{from, to}], &receives = group.receives[{from, to}];
    (in ? sends : receives)
        .push_back({&rank, in ? const_cast<void*>(in) : out, count * bytes_of(type), stream});
    while (!sends.empty() && !receives.empty()) {
      const CudaHandle met[] = {sends.front().stream, receives.front().stream};
      watch_meeting(met);
      FakeCuda::with_memory(
          [&] { std::memmove(receives.front().data, sends.front().data, receives.front().bytes); });
      --sends.front().owner->pending;
      --receives.front().owner->pending;
      sends.pop_front();
      receives.pop_front();
    }
    return 0;
  }

  /// Runs the calls that all ranks have made.
  static void run(Group& group) {
    while (group.ranks.size() == group.size) {
      for (auto& [number, rank] : group.ranks)
        if (rank->calls.empty()) return;
      std::vector<Call> calls;
      std::vector<CudaHandle> streams;
      for (auto& [number, rank] : group.ranks) {
        if (rank->calls.front().done)
          *rank->calls.front().done = true;
        else
          streams.push_back(rank->calls.front().stream);
        calls.push_back(rank->calls.front());
        rank->calls.pop_front();
        --rank->pending;
      }
      watch_meeting(streams);
      FakeCuda::with_memory([&] { compute(calls); });
    }
  }

  template <typename T>
  static void reduce(const std::vector<Call>& calls, size_t count, std::vector<T>& sums) {
    using Sum = std::conditional_t<std::is_integral_v<T>, T, float>;
    for (size_t i = 0; i < count; ++i) {
      Sum sum = collective::combine_in_order(
          0, int(calls.size()),
          [&](int rank) { return Sum(static_cast<const T*>(calls[size_t(rank)].in)[i]); },
          [&](Sum left, Sum right) -> Sum {
            switch (calls[0].op) {
              case 1: return Sum(left * right);
              case 2: return std::max(left, right);
              case 3: return std::min(left, right);
              default: return Sum(left + right);
            }
          });
      if (calls[0].op == 4) {
        if constexpr (std::is_integral_v<T>)
          sum = Sum(int64_t(sum) / int64_t(calls.size()));
        else
          sum *= 1.0f / float(calls.size());
      }
      sums[i] = T(sum);
    }
  }

  template <typename T>
  static void compute_as(const std::vector<Call>& calls) {
    const Call& first = calls[0];
    const size_t count = first.count, ranks = calls.size();
    if (first.kind == Kind::AllGather || first.kind == Kind::Broadcast) {
      std::vector<T> whole;
      for (size_t r = 0; r < ranks; ++r)
        if (first.kind == Kind::AllGather || int(r) == first.root) {
          const T* from = static_cast<const T*>(calls[r].in);
          whole.insert(whole.end(), from, from + count);
        }
      for (const Call& call : calls) std::memcpy(call.out, whole.data(), whole.size() * sizeof(T));
      return;
    }
    const bool scatter = first.kind == Kind::ReduceScatter;
    std::vector<T> sums(scatter ? count * ranks : count);
    reduce(calls, sums.size(), sums);
    for (size_t r = 0; r < ranks; ++r)
      if (first.kind != Kind::Reduce || int(r) == first.root)
        std::memcpy(calls[r].out, sums.data() + (scatter ? r * count : 0), count * sizeof(T));
  }

  static void compute(const std::vector<Call>& calls) {
    switch (calls[0].type) {
      case 7: return compute_as<float>(calls);
      case 9: return compute_as<bfloat16>(calls);
      case 6: return compute_as<float16>(calls);
      case 2: return compute_as<int32_t>(calls);
      case 4: return compute_as<int64_t>(calls);
      default: return compute_as<uint8_t>(calls);
    }
  }
};

}  // namespace distribute::testing
