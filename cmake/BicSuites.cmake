# cmake -DNAME=... -DPROGRAM=... -DTIER=... -DFILE=... -P BicSuites.cmake
#
# Writes FILE, which tells CTest of each test suite in the GoogleTest program.
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests
                OUTPUT_VARIABLE listed TIMEOUT 60 COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n[A-Za-z0-9_/]+\\." suites "\n${listed}")
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} lists no test suite; it printed: ${listed}")
endif()
set(script "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n|\\.$" "" suite "${suite}")
  # A test that is skipped among others would go unseen.
  string(APPEND script
    "add_test([=[${NAME}.${suite}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}.*]=])\n"
    "set_tests_properties([=[${NAME}.${suite}]=] PROPERTIES LABELS ${TIER}\n"
    "  FAIL_REGULAR_EXPRESSION [=[\\[  SKIPPED \\]]=])\n")
endforeach()
file(WRITE "${FILE}" "${script}")
