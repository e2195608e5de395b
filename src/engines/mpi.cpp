// The engine over MPI: one source for every MPI, built once with the headers of each.
#include "module_tools.hpp"

#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <unistd.h>

#define OMPI_SKIP_MPICXX 1  // the old C++ bindings, which only cost time
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace {

using engines::fail;

#ifdef OPEN_MPI
constexpr const char* kName = "openmpi";
#else
constexpr const char* kName = "mpich";
#endif

/// MPI is asked for MPI_THREAD_SERIALIZED: one thread of the process is in it at a time.
std::mutex& mpi_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// What this process has of MPI. Lives to its end.
struct MpiProcess {
  std::atomic<bool> broken = false;
  bool uses_lost_memory = false;  // a broken group left something under way in memory of its caller
  static MpiProcess& get() {
    static auto* process = new MpiProcess;
    return *process;
  }
};

/// Waits for all ranks as MPI_Finalize does, but asleep.
bool all_ranks_end() {
  MPI_Request request;
  int come = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
  while (MPI_Test(&request, &come, MPI_STATUS_IGNORE) == MPI_SUCCESS && !come)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return come;
}

/// Ends MPI with the process, unless it or a group failed: then others may never come to the end.
/// MPI_Finalize of MPICH 4.0 over UCX and TCP may wait for ever from three hosts on, also in
/// programs that do nothing else: a rank flushes its connections while the others sleep.
void end_mpi(int status, void*) {
  static constexpr std::chrono::seconds kLimit(5);
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized || status != 0 || MpiProcess::get().broken || !all_ranks_end()) return;
  std::thread([status] {
    std::this_thread::sleep_for(kLimit);
    std::fflush(nullptr);
    ::_exit(status);
  }).detach();
  MPI_Finalize();
}

int code_of(int result) {
  int category = MPI_ERR_OTHER;
  MPI_Error_class(result, &category);
  switch (category) {
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_TRUNCATE: return engines::kInternal;
    default: return engines::kUnavailable;
  }
}

int check(int result, distribute_engine_error* error) {
  if (result == MPI_SUCCESS) return 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(result, text, &length);
  return fail(error, code_of(result), std::string("MPI: ") + text);
}

#define RETURN_IF_FAILED(call) \
  if (const int code = check(call, error)) return code

}  // namespace

struct distribute_engine_group {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::vector<MPI_Request> requests;
  std::vector<uint64_t> cookies;
  std::vector<bool> cancels;  // of the requests: receives can be taken back
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;
  engines::Events events;

  void add(MPI_Request request, uint64_t cookie, bool can_cancel) {
    requests.push_back(request);
    cookies.push_back(cookie);
    cancels.push_back(can_cancel);
  }
};

