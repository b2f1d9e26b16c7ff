-- Reports like report.lua and sends requests like a flood. Each request has a new path, which guard refuses, the next of
-- BENCH_ADDRESSES addresses, which a proxy reports, and the next of BENCH_HOSTS sites. Each connection sends a request as
-- soon as it has the previous response. It continues after the BENCH_SENT requests of an earlier run.
package.path = (os.getenv('BENCH_LUA') or '.') .. '/?.lua;' .. package.path
require('report')

local addresses = tonumber(os.getenv('BENCH_ADDRESSES')) or 1
local hosts = tonumber(os.getenv('BENCH_HOSTS')) or 0

local made = tonumber(os.getenv('BENCH_SENT')) or 0
request = function()
  made = made + 1
  local host = hosts > 0 and string.format('site-%d.example.com', made % hosts) or wrk.headers['Host']
  local address = made % addresses
  return string.format(
    'GET /xmlrpc.php?try=%d HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: 2001:db8::%x:%x\r\n' ..
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0\r\n\r\n',
    made, host, math.floor(address / 65536), address % 65536, made % 300, made % 300)
end
