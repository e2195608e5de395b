// A libcuda.so.1 for machines without a GPU: enough of CUDA's driver that cuDNN finishes plans whose
// kernels it compiles. Loading compiled code succeeds and is counted; there is no device; every
// other function is there and says that it is a stub.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

enum { kSuccess = 0, kStub = 34, kNoDevice = 100 };

int shim_loaded_codes;

static void* next_handle(void) {
  static char handles[1 << 16];
  static int used;
  return &handles[used++ % sizeof handles];
}

int cuInit(unsigned flags) { return (void)flags, kSuccess; }
int cuDriverGetVersion(int* version) { return *version = 13000, kSuccess; }
int cuDeviceGetCount(int* count) { return *count = 0, kNoDevice; }
int cuGetErrorString(int error, const char** text) {
  return (void)error, *text = "a stub of the driver", kSuccess;
}
int cuGetErrorName(int error, const char** text) {
  return (void)error, *text = "CUDA_ERROR_STUB_LIBRARY", kSuccess;
}

int cuLibraryLoadData(void** library, const void* code, void* a, void* b, unsigned c, void* d,
                      void* e, unsigned f) {
  (void)code, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  ++shim_loaded_codes;
  return *library = next_handle(), kSuccess;
}
int cuModuleLoadData(void** module, const void* code) {
  (void)code;
  ++shim_loaded_codes;
  return *module = next_handle(), kSuccess;
}
int cuLibraryUnload(void* library) { return (void)library, kSuccess; }
int cuModuleUnload(void* module) { return (void)module, kSuccess; }
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return (void)library, (void)name, *kernel = next_handle(), kSuccess;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  return (void)module, (void)name, *function = next_handle(), kSuccess;
}
int cuLibraryGetKernelCount(unsigned* count, void* library) {
  return (void)library, *count = 1, kSuccess;
}
int cuLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  (void)library;
  for (unsigned i = 0; i < count; ++i) kernels[i] = next_handle();
  return kSuccess;
}
int cuKernelGetFunction(void** function, void* kernel) { return *function = kernel, kSuccess; }

// Threads of a block, registers, and dynamic shared memory as a GPU of Hopper's kind has them.
static int attribute(int* value, int which) {
  *value = which == 0 ? 1024 : which == 4 ? 64 : which == 8 ? 232448 : 0;
  return kSuccess;
}
int cuFuncGetAttribute(int* value, int which, void* function) {
  return (void)function, attribute(value, which);
}
int cuKernelGetAttribute(int* value, int which, void* kernel, int device) {
  return (void)kernel, (void)device, attribute(value, which);
}
int cuFuncSetAttribute(void* function, int which, int value) {
  return (void)function, (void)which, (void)value, kSuccess;
}
int cuKernelSetAttribute(int which, int value, void* kernel, int device) {
  return (void)which, (void)value, (void)kernel, (void)device, kSuccess;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                size_t shared) {
  return (void)function, (void)threads, (void)shared, *blocks = 1, kSuccess;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                         size_t shared, unsigned flags) {
  (void)flags;
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}

static int stub(void) { return kStub; }

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags,
                        int* status) {
  Dl_info info;
  (void)version, (void)flags;
  void* self = NULL;
  if (dladdr((void*)stub, &info)) self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = self ? dlsym(self, name) : NULL;
  if (!*function) *function = (void*)stub;
  if (status) *status = 0;
  return kSuccess;
}
int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