namespace {

const char* library() {
  static const std::string words = [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string all(text, size_t(length));
    for (char& c : all)
      if (c == '\t') c = ' ';
    const std::string line = all.substr(0, all.find_first_of(",\n"));
    const size_t colon = line.find(':');  // "MPICH Version:      4.0.2"
    if (colon == std::string::npos) return line;
    return "MPICH " + line.substr(line.find_first_not_of(' ', colon + 1));
  }();
  return words.c_str();
}

/// MPICH's launcher tells the other ranks of a lost one by SIGUSR1, which would end them before
/// they can say what they know.
void outlive_signal() {
#ifndef OPEN_MPI
  struct sigaction now {};
  if (sigaction(SIGUSR1, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
    std::signal(SIGUSR1, SIG_IGN);
#endif
}

int start_mpi(distribute_engine_error* error) {
  int initialized = 0, finalized = 0, level = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized)
    return fail(error, engines::kFailedPrecondition, "the program has called MPI_Finalize already");
  if (!initialized) {
    RETURN_IF_FAILED(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level));
    ::on_exit(end_mpi, nullptr);
    outlive_signal();
  }
  RETURN_IF_FAILED(MPI_Query_thread(&level));
  if (level < MPI_THREAD_SERIALIZED)
    return fail(error, engines::kFailedPrecondition,
                "MPI was initialized for a single thread; call MPI_Init_thread with "
                "MPI_THREAD_SERIALIZED");
  return 0;
}

int open_group(distribute_engine_group** out, distribute_engine_error* error) {
  const std::lock_guard lock(mpi_mutex());
  if (MpiProcess::get().uses_lost_memory)
    return fail(
        error, engines::kFailedPrecondition,
        "an earlier group broke in the middle of a collective of MPI, which cannot be taken "
        "back; start the process again");
  if (const int code = start_mpi(error)) return code;
  MPI_Comm comm;
  RETURN_IF_FAILED(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  RETURN_IF_FAILED(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  auto* group = new distribute_engine_group;
  group->comm = comm;
  MPI_Comm_rank(comm, &group->rank);
  MPI_Comm_size(comm, &group->size);
  *out = group;
  return 0;
}

int address(distribute_engine_group*, void*, size_t* bytes, distribute_engine_error*) {
  *bytes = 0;
  return 0;
}

int connect(distribute_engine_group*, int, int, const void* const*, const size_t*,
            distribute_engine_error*) {
  return 0;
}

int send(distribute_engine_group* group, int to, uint32_t tag, const void* data, size_t bytes,
         uint64_t cookie, distribute_engine_error* error) {
  const std::lock_guard lock(mpi_mutex());
  MPI_Request request;
  RETURN_IF_FAILED(MPI_Isend(data, int(bytes), MPI_BYTE, to, int(tag), group->comm, &request));
  group->add(request, cookie, false);
  return 0;
}

int receive(distribute_engine_group* group, int from, uint32_t tag, void* data, size_t bytes,
            uint64_t cookie, distribute_engine_error* error) {
  const std::lock_guard lock(mpi_mutex());
  MPI_Request request;
  RETURN_IF_FAILED(MPI_Irecv(data, int(bytes), MPI_BYTE, from, int(tag), group->comm, &request));
  group->add(request, cookie, true);
  return 0;
}

MPI_Datatype datatype_of(int dtype) {
  switch (dtype) {
    case DISTRIBUTE_ENGINE_FLOAT32: return MPI_FLOAT;
    case DISTRIBUTE_ENGINE_FLOAT64: return MPI_DOUBLE;
    case DISTRIBUTE_ENGINE_INT32: return MPI_INT32_T;
    case DISTRIBUTE_ENGINE_INT64: return MPI_INT64_T;
    case DISTRIBUTE_ENGINE_UINT8: return MPI_UINT8_T;
    case DISTRIBUTE_ENGINE_INT8: return MPI_INT8_T;
    default: return MPI_DATATYPE_NULL;
  }
}

MPI_Op op_of(int op) {
  switch (op) {
    case DISTRIBUTE_ENGINE_SUM: return MPI_SUM;
    case DISTRIBUTE_ENGINE_MIN: return MPI_MIN;
    case DISTRIBUTE_ENGINE_MAX: return MPI_MAX;
    case DISTRIBUTE_ENGINE_PRODUCT: return MPI_PROD;
    default: return MPI_OP_NULL;
  }
}

int all_reduce(distribute_engine_group* group, const void* input, void* output, size_t count,
               int dtype, int op, uint64_t cookie, distribute_engine_error* error) {
  const std::lock_guard lock(mpi_mutex());
  const MPI_Datatype type = datatype_of(dtype);
  const MPI_Op reduction = op_of(op);
  if (type == MPI_DATATYPE_NULL || reduction == MPI_OP_NULL || count > size_t(INT_MAX))
    return fail(error, engines::kUnimplemented, "MPI has no such all-reduce");
  MPI_Request request;
  RETURN_IF_FAILED(MPI_Iallreduce(input == output ? MPI_IN_PLACE : input, output, int(count), type,
                                  reduction, group->comm, &request));
  group->add(request, cookie, false);
  return 0;
}

/// The events of requests that ended, each with its own error.
void take_ended(distribute_engine_group* group, int count, bool with_errors) {
  for (int i = 0; i < count; ++i) {
    const size_t at = size_t(group->indices[size_t(i)]);
    const int result = with_errors ? group->statuses[size_t(i)].MPI_ERROR : MPI_SUCCESS;
    group->events.add(group->cookies[at], result == MPI_SUCCESS ? 0 : code_of(result));
    group->cookies[at] = DISTRIBUTE_ENGINE_PEER_LOST;  // to be removed
  }
  size_t kept = 0;
  for (size_t i = 0; i < group->requests.size(); ++i) {
    if (group->cookies[i] == DISTRIBUTE_ENGINE_PEER_LOST) continue;
    group->requests[kept] = group->requests[i];
    group->cookies[kept] = group->cookies[i];
    group->cancels[kept++] = group->cancels[i];
  }
  group->requests.resize(kept);
  group->cookies.resize(kept);
  group->cancels.resize(kept);
}

int progress(distribute_engine_group* group, distribute_engine_event* events, int most, int*,
             distribute_engine_error* error) {
  if (group->events.empty() && !group->requests.empty()) {
    const std::lock_guard lock(mpi_mutex());
    int count = 0;
    const size_t all = group->requests.size();
    group->indices.resize(all);
    group->statuses.resize(all);
    const int result = MPI_Testsome(int(all), group->requests.data(), &count, group->indices.data(),
                                    group->statuses.data());
    int category = MPI_SUCCESS;
    if (result != MPI_SUCCESS) MPI_Error_class(result, &category);
    if (category != MPI_SUCCESS && category != MPI_ERR_IN_STATUS) return -check(result, error);
    if (count > 0) take_ended(group, count, category == MPI_ERR_IN_STATUS);
  }
  return group->events.take(events, most);
}

int wait_handle(distribute_engine_group*) { return -2; }

void cancel_and_delete(distribute_engine_group* group) {
  for (size_t i = 0; i < group->requests.size(); ++i) {
    MPI_Cancel(&group->requests[i]);
    MPI_Request_free(&group->requests[i]);
  }
  delete group;
}

/// MPICH asks its launcher in the middle of these calls, and waits for ever where the launcher's
/// host is the one that is lost.
void cancel_within_limit(distribute_engine_group* group) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> ended = done->get_future();
  std::thread([group, done] {
    cancel_and_delete(group);
    done->set_value();
  }).detach();
  if (ended.wait_for(std::chrono::seconds(1)) != std::future_status::ready)
    MpiProcess::get().uses_lost_memory = true;  // nothing else may call MPI beside that thread
}

/// The communicator stays: to free it is a collective, which could wait for a rank that is gone.
void close_group(distribute_engine_group* group, int broken) {
  const std::lock_guard lock(mpi_mutex());
  if (broken) MpiProcess::get().broken = true;
  int finalized = 0;
  MPI_Finalized(&finalized);
  // MPI must not be called again while it uses memory that is gone: any call may go on with it.
  for (const bool can_cancel : group->cancels)
    if (!can_cancel) MpiProcess::get().uses_lost_memory = true;
  if (finalized || MpiProcess::get().uses_lost_memory) return;
  if (broken)
    cancel_within_limit(group);
  else
    cancel_and_delete(group);
}

const distribute_engine_module kModule = {
    DISTRIBUTE_ENGINE_ABI,
    sizeof(distribute_engine_module),
    DISTRIBUTE_ENGINE_OWN_RANKS | DISTRIBUTE_ENGINE_REDUCES,
    0,
    kName,
    library,
    open_group,
    address,
    connect,
    [](distribute_engine_group* group) { return group->rank; },
    [](distribute_engine_group* group) { return group->size; },
    send,
    receive,
    all_reduce,
    progress,
    wait_handle,
    close_group,
};

}  // namespace

const distribute_engine_module* distribute_engine() { return &kModule; }
