-- As report.lua, and asks as a flood does: each request for another path, all of which guard refuses, from one of
-- BENCH_ADDRESSES addresses as a proxy names them, of one of BENCH_HOSTS sites, one after the other. With BENCH_RATE so
-- many requests a second in all, as evenly as wrk's clock of milliseconds lets it; without it as fast as they are
-- answered.
package.path = (os.getenv('BENCH_LUA') or '.') .. '/?.lua;' .. package.path
require('report')

local addresses = tonumber(os.getenv('BENCH_ADDRESSES')) or 1
local hosts = tonumber(os.getenv('BENCH_HOSTS')) or 0
local rate = tonumber(os.getenv('BENCH_RATE'))
-- A server that stands still for longer than this is not asked for the time that is lost.
local LATE_MS = 100
local MONOTONIC = 1

local function paced(per_ms)
  local ffi = require('ffi')
  ffi.cdef([[
    typedef struct { long seconds; long nanoseconds; } bench_time;
    int clock_gettime(int clock, bench_time *time);
  ]])
  local time = ffi.new('bench_time')
  local start, asked = nil, 0
  return function()
    ffi.C.clock_gettime(MONOTONIC, time)
    local now = tonumber(time.seconds) * 1000 + tonumber(time.nanoseconds) / 1e6
    if start == nil or start + asked / per_ms < now - LATE_MS then
      start, asked = now, 0
    end
    asked = asked + 1
    return math.max(0, math.floor(start + asked / per_ms - now))
  end
end

if rate then
  delay = paced(rate / 1000)
end

local made = 0
request = function()
  made = made + 1
  local host = hosts > 0 and string.format('site-%d.example.com', made % hosts) or wrk.headers['Host']
  local address = made % addresses
  return string.format(
    'GET /xmlrpc.php?try=%d HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: 2001:db8::%x:%x\r\n' ..
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%d.0\r\n\r\n',
    made, host, math.floor(address / 65536), address % 65536, made % 300, made % 300)
end
