# For the scripts of attacks, which source it.

# build_for_attacks <build folder> <targets...>: builds them, and sets what their runs need in the
# environment. The folder of a preset that does not exist yet is configured; asan_attacks and
# tsan_attacks are the presets with sanitizers for these scripts.
build_for_attacks() {
  local build=$1
  shift
  [[ -d $build ]] || cmake --preset "${build##*/}"
  cmake --build "$build" --target "$@"
  export OMP_WAIT_POLICY=passive
  case ${build##*/} in
    # A process that is killed has no time to free its memory; what is leaked by others is told.
    asan*) export ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=16 \
        LSAN_OPTIONS=suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0 ;;
    # libgomp is not instrumented. A process that is told to go leaves threads that have ended.
    tsan*) export OMP_NUM_THREADS=1 \
        TSAN_OPTIONS=suppressions=$PWD/tests/support/tsan.supp:allocator_may_return_null=1:report_thread_leaks=0 ;;
  esac
}
