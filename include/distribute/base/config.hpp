#pragma once
/// Build-mode macros: header-only by default, declarations only with DISTRIBUTE_COMPILED.

#if defined(DISTRIBUTE_COMPILED)
#define DISTRIBUTE_INLINE
#else
#define DISTRIBUTE_HEADER_ONLY 1
#define DISTRIBUTE_INLINE inline
#endif

#define DISTRIBUTE_VERSION_MAJOR 0
#define DISTRIBUTE_VERSION_MINOR 1
#define DISTRIBUTE_VERSION_PATCH 0
