-- Reports like report.lua. Each connection pauses 4 to 12 ms between its requests: with 8 connections about 1,000
-- requests a second, the same rate for every server. wrk measures a request from the end of the pause.
package.path = (os.getenv('BENCH_LUA') or '.') .. '/?.lua;' .. package.path
require('report')

delay = function()
  return math.random(4, 12)
end
