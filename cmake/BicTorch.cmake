# Finds torch 2.11 and makes the one target bic::torch out of it.
#
# Looked for, in this order: BIC_TORCH_DIR; build/torch/torch under the source folder; the package
# that `python3 -c "import torch"` finds. find_package(Torch) is not used: it insists on a full CUDA
# toolkit, while a CPU worker needs two libraries and the runtime beside them.

set(BIC_TORCH_VERSION "2.11")

# bic_torch_version(<out> <dir>)
#
# Sets <out> to the version of the torch package at <dir>, or to "" when there is none.
function(bic_torch_version out dir)
  set(${out} "" PARENT_SCOPE)
  set(version_file "${dir}/version.py")
  if(NOT EXISTS "${version_file}" OR NOT EXISTS "${dir}/lib/libtorch_cpu.so")
    return()
  endif()
  file(STRINGS "${version_file}" line REGEX "^__version__")
  if(line MATCHES "'([^']+)'")
    set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()

# bic_find_torch(<out>)
#
# Sets <out> to the folder of a torch package of the supported version; fails with one line else.
function(bic_find_torch out)
  set(candidates "${BIC_TORCH_DIR}")
  if(NOT BIC_TORCH_DIR)
    set(candidates "${PROJECT_SOURCE_DIR}/build/torch/torch")
    execute_process(
      COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').origin)"
      OUTPUT_VARIABLE origin OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      get_filename_component(installed "${origin}" DIRECTORY)
      list(APPEND candidates "${installed}")
    endif()
  endif()
  foreach(dir IN LISTS candidates)
    bic_torch_version(version "${dir}")
    if(version MATCHES "^2\\.11\\.")
      set(${out} "${dir}" PARENT_SCOPE)
      message(STATUS "torch ${version}: ${dir}")
      return()
    endif()
    list(APPEND seen "${dir} (${version})")
  endforeach()
  message(FATAL_ERROR "no torch ${BIC_TORCH_VERSION}.x in: ${seen}; pip install --no-deps --target "
                      "build/torch -r ci/torch.txt, or set BIC_TORCH_DIR, or BIC_LIBTORCH=OFF")
endfunction()

# bic_import_torch(<target> <file> <dir>)
#
# An imported shared library <target> for <dir>/lib/<file>, whichever suffix a wheel gave it.
function(bic_import_torch target pattern dir)
  file(GLOB found "${dir}/lib/${pattern}" "${dir}/../torch.libs/${pattern}")
  if(NOT found)
    message(FATAL_ERROR "torch at ${dir} has no ${pattern} in lib/; install it again")
  endif()
  list(GET found 0 path)
  add_library(${target} SHARED IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${path}")
endfunction()

# A worker with a libstdc++ of its own beside torch's dies where the two meet: streams, locales.
include(CheckCXXSourceRuns)
check_cxx_source_runs("
  #include <link.h>
  #include <cstring>
  #include <string>
  static int look(dl_phdr_info* object, std::size_t, void* found) {
    if (std::strstr(object->dlpi_name, \"libstdc++\")) *static_cast<bool*>(found) = true;
    return 0;
  }
  int main(int, char** words) {
    bool found = std::string(words[0]).empty();
    dl_iterate_phdr(look, &found);
    return !found;
  }" BIC_SHARED_STDCXX)
if(NOT BIC_SHARED_STDCXX)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} links libstdc++ statically, which no worker of torch "
                      "survives; set CXX to another one (CXX=/usr/bin/g++)")
endif()

bic_find_torch(BIC_TORCH)
bic_import_torch(bic_torch_cpu "libtorch_cpu.so" "${BIC_TORCH}")
bic_import_torch(bic_torch_c10 "libc10.so" "${BIC_TORCH}")
# torch's own OpenMP runtime: linking the compiler's would load a second one into the process.
bic_import_torch(bic_torch_gomp "libgomp*.so*" "${BIC_TORCH}")

# -fopenmp at compile time only: at::parallel_for is a header and is serial without it.
add_library(bic_torch INTERFACE)
add_library(bic::torch ALIAS bic_torch)
target_include_directories(bic_torch SYSTEM INTERFACE
                           "${BIC_TORCH}/include" "${BIC_TORCH}/include/torch/csrc/api/include")
target_compile_options(bic_torch INTERFACE -fopenmp)
target_link_libraries(bic_torch INTERFACE bic_torch_cpu bic_torch_c10 bic_torch_gomp)
# A pip layout keeps cudart and cupti, which libtorch_cpu.so needs, in a folder beside torch; its own
# rpath finds them at run time, the linker wants to be told.
target_link_options(bic_torch INTERFACE "LINKER:-rpath-link,${BIC_TORCH}/../nvidia/cu13/lib")
