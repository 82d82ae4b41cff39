# Cross compiling with zig, for scripts/prebuild.mjs, which writes the wrappers and passes:
#   SPTY_ZIG_BIN      folder with one-word commands c++, ar, ranlib for the target
#   SPTY_ZIG_SYSTEM   Linux or Darwin
#   SPTY_ZIG_ARCH     x86_64 or aarch64
# CMake configures small projects of its own with this file, and forgets the variables unless told to pass them on.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SPTY_ZIG_BIN SPTY_ZIG_SYSTEM SPTY_ZIG_ARCH)

set(CMAKE_SYSTEM_NAME "${SPTY_ZIG_SYSTEM}")
set(CMAKE_SYSTEM_PROCESSOR "${SPTY_ZIG_ARCH}")
# Said aloud: a build for the machine that builds is a cross build too, with another C library.
set(CMAKE_CROSSCOMPILING TRUE)
set(CMAKE_CXX_COMPILER "${SPTY_ZIG_BIN}/c++")
set(CMAKE_AR "${SPTY_ZIG_BIN}/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${SPTY_ZIG_BIN}/ranlib" CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER_AR "${CMAKE_AR}" CACHE FILEPATH "")
set(CMAKE_CXX_COMPILER_RANLIB "${CMAKE_RANLIB}" CACHE FILEPATH "")

if(SPTY_ZIG_SYSTEM STREQUAL "Darwin")
  # zig brings the SDK and knows both from its target.
  set(CMAKE_OSX_SYSROOT "")
  set(CMAKE_OSX_DEPLOYMENT_TARGET "")
  set(CMAKE_OSX_ARCHITECTURES "")
endif()

# Nothing of this machine's belongs into the binary.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
