-- As report.lua, and each connection rests 4 to 12 ms between its requests: with 8 connections about 1,000 requests a
-- second, the same rate for everyone, whatever the server could do. wrk's clock starts behind the rest.
package.path = (os.getenv('BENCH_LUA') or '.') .. '/?.lua;' .. package.path
require('report')

delay = function()
  return math.random(4, 12)
end
