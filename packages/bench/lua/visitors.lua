-- Reports like report.lua. Each request comes from the next of BENCH_ADDRESSES visitors, whose addresses a proxy reports.
-- The addresses are those for benchmarks (RFC 2544).
package.path = (os.getenv('BENCH_LUA') or '.') .. '/?.lua;' .. package.path
require('report')

local visitors = tonumber(os.getenv('BENCH_ADDRESSES')) or 1

local made = 0
request = function()
  made = (made + 1) % visitors
  local address = string.format('198.18.%d.%d', math.floor(made / 250) % 250, made % 250 + 1)
  return wrk.format('GET', nil, { ['Host'] = wrk.headers['Host'], ['X-Forwarded-For'] = address })
end
