# The few functions with which every folder states its targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(BIC_CCACHE ccache)
if(BIC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${BIC_CCACHE}")
endif()

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)

# Flags of every target. No contraction: a fused multiply-add is written where it is meant.
add_library(bic_compile_options INTERFACE)
add_library(bic::compile_options ALIAS bic_compile_options)
target_compile_options(bic_compile_options INTERFACE
  $<BUILD_INTERFACE:-Wall> $<BUILD_INTERFACE:-Wextra> -ffp-contract=off
  $<BUILD_INTERFACE:-Wno-missing-field-initializers>)
# False alarms of gcc 12, in its own std::string.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(bic_compile_options INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)
endif()
target_include_directories(bic_compile_options INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include/bi_conform>")
target_compile_features(bic_compile_options INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)
if(BIC_WERROR)
  target_compile_options(bic_compile_options INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()
if(BIC_SANITIZE)
  target_compile_options(bic_compile_options INTERFACE "-fsanitize=${BIC_SANITIZE}"
                                                       -fno-sanitize-recover=undefined
                                                       -fno-omit-frame-pointer)
  target_link_options(bic_compile_options INTERFACE "-fsanitize=${BIC_SANITIZE}")
endif()

# bic_add_library(<name> SOURCES <file>... [LINK <target>...])
#
# A static library bic_<name> with the alias bic::<name>.
function(bic_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "bic_add_library(${name}): needs SOURCES; got '${ARGN}'")
  endif()
  add_library(bic_${name} STATIC ${arg_SOURCES})
  add_library(bic::${name} ALIAS bic_${name})
  target_link_libraries(bic_${name} PUBLIC bic::compile_options ${arg_LINK})
endfunction()

if(BIC_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# bic_add_test(<name> SOURCES <file>... [LINK <target>...] TIER <cpu|torch|gpu|slow>)
#
# One GoogleTest executable, each of whose tests is known to CTest under the label TIER.
function(bic_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIER" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES OR NOT arg_TIER)
    message(FATAL_ERROR "bic_add_test(${name}): needs SOURCES and TIER; got '${ARGN}'")
  endif()
  if(NOT BIC_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bic::compile_options ${arg_LINK} GTest::gmock
                                        GTest::gtest_main)
  # What is tested is in the libraries; the tests themselves compile a third faster so.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  gtest_discover_tests(${name} PROPERTIES LABELS "${arg_TIER}" DISCOVERY_TIMEOUT 60)
endfunction()

# bic_add_bench(<name> SOURCES <file>... [LINK <target>...])
#
# One Google Benchmark executable; built with BIC_BENCH, never run by CTest.
function(bic_add_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "bic_add_bench(${name}): needs SOURCES; got '${ARGN}'")
  endif()
  if(NOT BIC_BENCH)
    return()
  endif()
  find_package(benchmark REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bic::compile_options ${arg_LINK}
                                        benchmark::benchmark_main)
endfunction()
