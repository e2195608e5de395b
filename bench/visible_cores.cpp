// A preloaded library that shows a program as many cores as VISIBLE_CORES says, as a container with
// a quota sees those of its node. neighbours.py --visible compiles it.
#include <sched.h>
#include <unistd.h>
#include <cstdlib>

#include <dlfcn.h>

namespace {

int visible() {
  const char* text = std::getenv("VISIBLE_CORES");
  return text ? std::atoi(text) : 1;
}

}  // namespace

extern "C" int sched_getaffinity(pid_t, size_t size, cpu_set_t* set) {
  CPU_ZERO_S(size, set);
  for (int core = 0; core < visible(); ++core) CPU_SET_S(size_t(core), size, set);
  return 0;
}

extern "C" int pthread_getaffinity_np(pthread_t, size_t size, cpu_set_t* set) {
  return sched_getaffinity(0, size, set);
}

extern "C" long sysconf(int name) noexcept {
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return visible();
  static const auto real = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
  return real(name);
}

extern "C" int get_nprocs() noexcept { return visible(); }
