# The page's chart library comes from a package (Debian: libjs-chart.js, version 3) and is built into the program.
find_file(LONGTAIL_CHART_JS chart.min.js
  PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist
  NO_DEFAULT_PATH DOC "Chart.js 3, minified")
if(NOT LONGTAIL_CHART_JS)
  message(FATAL_ERROR "The report's page needs Chart.js 3: install libjs-chart.js (scripts/setup does), "
    "or say where it is with -DLONGTAIL_CHART_JS=.../chart.min.js")
endif()

set(embedded_files
  ${CMAKE_CURRENT_LIST_DIR}/data/paper_per_seed.csv
  ${CMAKE_CURRENT_LIST_DIR}/data/field.csv
  ${CMAKE_CURRENT_LIST_DIR}/data/published_curves.csv
  ${CMAKE_CURRENT_LIST_DIR}/page/page.html
  ${CMAKE_CURRENT_LIST_DIR}/page/page.css
  ${CMAKE_CURRENT_LIST_DIR}/page/charts.js
  ${CMAKE_CURRENT_LIST_DIR}/page/classes.js
  ${CMAKE_CURRENT_LIST_DIR}/page/view.js
  ${CMAKE_CURRENT_LIST_DIR}/page/grid.js
  ${CMAKE_CURRENT_LIST_DIR}/page/live.js
  ${CMAKE_CURRENT_LIST_DIR}/page/page.js
  ${LONGTAIL_CHART_JS})
set(embedded_source ${CMAKE_CURRENT_BINARY_DIR}/embedded.cc)
add_custom_command(
  OUTPUT ${embedded_source}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${embedded_source} "-DFILES=${embedded_files}" -P ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  DEPENDS ${embedded_files} ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  VERBATIM)

