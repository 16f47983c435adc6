# SPDX-License-Identifier: Apache-2.0
# One static library per folder of src/ (design: folders are modules). main.cpp is never part of one.

function(rlx_module name)
  cmake_parse_arguments(ARG "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp
       ${PROJECT_SOURCE_DIR}/src/${name}/*/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(sources)
    add_library(rlx_${name} STATIC ${sources})
    target_include_directories(rlx_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(rlx_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(rlx_${name} INTERFACE)
    target_include_directories(rlx_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(rlx_${name} INTERFACE ${ARG_PUBLIC} ${ARG_PRIVATE})
  endif()
endfunction()

# The CPU backend: src/backends/cpu/*.cpp once, and every source under kernels/ once per ISA
# level with RLX_ISA naming the level's namespace. Kernel sources may use no inline code of the
# standard library: the linker would keep one copy of it, perhaps the one with AVX-512.
function(rlx_cpu_backend)
  file(GLOB common CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/cpu/*.cpp)
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/cpu/kernels/*.cpp
       ${PROJECT_SOURCE_DIR}/src/backends/cpu/kernels/*/*.cpp)
  add_library(rlx_backends_cpu STATIC ${common})
  target_include_directories(rlx_backends_cpu PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(rlx_backends_cpu PUBLIC rlx_device rlx_quant)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(isa_v2 -march=x86-64-v2)
    set(isa_v3 -march=x86-64-v3)
    set(isa_v4 -march=x86-64-v4)
    set(isa_v4_vnni -march=x86-64-v4 -mavx512vnni -mavx512bf16)
    set(levels v2 v3 v4 v4_vnni)
  else()
    set(isa_generic "")
    set(levels generic)
  endif()
  foreach(level ${levels})
    if(kernels)
      add_library(rlx_cpu_${level} OBJECT ${kernels})
      target_include_directories(rlx_cpu_${level} PRIVATE ${PROJECT_SOURCE_DIR}/src)
      target_compile_options(rlx_cpu_${level} PRIVATE ${isa_${level}} $<$<CONFIG:Release>:-O3> -ffp-contract=fast
                             -fno-math-errno
                             # GCC 12 warns inside its own intrinsics headers.
                             "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>")
      target_compile_definitions(rlx_cpu_${level} PRIVATE RLX_ISA=isa_${level})
      target_sources(rlx_backends_cpu PRIVATE $<TARGET_OBJECTS:rlx_cpu_${level}>)
    endif()
    target_compile_definitions(rlx_backends_cpu PRIVATE RLX_HAVE_ISA_${level}=1)
  endforeach()
endfunction()
