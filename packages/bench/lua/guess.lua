-- Reports like report.lua and guesses passwords like a botnet. Each request sends the login form with a new password for
-- one of three accounts, from the next of BENCH_ADDRESSES addresses, which a proxy reports. Each connection sends a
-- request as soon as it has the previous response.
package.path = (os.getenv('BENCH_LUA') or '.') .. '/?.lua;' .. package.path
require('report')

local addresses = tonumber(os.getenv('BENCH_ADDRESSES')) or 1
local accounts = { 'owner', 'admin', 'editor' }
local made = 0

request = function()
  made = made + 1
  local address = made % addresses
  local body = string.format('log=%s&pwd=guess-%d&wp-submit=Log+In&testcookie=1', accounts[made % 3 + 1], made)
  return string.format(
    'POST /wp-login.php HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: 2001:db8:%x:%x::1\r\n' ..
    'Cookie: wordpress_test_cookie=WP%%20Cookie%%20check\r\nContent-Type: application/x-www-form-urlencoded\r\n' ..
    'Content-Length: %d\r\n\r\n%s',
    wrk.headers['Host'], math.floor(address / 65536), address % 65536, #body, body)
end
