# Makes CUDA a language of the project where it can: sets BIC_HAS_CUDA.
#
# nvcc is looked for, in this order: in BIC_CUDA_ROOT, which may hold PyPI's wheels (ci/cuda puts them
# into build/cuda); on the PATH; in /usr/local/cuda. torch 2.11 is for CUDA 13, so nvcc must be of 13.
set(BIC_CUDA "AUTO" CACHE STRING
    "Build the kernels for CUDA (needs nvcc 13; minutes more): ON, OFF, or AUTO: where nvcc is found")
set(BIC_CUDA_ROOT "${PROJECT_SOURCE_DIR}/build/cuda/nvidia/cu13" CACHE PATH
    "Folder of a CUDA toolkit (holds bin/nvcc)")
set(BIC_HAS_CUDA OFF)

# bic_cuda_problem(<out> <nvcc>)
#
# Sets <out> to what hinders, or to "".
function(bic_cuda_problem out nvcc)
  if(NOT nvcc)
    set(${out} "no nvcc found; set BIC_CUDA_ROOT or run ci/cuda" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE text ERROR_QUIET)
  if(text MATCHES "release 13\\.")
    set(${out} "" PARENT_SCOPE)
  else()
    set(${out} "${nvcc} is not of CUDA 13, for which torch 2.11 is built" PARENT_SCOPE)
  endif()
endfunction()

if(BIC_CUDA STREQUAL "AUTO" AND (BIC_SANITIZE OR NOT BIC_LIBTORCH))
  return()  # nobody would load them
endif()
if(NOT BIC_CUDA)
  return()
endif()
find_program(BIC_NVCC nvcc HINTS "${BIC_CUDA_ROOT}/bin" PATHS /usr/local/cuda/bin)
bic_cuda_problem(bic_problem "${BIC_NVCC}")
if(bic_problem)
  if(NOT BIC_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "BIC_CUDA=${BIC_CUDA}: ${bic_problem}")
  endif()
  message(STATUS "No kernels for CUDA: ${bic_problem}")
  return()
endif()

set(CMAKE_CUDA_COMPILER "${BIC_NVCC}")
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90a-real)
endif()
if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER)
  set(CMAKE_CUDA_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
endif()
enable_language(CUDA)
# CMake 3.25 does not know that nvcc 13 takes C++20.
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
if(BIC_CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${BIC_CCACHE}")
endif()
set(BIC_HAS_CUDA ON)

# The headers of the toolkit for the C++ compiler; those of 16-bit types include some of cccl/.
set(BIC_CUDA_INCLUDE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
list(TRANSFORM CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES APPEND "/cccl" OUTPUT_VARIABLE bic_cccl)
list(APPEND BIC_CUDA_INCLUDE ${bic_cccl})

# bic_import_cuda(<target> <type> <file>)
#
# An imported library of the toolkit. The wheels lack the names without a version, which linkers and
# FindCUDAToolkit look for.
function(bic_import_cuda target type file)
  get_filename_component(root "${BIC_NVCC}" REALPATH)
  get_filename_component(root "${root}/../.." ABSOLUTE)
  file(GLOB found "${root}/lib64/${file}" "${root}/lib/${file}")
  if(NOT found)
    message(FATAL_ERROR "the CUDA toolkit ${root} has no ${file} in lib64/ or lib/")
  endif()
  list(GET found 0 path)
  add_library(${target} ${type} IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${path}")
endfunction()

bic_import_cuda(bic_cudart SHARED libcudart.so.13)
bic_import_cuda(bic_cublaslt SHARED libcublasLt.so.13)
bic_import_cuda(bic_cudart_static STATIC libcudart_static.a)
set_target_properties(bic_cudart_static PROPERTIES
  INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};rt")
